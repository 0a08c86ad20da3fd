#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"
#include "tests/unit/cpu/spmm/matrices.h"

namespace csrkit::cpu {
namespace {

TEST(ChunkedRows, CutsLongRowsAndAddsThemUpExactly) {
  const Index length = 20000;  // several stretches
  SpmmProblem problem = default_spmm_problem(long_row(length), 2);
  DenseMatrix b(length, 2, ValueKind::f32), c(3, 2, ValueKind::f32);
  for (Index i = 0; i < length; ++i) {
    b.view().set(i, 0, i % 100);
    b.view().set(i, 1, 1);
  }
  const auto plan = plan_of("chunked_rows", problem);
  EXPECT_NE(plan->choice().find("1 cut row"), std::string::npos) << plan->choice();
  plan->bind(b.view(), c.view());
  for (const double beta : {0.0, 1.0}) {
    plan->multiply(1, beta);
    const ConstDenseView found = std::as_const(c).view();
    const double times = beta + 1;
    EXPECT_EQ(found.at(0, 1), times);
    EXPECT_EQ(found.at(1, 0), times * 200 * (100 * 99 / 2));
    EXPECT_EQ(found.at(1, 1), times * length);
    EXPECT_EQ(found.at(2, 0), times * 99);
  }
}

// Stretches are chunks as they lie: here of every rest, and all sums are whole numbers.
TEST(ChunkedRows, AddsUpStretchesOfEveryLength) {
  constexpr Index kRows = 70, kShortest = 3000;
  const CsrMatrix a = growing_rows(kRows, kShortest);
  const CsrView<float> view = a.view<float>();
  for (const Index dense_cols : {1, 3, 4, 8, 16, 21}) {
    DenseMatrix b(a.cols(), dense_cols, ValueKind::f32), c(kRows, dense_cols, ValueKind::f32);
    for (Index i = 0; i < a.cols(); ++i) {
      for (Index k = 0; k < dense_cols; ++k) b.view().set(i, k, (i + k) % 5);
    }
    fill_nan(c.view());
    const auto plan = plan_of("chunked_rows", default_spmm_problem(a, dense_cols));
    EXPECT_NE(plan->choice().find("70 cut rows"), std::string::npos) << plan->choice();
    plan->bind(b.view(), c.view());
    plan->multiply();
    for (Index i = 0; i < kRows; ++i) {
      for (Index k = 0; k < dense_cols; ++k) {
        double expected = 0;
        for (Offset at = a.row_offsets()[i]; at < a.row_offsets()[i + 1]; ++at) {
          expected += view.values[at] * static_cast<float>((view.col_indices[at] + k) % 5);
        }
        ASSERT_EQ(std::as_const(c).view().at(i, k), expected) << i << ", " << k;
      }
    }
  }
}

/// C += A B, as ranks add what their halo brings: a row of A without entries leaves its row of C as
/// it is, down to the sign of a zero, unless alpha makes something of an empty sum.
TEST(ByRows, RowsWithoutEntriesAreLeftAlone) {
  constexpr Index kRows = 90;
  Buffer<Offset> row_offsets(kRows + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < kRows; ++i) row_offsets[i + 1] = row_offsets[i] + (i % 3 == 1 ? i % 7 : 0);
  Buffer<Index> col_indices(row_offsets[kRows]);
  for (Index i = 0; i < kRows; ++i) {
    for (Offset at = row_offsets[i]; at < row_offsets[i + 1]; ++at) {
      col_indices[at] = static_cast<Index>(at - row_offsets[i]);
    }
  }
  const CsrMatrix a(kRows, 8, std::move(row_offsets), std::move(col_indices),
                    ValueArray(ValueKind::none, 0));
  for (const char* const kernel : {"nnz_balanced", "chunked_rows"})
    for (const Index dense_cols : {1, 3, 4, 5, 16, 33, 128, 300}) {
      DenseMatrix b(8, dense_cols, ValueKind::f32), c(kRows, dense_cols, ValueKind::f32);
      for (Index i = 0; i < 8; ++i) {
        for (Index k = 0; k < dense_cols; ++k) b.view().set(i, k, 1);
      }
      const auto plan = plan_of(kernel, default_spmm_problem(a, dense_cols));
      plan->bind(b.view(), c.view());
      for (const double alpha : {1.0, std::numeric_limits<double>::infinity()}) {
        for (Index i = 0; i < kRows; ++i) {
          for (Index k = 0; k < dense_cols; ++k) c.view().set(i, k, -0.0);
        }
        plan->multiply(alpha, 1);
        const ConstDenseView found = std::as_const(c).view();
        for (Index i = 0; i < kRows; ++i) {
          for (Index k = 0; k < dense_cols; ++k) {
            const double element = found.at(i, k);
            const double sum = static_cast<double>(a.row_length(i));
            if (sum > 0) {
              ASSERT_EQ(element, alpha * sum) << i << ", " << k;
            } else if (alpha == 1) {
              ASSERT_TRUE(element == 0 && std::signbit(element)) << i << ", " << k;
            } else {
              ASSERT_TRUE(std::isnan(element)) << i << ", " << k;
            }
          }
        }
      }
    }
}

/// Whether products of teams of 1 to 16 have the same bits.
void expect_same_bits_with_every_team(const CsrMatrix& a, Index dense_cols) {
  const SpmmProblem problem = default_spmm_problem(a, dense_cols);
  DenseMatrix b(a.cols(), dense_cols, ValueKind::f32);
  fill_random(b.view(), 3);
  const auto product = [&](int threads) {
    PlanOptions options;
    options.where.threads = threads;
    const auto plan = plan_of("chunked_rows", problem, options);
    DenseMatrix c(a.rows(), dense_cols, ValueKind::f32);
    fill_nan(c.view());
    plan->bind(b.view(), c.view());
    plan->multiply();
    return c;
  };
  const DenseMatrix expected = product(1);
  for (const int threads : {2, 3, 7, 16}) {
    const DenseMatrix found = product(threads);
    EXPECT_EQ(std::memcmp(expected.view().data, found.view().data, found.size_bytes()), 0)
        << dense_cols << " columns, " << threads << " threads";
  }
}

TEST(ChunkedRows, GivesTheSameBitsWithEveryTeam) {
  const CsrMatrix short_rows = rows_of_all_lengths(600), hubs = growing_rows(20, 4000);
  for (const Index dense_cols : {1, 2, 3, 4, 7, 8, 13, 16, 40}) {
    expect_same_bits_with_every_team(short_rows, dense_cols);
    expect_same_bits_with_every_team(hubs, dense_cols);
  }
}

TEST(Auto, SaysWhatItChoseAndWhy) {
  const auto few = plan_of("auto", default_spmm_problem(long_row(9), 4));
  const bool has_vectors = chosen_isa() != Isa::portable;
  EXPECT_EQ(few->chosen_kernel(), has_vectors ? "chunked_rows" : "nnz_balanced") << few->choice();
  const bool has_wide_ones = chosen_isa_for_short_loads() == Isa::avx512;  // of 16 columns
  const auto some = plan_of("auto", default_spmm_problem(long_row(9), 12));
  EXPECT_EQ(some->chosen_kernel(), has_wide_ones ? "chunked_rows" : "nnz_balanced");
  const auto many = plan_of("auto", default_spmm_problem(long_row(9), 40));
  EXPECT_EQ(many->choice().rfind("nnz_balanced (because ", 0), 0u) << many->choice();
}

TEST(Auto, ChoosesTheSameForEveryTeamWithinEveryLimit) {
  SpmmProblem problem = default_spmm_problem(rows_of_all_lengths(600), 8);
  problem.transpose_a = true;
  DenseMatrix b(600, 8, ValueKind::f32);
  fill_random(b.view(), 3);
  const std::uint64_t bytes = problem.a.size_bytes();
  for (int sixteenths = 12; sixteenths < 40; ++sixteenths) {
    std::string kernel;
    DenseMatrix expected;
    for (const int threads : {1, 2, 16, 64}) {
      PlanOptions options;
      options.where.threads = threads;
      options.memory_limit_bytes = bytes * static_cast<std::uint64_t>(sixteenths) / 16;
      std::unique_ptr<SpmmPlan> plan;
      try {
        plan = plan_of("auto", problem, options);
      } catch (const MemoryError&) {
        continue;  // more threads may take more memory: then there are no bits
      }
      DenseMatrix c(600, 8, ValueKind::f32);
      plan->bind(b.view(), c.view());
      plan->multiply();
      if (kernel.empty()) {
        kernel = plan->chosen_kernel();
        expected = std::move(c);
        continue;
      }
      EXPECT_EQ(plan->chosen_kernel(), kernel) << sixteenths << ", " << threads << " threads";
      EXPECT_EQ(std::memcmp(expected.view().data, c.view().data, c.size_bytes()), 0)
          << sixteenths << ", " << threads << " threads";
    }
  }
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
