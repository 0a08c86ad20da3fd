#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cpu/spmm/plan.h"
#include "cpu/spmm/registry.h"
#include "cpu/spmm/row_kernels.h"

namespace csrkit::cpu {
namespace {

/// One row of `length` entries of value 1 between two rows of one entry.
CsrMatrix long_row(Index length) {
  Buffer<Offset> row_offsets(4);
  row_offsets[0] = 0;
  row_offsets[1] = 1;
  row_offsets[2] = 1 + length;
  row_offsets[3] = 2 + length;
  Buffer<Index> col_indices(row_offsets[3]);
  col_indices[0] = 0;
  for (Index j = 0; j < length; ++j) col_indices[1 + j] = j;
  col_indices[1 + length] = length - 1;
  return CsrMatrix(3, length, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, 0));
}

std::unique_ptr<SpmmPlan> plan_of(const char* kernel, const SpmmProblem& problem,
                                  const PlanOptions& options = {}) {
  return find_kernel(spmm_kernels(), kernel).make_plan(problem, options);
}

TEST(MemoryBudget, AddsUpAndRefusesWithTheNumbers) {
  MemoryBudget budget(100);
  budget.reserve(60, "the first thing");
  budget.release(20);
  budget.reserve(60, "the second thing");
  EXPECT_EQ(budget.peak_bytes(), 100u);
  try {
    budget.reserve(1, "the third thing");
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_STREQ(error.what(),
                 "the third thing needs 1 bytes, 101 with what the plan holds already; the limit "
                 "is 100 bytes: raise --memory-limit or use fewer --dense-cols");
  }
}

TEST(NnzBalanced, CutsLongRowsAndAddsThemUpExactly) {
  const Index length = 5000;  // many stretches
  SpmmProblem problem = default_spmm_problem(long_row(length), 2);
  DenseMatrix b(length, 2, ValueKind::f32), c(3, 2, ValueKind::f32);
  for (Index i = 0; i < length; ++i) {
    b.view().set(i, 0, i);
    b.view().set(i, 1, 1);
  }
  const auto plan = plan_of("nnz_balanced", problem);
  EXPECT_NE(plan->choice().find("1 cut rows"), std::string::npos) << plan->choice();
  plan->bind(b.view(), c.view());
  plan->multiply();
  const ConstDenseView found = std::as_const(c).view();
  EXPECT_EQ(found.at(0, 0), 0);
  EXPECT_EQ(found.at(1, 0), 5000.0 * 4999 / 2);
  EXPECT_EQ(found.at(1, 1), 5000);
  EXPECT_EQ(found.at(2, 0), 4999);
}

TEST(NnzBalanced, ForecastsTheSumsOfCutRows) {
  const SpmmProblem problem = default_spmm_problem(long_row(5000), 1 << 20);
  PlanOptions options;
  options.memory_limit_bytes = 1 << 20;
  EXPECT_THROW(plan_of("nnz_balanced", problem, options), MemoryError);
}

TEST(Auto, SaysWhatItChoseAndWhy) {
  const auto plan = plan_of("auto", default_spmm_problem(long_row(9), 4));
  EXPECT_EQ(plan->choice().rfind("nnz_balanced (because ", 0), 0u) << plan->choice();
}

TEST(Isa, CanBeChosenByEnvironment) {
  unsetenv("CSRKIT_CPU_ISA");
  EXPECT_TRUE(is_supported(chosen_isa()));
  setenv("CSRKIT_CPU_ISA", "portable", 1);
  EXPECT_EQ(chosen_isa(), Isa::portable);
  setenv("CSRKIT_CPU_ISA", "abacus", 1);
  EXPECT_THROW(chosen_isa(), UsageError);
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    setenv("CSRKIT_CPU_ISA", name_of(isa), 1);
    if (is_supported(isa)) {
      EXPECT_EQ(chosen_isa(), isa);
    } else {
      EXPECT_THROW(chosen_isa(), UsageError);
    }
  }
  unsetenv("CSRKIT_CPU_ISA");
}

TEST(Plan, RefusesNegativeThreadsAndChunks) {
  const SpmmProblem problem = default_spmm_problem(long_row(9), 4);
  PlanOptions options;
  options.where.threads = -1;
  EXPECT_THROW(plan_of("auto", problem, options), UsageError);
  options.where.threads = 0;
  options.where.chunk = -1;
  EXPECT_THROW(plan_of("row_parallel", problem, options), UsageError);
}

TEST(ScopedSchedule, RestoresWhatWasThere) {
  omp_set_schedule(omp_sched_guided, 5);
  {
    const ScopedSchedule scoped(Team{1, Schedule::dynamic, 3});
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    EXPECT_EQ(kind, omp_sched_dynamic);
    EXPECT_EQ(chunk, 3);
  }
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(kind, omp_sched_guided);
  EXPECT_EQ(chunk, 5);
}

}  // namespace
}  // namespace csrkit::cpu
