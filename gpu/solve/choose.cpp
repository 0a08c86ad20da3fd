// The rule of auto: which solver for which system.
#include "gpu/solve/solver.h"

namespace csrkit::gpu {

namespace {

/// The largest A in bytes that stays in shared memory, or in L2 beside the vectors, on H100 and
/// H200.
constexpr std::uint64_t kCachedBytes = 28 << 20;
/// The same for a dense A: on an H200 the times of persistent and one_pass cross at 49 MB.
constexpr std::uint64_t kDenseCachedBytes = 48 << 20;
/// For grids, their times on an H200 cross between 262,144 and 518,400 rows.
constexpr Index kPersistentRows = 400000;

}  // namespace

std::unique_ptr<Solver> make_auto(const SolveProblem& problem, const PlanOptions& options) {
  const bool has_diagonal_m = problem.preconditioner.kind == PreconditionerKind::none ||
                              problem.preconditioner.kind == PreconditionerKind::jacobi;
  const bool is_cached = problem.dense ? problem.dense->size_bytes() <= kDenseCachedBytes
                                       : problem.a.size_bytes() <= kCachedBytes;
  const bool is_small = problem.rows() <= kPersistentRows && is_cached;
  if (problem.right_hand_sides > 1 || !has_diagonal_m) {
    return make_solver(problem, options, kEverySolve, Rung::fused, "fused",
                       "the others have one right-hand side and a diagonal preconditioner");
  }
  // persistent has a product of its own, so it cannot use one that was asked for by name.
  if (is_small && options.variant.empty()) {
    return make_solver(problem, options, kEverySolve, Rung::persistent, "persistent",
                       "the system stays in shared memory and L2");
  }
  return make_solver(problem, options, kEverySolve, Rung::one_pass, "one_pass",
                     "it is too large for persistent, or has a product of its own");
}

}  // namespace csrkit::gpu
