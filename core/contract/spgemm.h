// The contract of sparse times sparse: C = alpha * A * op(B), all three in CSR; plan first, then
// multiply. Every implementation is a row in a KernelTable<Spgemm>:
//
//   auto plan = kernel.make_plan(problem, options);  // checks, analysis, forecast
//   MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
//   plan->multiply(sink);                            // row blocks of C, top to bottom
//   CsrMatrix c = sink.finish();
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/kernel_table.h"
#include "core/contract/semiring.h"
#include "core/matrix/csr_sink.h"

namespace csrkit {

/// What is to be multiplied. C has the symbolic structure: an entry for every (i, j) with some k
/// for which a_ik and op(B)_kj are stored, whatever their values; columns sorted and unique. `mask`
/// and `drop_below` then leave entries out.
struct SpgemmProblem {
  CsrMatrix a;
  CsrMatrix b;               // may share A's arrays (A * A): counted, copied and uploaded once then
  bool transpose_b = false;  // op(B) = B^T; with b = a this is A * A^T
  /// Of C's shape: only its positions are kept. Its values are not looked at.
  std::optional<CsrMatrix> mask;
  /// Entries with |alpha c| < drop_below are left out; a NaN stays. 0: none are left out.
  double drop_below = 0;
  double alpha = 1;
  ValueKind c = ValueKind::f32;
  ValueKind accumulate = ValueKind::f32;
  Semiring semiring = Semiring::plus_times;
  /// False: columns may come in any order within a row of C, the same in every run. Such blocks are
  /// no matrix by CsrMatrix's rules: with_sorted_rows makes one, the same bits as if it were true.
  bool sorts_rows = true;

  Index output_rows() const { return a.rows(); }
  Index output_cols() const { return transpose_b ? b.rows() : b.cols(); }
  /// Whether A and B are the same arrays.
  bool b_is_a() const {
    return a.row_offsets() == b.row_offsets() && a.col_indices() == b.col_indices() &&
           a.values() == b.values() && a.rows() == b.rows();
  }
};

/// The usual problem: C and accumulation in f64 if A or B is f64, else in f32.
SpgemmProblem default_spgemm_problem(const CsrMatrix& a, const CsrMatrix& b,
                                     bool transpose_b = false);

/// Throws UsageError unless the shapes fit and the kinds are legal: A and B of one kind, or one or
/// both of kind none; accumulation in f64 for f64, f32 otherwise (either, if both are none); C of
/// the accumulation's kind. Semirings other than plus-times: no 16-bit kinds, alpha 1.
void require_legal(const SpgemmProblem& problem);

/// Known when the plan is made, before anything large is allocated.
struct SpgemmForecast {
  double products = 0;          // multiplications: sum over entries a_ik of row k's length in op(B)
  Offset output_nnz_bound = 0;  // never below nnz(C); exact after the first multiply
  std::uint64_t output_bytes_bound = 0;  // of C's three arrays, by the line above
  std::uint64_t whole_bytes = 0;         // peak if C is made in one block: never below the real one
  /// Peak under the limit. Row blocks are used if it is below whole_bytes.
  std::uint64_t peak_bytes = 0;
  /// Peak with what is kept for new values; 0 unless they are expected.
  std::uint64_t reuse_bytes = 0;
};

/// Seconds of the last multiply (upload and analysis: of the plan) by the plan's own clock; 0 for a
/// phase that does not exist. Their sum is the time from operands in the caller's memory to the
/// sink's last block.
struct SpgemmPhases {
  double upload_seconds = 0;     // A, B and mask to the device
  double analysis_seconds = 0;   // transposes, products, bins
  double symbolic_seconds = 0;   // counting C's entries
  double numeric_seconds = 0;    // columns and values, allocation of C included
  double sort_seconds = 0;       // from an unsorted result to CSR; kernels that make CSR have none
  double output_seconds = 0;     // downloads and the sink
  double structure_seconds = 0;  // keeping what new values want: once per structure, not in the sum
  Index row_blocks = 0;          // blocks in which C was made
  Offset output_nnz = 0;
  /// Most memory held at once where the plan works: A, B (once if they are the same arrays), mask,
  /// derived copies, workspace and the part of C that was there.
  std::uint64_t peak_bytes = 0;
  /// The same while C's structure is kept and new values are put in; 0 before that.
  std::uint64_t reuse_peak_bytes = 0;

  NamedSeconds named() const {
    return {{"upload", upload_seconds},     {"analysis", analysis_seconds},
            {"symbolic", symbolic_seconds}, {"numeric", numeric_seconds},
            {"sort", sort_seconds},         {"output", output_seconds}};
  }
};

/// A prepared product. One thread at a time.
class SpgemmPlan : public Plan {
 public:
  /// Makes C and hands it to the sink in blocks of rows: one block if everything fits
  /// PlanOptions::memory_limit_bytes (which bounds SpgemmPhases::peak_bytes), as many as it takes
  /// otherwise, with the same bits. Throws MemoryError, with both numbers, if not even one row fits
  /// or if the sink keeps its blocks (CsrSink::keeps_blocks) and all of C does not.
  /// May be called any number of times.
  virtual void multiply(CsrSink& sink) = 0;

  /// Says that new values will come, again and again: the plan may then spend time and memory,
  /// once, on what makes them faster, and its forecast says how much. Values made so can differ
  /// from those of a first product in their last bits, never from run to run. Without kReuse, or
  /// where memory does not allow it, nothing changes.
  virtual void expect_new_values() {}

  /// New values for the same structure: the next multiply may skip the symbolic phase (kReuse).
  /// `a` and `b` must have the pattern and kinds of the problem; b is ignored if b_is_a().
  virtual void set_values(const CsrMatrix& a, const CsrMatrix& b) = 0;

  /// One product by the plan's own clock, from CSR to CSR where the plan works: analysis of row
  /// lengths, symbolic and numeric phase, sorting and all allocations included; uploads, transposes
  /// and output excluded. C is dropped; its memory may be kept for the next call.
  virtual double time_multiply() = 0;

  /// The numeric phase alone, C's structure known from before and C allocated: what a repetition
  /// with new values costs. Throws UsageError without kReuse.
  virtual double time_numeric() = 0;

  virtual SpgemmForecast forecast() const = 0;
  virtual SpgemmPhases phases() const = 0;
};

inline constexpr Capabilities kSpgemmKinds =
    kImplicitOnes | kF32 | kF64 | kF16 | kBf16 | kIeeeSpecials;
inline constexpr Capabilities kSpgemmEverything = kSpgemmKinds | kTranspose | kAlphaBeta |
                                                  kSemirings | kDeterministic | kMask | kDropBelow |
                                                  kReuse | kRowBlocks;

/// The capabilities that the problem needs; kTranspose is about B, kAlphaBeta about alpha.
Capabilities needed_for(const SpgemmProblem& problem);

/// The operation, for KernelTable.
struct Spgemm {
  using Problem = SpgemmProblem;
  using Plan = SpgemmPlan;
  static constexpr const char* kName = "spgemm";
  static constexpr Capabilities kAll = kSpgemmEverything;
};
using SpgemmKernel = Kernel<Spgemm>;

/// Throws UsageError unless `a` and `b` may replace the problem's values (set_values): same shapes
/// and kinds, same structure. The structure is compared by its arrays' addresses first and entry by
/// entry only where they differ.
void require_same_structure(const SpgemmProblem& problem, const CsrMatrix& a, const CsrMatrix& b);

/// Bytes of a CSR matrix of that shape, as CsrMatrix::size_bytes counts them.
std::uint64_t csr_bytes(Index rows, Offset nnz, ValueKind kind);

/// Bytes of the operands: A, B unless it is A, and the mask.
std::uint64_t operand_bytes(const SpgemmProblem& problem);

}  // namespace csrkit
