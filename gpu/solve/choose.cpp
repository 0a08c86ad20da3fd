// The rule of auto: which solver for which system.
#include "gpu/solve/solver.h"

namespace csrkit::gpu {

namespace {

/// Most bytes of A that stay in shared memory, or in L2 beside the vectors, on the GPUs of today.
constexpr std::uint64_t kCachedBytes = 28 << 20;
/// Of a dense A: on an H200 the lines of persistent and one_pass cross at 49 MB.
constexpr std::uint64_t kDenseCachedBytes = 48 << 20;
/// On an H200 the lines of the two cross between 262,144 rows of a grid and 518,400.
constexpr Index kPersistentRows = 400000;

}  // namespace

std::unique_ptr<Solver> make_auto(const SolveProblem& problem, const PlanOptions& options) {
  const bool has_diagonal_m = problem.preconditioner.kind == PreconditionerKind::none ||
                              problem.preconditioner.kind == PreconditionerKind::jacobi;
  const bool is_cached = problem.dense ? problem.dense->size_bytes() <= kDenseCachedBytes
                                       : problem.a.size_bytes() <= kCachedBytes;
  const bool is_small = problem.rows() <= kPersistentRows && is_cached;
  if (problem.right_hand_sides > 1 || !has_diagonal_m) {
    return make_solver(problem, options, kDeviceSolve, Rung::fused, "fused",
                       "the others have one right-hand side and a diagonal preconditioner");
  }
  // A product that is asked for by name is one that persistent, which has its own, cannot use.
  if (is_small && options.variant.empty()) {
    return make_solver(problem, options, kDeviceSolve, Rung::persistent, "persistent",
                       "the system stays in shared memory and L2");
  }
  return make_solver(problem, options, kDeviceSolve, Rung::one_pass, "one_pass",
                     "it is too large for persistent, or has a product of its own");
}

}  // namespace csrkit::gpu
