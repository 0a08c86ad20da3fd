// The contract of sparse times dense: C = alpha * op(A) * B + beta * C, plan first, then multiply.
//
// Every implementation, on CPU and GPU, ours and a vendor's, is a row in a table of SpmmKernel and
// is used in the same way, so that tools, tests and benchmarks know nothing but this header:
//
//   auto plan = kernel.make_plan(problem, options);   // analysis, once per matrix
//   plan->bind(b.view(), c.view());                   // operands, host or device memory
//   plan->multiply(alpha, beta);                      // any number of times
//   plan->fetch_output();                             // C is where the caller wants it
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/csr_matrix.h"
#include "core/dense_matrix.h"
#include "core/progress.h"

namespace csrkit {

/// The (add, multiply) pair that replaces (+, *). `or_and` computes on truth values: non-zero is
/// true, the result is 0 or 1. The empty sum is 0, +inf, -inf and 0 respectively.
enum class Semiring : std::uint8_t { plus_times, min_plus, max_times, or_and };
const char* name_of(Semiring semiring);
Semiring parse_semiring(const std::string& name);

/// What a kernel is for: the truth, a step of the story, what users run, a rival; or, in benchmarks
/// only, a mark: work like that of a multiplication, which leaves C as it is.
enum class Role : std::uint8_t { reference, ladder, production, vendor, mark };
const char* name_of(Role role);

/// What is to be multiplied. Kinds are known only at run time; they become types once, in
/// make_plan.
struct SpmmProblem {
  CsrMatrix a;               // shared, not copied
  Index dense_cols = 0;      // columns of B and C, at least 1
  bool transpose_a = false;  // op(A) = A^T
  ValueKind b = ValueKind::f32;
  ValueKind c = ValueKind::f32;
  ValueKind accumulate = ValueKind::f32;
  Semiring semiring = Semiring::plus_times;

  Index output_rows() const { return transpose_a ? a.cols() : a.rows(); }  // of C
  Index input_rows() const { return transpose_a ? a.rows() : a.cols(); }   // of B
};

/// The usual problem for a matrix: B of the matrix's own kind (f32 for kind none), accumulation in
/// f32 (f64 for f64), C of the accumulation's kind.
SpmmProblem default_spmm_problem(const CsrMatrix& a, Index dense_cols);

/// Throws UsageError unless (A, B, C, accumulate) is a row of the table of legal kinds in
/// docs/architecture.md and the sizes can exist.
void require_legal(const SpmmProblem& problem);

/// How OpenMP loops hand out rows. `automatic` leaves the choice to the kernel.
enum class Schedule : std::uint8_t { automatic, static_, dynamic, guided };
const char* name_of(Schedule schedule);
Schedule parse_schedule(const std::string& name);

/// Where and how to run.
struct Execution {
  int threads = 0;                          // CPU: 0 = what OpenMP was told
  Schedule schedule = Schedule::automatic;  // CPU: only for kernels with kSchedule
  int chunk = 0;                            // CPU: rows per chunk, 0 = the schedule's default
  int device = 0;                           // GPU: ordinal among the visible devices
  void* stream = nullptr;  // GPU: cudaStream_t to run in; null = one of the plan's own
};

/// What a plan derived from A, as bytes that only the same kernel of the same build understands.
using SavedAnalysis = std::vector<unsigned char>;

struct PlanOptions {
  bool deterministic = true;             // same bits from run to run and for any thread count
  std::uint64_t memory_limit_bytes = 0;  // of the memory the plan works in; 0 = what is free there
  Execution where;
  /// Taken instead of analysing A, if not null: from save_analysis of a plan of the same kernel, for
  /// an equal problem on an equal device. Only the size can be checked here (UsageError).
  const SavedAnalysis* saved = nullptr;
  /// A setting of the kernel, one that its `variants` names or of that form; "" = the kernel's choice.
  std::string variant;
};

/// Seconds per phase, as measured by the plan's own clock; 0 where a phase does not exist.
struct Phases {
  double upload_a_seconds = 0;
  double analysis_seconds = 0;  // everything derived from A: bins, pieces, transposes
  double upload_b_seconds = 0;
  double download_seconds = 0;
  std::uint64_t peak_bytes =
      0;  // most memory the plan held at once, operands of the caller excluded
};

/// A prepared multiplication. Owns everything derived from A. One thread at a time.
class SpmmPlan {
 public:
  virtual ~SpmmPlan() = default;

  /// Borrows B (input_rows x dense_cols) and C (output_rows x dense_cols) until the next bind.
  /// Views say where the memory is; a GPU plan uploads a B that is on the host, here and now. May
  /// be called again with other operands of the same shapes. Throws UsageError on a wrong shape or
  /// kind.
  virtual void bind(ConstDenseView b, DenseView c) = 0;

  /// C = alpha * op(A) * B + beta * C. May return before the work is done. C is read only if beta
  /// is not 0, so it may hold anything, NaN included. Nothing outside C's rows and columns is
  /// written. For semirings other than plus_times alpha must be 1 and beta 0.
  virtual void multiply(double alpha = 1, double beta = 0) = 0;

  /// Returns when everything asked for is done; throws what went wrong meanwhile.
  virtual void wait() {}

  /// One multiplication, timed by the plan's own clock (CUDA events on a GPU). Waits.
  virtual double time_multiply(double alpha = 1, double beta = 0) = 0;

  /// Makes the next multiplication start with none of A, B, C in the last-level cache.
  virtual void evict_caches() = 0;

  /// Waits, and brings C to the bound memory if the plan computes elsewhere.
  virtual void fetch_output() { wait(); }

  virtual Phases phases() const = 0;

  /// What was decided inside, for reports: "row_parallel (because ...)", a vendor's algorithm; or
  /// "".
  virtual std::string choice() const { return {}; }

  /// The row of the table that multiplies, where a chooser chose one; "" if it is the one asked for.
  virtual std::string chosen_kernel() const { return {}; }

  /// For PlanOptions::saved; empty if the kernel keeps nothing that is worth it. Waits.
  virtual SavedAnalysis save_analysis() { return {}; }
};

/// What a kernel can do. Outside of it, make_plan throws UsageError.
using Capabilities = std::uint32_t;
inline constexpr Capabilities kImplicitOnes = 1u << 0;  // A of kind none
inline constexpr Capabilities kF32 = 1u << 1;
inline constexpr Capabilities kF64 = 1u << 2;
inline constexpr Capabilities kF16 = 1u << 3;
inline constexpr Capabilities kBf16 = 1u << 4;
inline constexpr Capabilities kTranspose = 1u << 5;
inline constexpr Capabilities kAlphaBeta = 1u << 6;         // anything but alpha 1, beta 0
inline constexpr Capabilities kLeadingDimension = 1u << 7;  // leading_dim above cols
inline constexpr Capabilities kSemirings = 1u << 8;         // all of them
inline constexpr Capabilities kSchedule = 1u << 9;          // obeys Execution::schedule and chunk
inline constexpr Capabilities kDeterministic = 1u << 10;  // same bits from run to run, any threads
// What a rival's library may lack, and ours never do:
inline constexpr Capabilities kIeeeSpecials = 1u
                                              << 11;  // subnormals, infinities and NaN as defined
inline constexpr Capabilities kNarrowOutput = 1u << 12;  // C of 16 bits, rounded once
inline constexpr Capabilities kAnyAlignment = 1u << 13;  // device operands off 16-byte boundaries
inline constexpr Capabilities kAllKinds =
    kImplicitOnes | kF32 | kF64 | kF16 | kBf16 | kIeeeSpecials | kNarrowOutput;
inline constexpr Capabilities kEverything = kAllKinds | kTranspose | kAlphaBeta |
                                            kLeadingDimension | kSemirings | kDeterministic |
                                            kAnyAlignment;

/// One row of a kernel table.
struct SpmmKernel {
  const char* name;  // the file's stem: what one types after --kernel
  Role role;
  Capabilities capabilities;
  const char* summary;
  std::unique_ptr<SpmmPlan> (*make)(const SpmmProblem&, const PlanOptions&);
  /// The settings worth measuring for a problem, for --tune; null if there is nothing to set. Every
  /// setting gives the same bits.
  std::vector<std::string> (*variants)(const SpmmProblem&) = nullptr;

  bool can(Capabilities wanted) const { return (capabilities & wanted) == wanted; }

  /// Checks the problem (require_legal), the capabilities and then makes the plan.
  /// Throws UsageError, MemoryError (with forecast and limit), DeviceError.
  std::unique_ptr<SpmmPlan> make_plan(const SpmmProblem& problem, const PlanOptions& options) const;
};

/// What the problem and options need, as a set of capabilities.
Capabilities needed_for(const SpmmProblem& problem, const PlanOptions& options);

/// Whether the first element and, unless rows touch each other, every row begin at a multiple of 16
/// bytes.
bool is_vector_aligned(const ConstDenseView& view);

/// Throws UsageError for a multiply(alpha, beta) or bind(b, c) that the kernel or problem forbids;
/// plans call these first.
void require_bindable(const SpmmProblem& problem, Capabilities capabilities,
                      const ConstDenseView& b, const DenseView& c);
void require_multipliable(const SpmmProblem& problem, Capabilities capabilities, double alpha,
                          double beta);

/// The row called `name`; throws UsageError that lists the names there are.
const SpmmKernel& find_kernel(const std::vector<SpmmKernel>& table, const std::string& name);

}  // namespace csrkit
