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

/// The same for loops that load little at a time: gathers, as in products with one column, and rows
/// of B that fill no cache line. On AMD's processors it is AVX2 where there is AVX-512, which was
/// slower in these loops on a Zen 5 (docs/lab/2026-11-28-cpu-short-rows.md).
Isa chosen_isa_for_short_loads();

}  // namespace csrkit::cpu
