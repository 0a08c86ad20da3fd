#include <gtest/gtest.h>

#include <cstring>

#include "core/judge/compare.h"
#include "cpu/common/kernels.h"

namespace csrkit::cpu {
namespace {

/// Column 3 and, in three rows of four, column 7 are in every row: hubs. One more entry per row.
CsrMatrix two_hubs(Index rows, Index cols) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) row_offsets[i + 1] = row_offsets[i] + (i % 4 == 0 ? 2 : 3);
  const Offset nnz = row_offsets[rows];
  Buffer<Index> col_indices(nnz);
  Buffer<float> values(nnz);
  for (Index i = 0; i < rows; ++i) {
    Offset at = row_offsets[i];
    col_indices[at++] = 3;
    if (i % 4 != 0) col_indices[at++] = 7;
    col_indices[at++] = 8 + i % (cols - 8);
    for (at = row_offsets[i]; at < row_offsets[i + 1]; ++at) {
      values[at] = 1.0f / static_cast<float>(1 + (at * 7) % 31);
    }
  }
  return CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

TEST(ColumnRanges, SumsHubsTogetherAndAlwaysTheSame) {
  const Index rows = 20000, cols = 900;
  for (const ValueKind kind : {ValueKind::f32, ValueKind::bf16}) {
    const CsrMatrix a = convert_values(two_hubs(rows, cols), kind);
    for (const Index dense_cols : {1, 33, 300}) {
      for (const double beta : {0.0, -0.5}) {
        SpmmProblem problem = default_spmm_problem(a, dense_cols);
        problem.transpose_a = true;
        problem.c = kind;
        DenseMatrix b(rows, dense_cols, kind), before(cols, dense_cols, kind);
        fill_random(b.view(), 5);
        fill_random(before.view(), 6);
        DenseMatrix first;
        for (const int threads : {1, 2, 7}) {
          PlanOptions options;
          options.where.threads = threads;
          const auto plan =
              find_kernel(spmm_kernels(), "column_ranges").make_plan(problem, options);
          EXPECT_NE(plan->choice().find("2 columns summed by all"), std::string::npos)
              << plan->choice();
          DenseMatrix c(cols, dense_cols, kind);
          if (beta == 0) {
            fill_nan(c.view());
          } else {
            std::memcpy(c.view().data, before.view().data, c.size_bytes());
          }
          plan->bind(b.view(), c.view());
          plan->multiply(1.5, beta);
          const ConstDenseView c0 = std::as_const(before).view();
          const CheckResult result = check_spmm(problem, std::as_const(b).view(), 1.5, beta,
                                                beta == 0 ? nullptr : &c0, std::as_const(c).view());
          ASSERT_TRUE(result.passed) << result.failure << " K=" << dense_cols;
          if (threads == 1) {
            first = std::move(c);
          } else {
            EXPECT_EQ(std::memcmp(first.view().data, c.view().data, c.size_bytes()), 0)
                << threads << " threads, K=" << dense_cols;
          }
        }
      }
    }
  }
}

TEST(ColumnRanges, AutoTakesItOnlyWhereATransposedWouldNotFit) {
  SpmmProblem problem = default_spmm_problem(two_hubs(20000, 900), 256);
  problem.transpose_a = true;
  const SpmmKernel& chooser = find_kernel(spmm_kernels(), "auto");
  PlanOptions options;
  EXPECT_EQ(chooser.make_plan(problem, options)->choice().rfind("nnz_balanced (because ", 0), 0u);
  options.memory_limit_bytes = 300000;
  EXPECT_EQ(chooser.make_plan(problem, options)->choice().rfind("column_ranges (because ", 0), 0u);
}

}  // namespace
}  // namespace csrkit::cpu
