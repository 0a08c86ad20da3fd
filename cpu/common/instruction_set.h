// Which vector instructions the inner loops of the CPU kernels may use.
#pragma once

#include <cstdint>

namespace csrkit::cpu {

/// Instruction sets that the inner loops are compiled for.
enum class Isa : std::uint8_t { portable, avx2, avx512 };
const char* name_of(Isa isa);

/// Whether this machine has it.
bool is_supported(Isa isa);

/// The widest set of this machine, or the one that the environment variable CSRKIT_CPU_ISA names
/// (portable, avx2 or avx512; for tests and comparisons). UsageError if this machine lacks it.
Isa chosen_isa();

/// The same for loops that gather most of what they read, as products with one column do: AVX2
/// where AVX-512 gathers are slow. They are on AMD's processors, up to Zen 5 at least: a gather
/// takes longer than a load for each of its lanes.
Isa chosen_isa_for_gathers();

}  // namespace csrkit::cpu
