// --threads is obeyed: a plan for one thread starts no other, in any phase.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/contract/spgemm.h"
#include "core/judge/compare.h"
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
    if (kernel.role == Role::vendor) continue;  // vendors have threads of their own
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

/// Small squares of each kind: nothing, one piece, a few pieces, one row that is heavier than all.
std::vector<std::pair<std::string, CsrMatrix>> small_squares() {
  std::vector<std::pair<std::string, CsrMatrix>> all;
  constexpr Index kRows = 5000;
  std::vector<std::vector<Index>> rows(kRows);
  all.emplace_back("no entries", pattern_of(kRows, rows));
  for (Index i = 0; i < kRows; ++i) rows[static_cast<std::size_t>(i)] = {i};
  all.emplace_back("diagonal", pattern_of(kRows, rows));
  for (std::size_t i = 0; i < kRows; ++i) {
    if (i % 3 == 0 || i > 4000) rows[i].clear();
  }
  rows[17].resize(kRows);
  std::iota(rows[17].begin(), rows[17].end(), 0);
  all.emplace_back("a full row between empty ones", pattern_of(kRows, rows));
  all.emplace_back("one piece", random_pattern(700, 700, 2, 1));
  all.emplace_back("random", random_pattern(kRows, kRows, 3, 2));
  all.emplace_back("more", random_pattern(kRows, kRows, 9, 3));
  return all;
}

TEST(SpgemmThreads, AnyNumberMakesTheSameSmallProducts) {
  for (const auto& [name, pattern] : small_squares()) {
    const CsrMatrix a = convert_values(pattern, ValueKind::f64);
    for (const bool sorts_rows : {true, false}) {
      SpgemmProblem problem = default_spgemm_problem(a, a);
      problem.sorts_rows = sorts_rows;
      for (int threads = 1; threads <= 16; ++threads) {
        SCOPED_TRACE(name + (sorts_rows ? ", " : ", in any order, ") + std::to_string(threads));
        PlanOptions options;
        options.where.threads = threads;
        const auto plan = find_kernel(spgemm_kernels(), "auto").make_plan(problem, options);
        const std::uint64_t forecast = plan->forecast().peak_bytes;
        plan->time_multiply();  // leaves memory to the next
        plan->time_multiply();
        for (int run = 0; run < 2; ++run) {
          MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
          plan->multiply(sink);
          const CheckResult check = check_spgemm(problem, sink.finish());
          EXPECT_TRUE(check.passed) << check.failure;
        }
        EXPECT_LE(plan->phases().peak_bytes, forecast);
      }
    }
  }
}

}  // namespace
}  // namespace csrkit::cpu
