// --threads is obeyed: a plan for one thread starts no other, in any phase.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "core/contract/spgemm.h"
#include "core/matrix/csr_sink.h"
#include "cpu/common/kernels.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit::cpu {
namespace {

std::set<std::string> threads_of_process() {
  std::set<std::string> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ids.insert(task.path().filename());
  }
  return ids;
}

/// OpenMP keeps the threads it started for a thread as long as that thread lives: in a new one,
/// which is told that it may have four, every thread counts that `work` started. Threads of other
/// tests may end meanwhile.
std::ptrdiff_t threads_started_by(const std::function<void()>& work) {
  std::ptrdiff_t started = 0;
  std::thread([&] {
    omp_set_num_threads(4);
    const std::set<std::string> before = threads_of_process();
    work();
    for (const std::string& id : threads_of_process()) started += before.count(id) == 0;
  }).join();
  return started;
}

CsrMatrix random_square(Index rows, Index per_row) {
  return convert_values(random_pattern(rows, rows, per_row, 1), ValueKind::f32);
}

void use_plan(const SpgemmKernel& kernel, const SpgemmProblem& problem, int threads) {
  PlanOptions options;
  options.where.threads = threads;
  const auto plan = kernel.make_plan(problem, options);
  plan->time_multiply();
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  plan->multiply(sink);
  if (kernel.can(kReuse)) {
    plan->set_values(problem.a, problem.b);
    plan->time_numeric();
  }
}

TEST(SpgemmThreads, OneMeansThatNoOtherIsStarted) {
  const CsrMatrix a = random_square(1500, 8);
  for (const SpgemmKernel& kernel : spgemm_kernels()) {
    if (kernel.role == Role::vendor) continue;  // peers have threads of their own
    for (const bool transpose_b : {false, true}) {
      const SpgemmProblem problem = default_spgemm_problem(a, a, transpose_b);
      EXPECT_EQ(threads_started_by([&] { use_plan(kernel, problem, 1); }), 0) << kernel.name;
    }
  }
  // The count is one that can fail.
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  EXPECT_EQ(
      threads_started_by([&] { use_plan(find_kernel(spgemm_kernels(), "auto"), problem, 3); }), 2);
}

TEST(SpgemmThreads, ATinyProductStartsNone) {
  const CsrMatrix a = random_square(4, 2);
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  EXPECT_EQ(threads_started_by([&] {
              PlanOptions options;
              options.where.threads = 4;
              const auto plan = find_kernel(spgemm_kernels(), "auto").make_plan(problem, options);
              double seconds = 1;
              for (int run = 0; run < 10; ++run) seconds = std::min(seconds, plan->time_multiply());
              EXPECT_LT(seconds, 1e-3);
            }),
            0);
}

}  // namespace
}  // namespace csrkit::cpu
