// What a kernel can do, as a set of bits; each bit has its names in one table.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/value_kind.h"

namespace csrkit {

/// A set of capabilities. Outside of a kernel's set, making a plan throws UsageError.
using Capabilities = std::uint32_t;

inline constexpr Capabilities kImplicitOnes = 1u << 0;  // a sparse operand of kind none
inline constexpr Capabilities kF32 = 1u << 1;
inline constexpr Capabilities kF64 = 1u << 2;
inline constexpr Capabilities kF16 = 1u << 3;
inline constexpr Capabilities kBf16 = 1u << 4;
inline constexpr Capabilities kTranspose = 1u << 5;         // op(A) = A^T; in SpGEMM op(B) = B^T
inline constexpr Capabilities kAlphaBeta = 1u << 6;         // anything but alpha 1, beta 0
inline constexpr Capabilities kLeadingDimension = 1u << 7;  // leading_dim above cols
inline constexpr Capabilities kSemirings = 1u << 8;         // all of them
inline constexpr Capabilities kSchedule = 1u << 9;          // obeys Execution::schedule and chunk
inline constexpr Capabilities kDeterministic = 1u << 10;    // same bits in every run, any threads
inline constexpr Capabilities kIeeeSpecials = 1u << 11;  // subnormals, infinities, NaN as defined
inline constexpr Capabilities kNarrowOutput = 1u << 12;  // C of 16 bits, rounded once
inline constexpr Capabilities kAnyAlignment = 1u << 13;  // device operands off 16-byte boundaries
inline constexpr Capabilities kDeviceMatrix = 1u << 14;  // A in device memory, used in place
inline constexpr Capabilities kGraphCapture = 1u << 15;  // a CUDA graph may capture multiply()
inline constexpr Capabilities kMask = 1u << 16;
inline constexpr Capabilities kDropBelow = 1u << 17;
inline constexpr Capabilities kReuse = 1u << 18;           // new values for a known structure
inline constexpr Capabilities kRowBlocks = 1u << 19;       // obeys the limit by making C in blocks
inline constexpr Capabilities kSavedAnalysis = 1u << 20;   // PlanOptions::saved, save_analysis
inline constexpr Capabilities kManyColumns = 1u << 21;     // dense operands of more than one column
inline constexpr Capabilities kWideOperands = 1u << 22;    // an f32 matrix, dense operands of f64
inline constexpr Capabilities kNarrowOperands = 1u << 23;  // an f32 matrix, dense ones of 16 bits
inline constexpr Capabilities kTimesValues = 1u << 24;     // SddmmProblem::multiplies_by_a
inline constexpr Capabilities kOutOfCore = 1u << 25;       // C in parts has the bits of the whole
inline constexpr Capabilities kUnsortedRows = 1u << 26;    // gains if C's rows may be unsorted
inline constexpr Capabilities kRefinement = 1u << 27;      // Precision::refined
inline constexpr Capabilities kPreconditioners = 1u << 28;  // block_jacobi and chebyshev
inline constexpr Capabilities kDenseSystems = 1u << 29;

inline constexpr Capabilities kAllKinds =
    kImplicitOnes | kF32 | kF64 | kF16 | kBf16 | kIeeeSpecials | kNarrowOutput;

/// With operands in device memory: A is used in place, and a CUDA graph may capture multiply().
inline constexpr Capabilities kInDeviceMemory = kDeviceMatrix | kGraphCapture;

/// The capability that values of this kind need.
Capabilities capability_of(ValueKind kind);

/// "f32 f64 transpose ..." for lists; for a set that contains `all`, "everything" and the names of
/// the other bits.
std::string names_of(Capabilities set, Capabilities all);

/// Throws UsageError that says in words which of `needs` the kernel called `name` lacks.
void require_capabilities(Capabilities has, Capabilities needs, const std::string& name);

}  // namespace csrkit
