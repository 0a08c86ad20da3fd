// dense_windows beyond the battery, which is too sparse for it: tiles of every size, tiles that
// several blocks share, and numbers that tensor cores must not see.

#include <cmath>
#include <limits>

#include "gpu/plan/kernels.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

const SpmmKernel& windows() { return find_kernel(gpu::spmm_kernels(), "dense_windows"); }

class DenseWindows : public GpuTest {};

constexpr ValueKind kKinds[] = {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16};

KernelCase case_of(ValueKind kind) {
  KernelCase item;
  item.kinds = {kind, kind, kind, kind};
  if (kind == ValueKind::f16 || kind == ValueKind::bf16) item.kinds.accumulate = ValueKind::f32;
  return item;
}

/// Every other row times 2^(i % 50 - 25), in row 3 numbers that have no scale in common, and in row
/// 8 and every twentieth after it few entries.
CsrMatrix of_every_size(Index rows, Index cols) {
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (unit_of(random_word(5, i, j)) > (i % 20 == 8 ? 0.03 : 0.4)) continue;
      const int exponent = i == 3 ? j % 80 - 40 : i % 2 == 0 ? 0 : i % 50 - 25;
      entries.push_back({i, j, std::ldexp(random_value(6, i, j), exponent)});
    }
  }
  return matrix_of(rows, cols, std::move(entries));
}

}  // namespace

TEST_F(DenseWindows, OfEverySize) {
  for (const auto& [rows, cols, density] :
       {std::tuple(127, 31, 0.9), std::tuple(129, 33, 0.7), std::tuple(1, 100, 0.9),
        std::tuple(300, 257, 0.12), std::tuple(128, 512, 1.0)}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
    const CsrMatrix matrix = random_matrix(rows, cols, density);
    for (const Index dense_cols : {1, 31, 32, 33, 64, 65, 127, 128, 129, 200, 300}) {
      for (const ValueKind kind : kKinds) {
        for (const ValueKind kind_of_a : {kind, ValueKind::none}) {
          KernelCase item = case_of(kind);
          item.kinds.a = kind_of_a;
          check_kernel_on(windows(), matrix, dense_cols, item);
          item.alpha = -1.5;
          item.beta = 0.5;
          item.padding = 1;
          check_kernel_on(windows(), matrix, dense_cols, item);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Tiles are narrow where there are few windows.
class SanitizerSpmmDenseWindows : public GpuTest {};

TEST_F(SanitizerSpmmDenseWindows, HaveTilesOfEveryWidth) {
  struct Case {
    ValueKind kind;
    Index rows, cols;
    double density;
    int tile_cols;
  };
  for (const Case& size : {Case{ValueKind::f32, 300, 257, 0.12, 32},
                           {ValueKind::f32, 2560, 1600, 0.02, 64},
                           {ValueKind::f32, 2177, 3073, 0.25, 128},
                           {ValueKind::f64, 300, 257, 0.12, 32},
                           {ValueKind::f64, 2560, 1600, 0.12, 64},
                           {ValueKind::f16, 300, 257, 0.12, 32},
                           {ValueKind::bf16, 2560, 1600, 0.02, 64},
                           {ValueKind::f16, 2177, 3073, 0.25, 128}}) {
    SCOPED_TRACE(std::to_string(size.tile_cols) + " columns");
    const CsrMatrix matrix = random_matrix(size.rows, size.cols, size.density);
    const std::string expected = "tiles of " + std::to_string(size.tile_cols) + " columns";
    for (const Index dense_cols : {size.tile_cols, size.tile_cols - 1}) {
      KernelCase item = case_of(size.kind);
      const auto plan = windows().make_plan(problem_of(matrix, item, dense_cols), {});
      EXPECT_NE(plan->choice().find(expected), std::string::npos) << plan->choice();
      check_kernel_on(windows(), matrix, dense_cols, item);
      item.pattern = BPattern::not_all_finite;
      item.alpha = -1.5;
      item.beta = 0.5;
      item.padding = 1;
      check_kernel_on(windows(), matrix, dense_cols, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DenseWindows, MeetWhereManyBlocksShareATile) {
  for (const ValueKind kind : kKinds)
    for (const bool transpose_a : {false, true}) {
      KernelCase item = case_of(kind);
      item.transpose_a = transpose_a;
      const CsrMatrix matrix =
          transpose_a ? random_matrix(9000, 140, 0.06) : random_matrix(140, 9000, 0.06);
      for (const Index dense_cols : {32, 64, 200}) {
        check_kernel_on(windows(), matrix, dense_cols, item);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_F(DenseWindows, KeepWhatIsNotStoredFromInfinities) {
  const CsrMatrix matrix = random_matrix(200, 300, 0.2);
  for (const ValueKind kind : kKinds)
    for (const BPattern pattern :
         {BPattern::not_all_finite, BPattern::every_size, BPattern::integers}) {
      KernelCase item = case_of(kind);
      item.pattern = pattern;
      for (const Index dense_cols : {7, 64, 130})
        check_kernel_on(windows(), matrix, dense_cols, item);
    }
}

// One number that halves cannot hold spoils a column, not the product.
TEST_F(DenseWindows, LeaveColumnsWithoutACommonScaleToFmas) {
  const CsrMatrix base = random_matrix(300, 200, 0.3);
  for (const ValueKind kind : kKinds) {
    const CsrMatrix matrix = convert_values(base, kind);
    for (const Index dense_cols : {33, 100, 200}) {
      SCOPED_TRACE(dense_cols);
      const KernelCase item = case_of(kind);
      const SpmmProblem problem = problem_of(matrix, item, dense_cols);
      DenseMatrix b(200, dense_cols, kind), c(300, dense_cols, kind), c0(300, dense_cols, kind);
      fill_random(b.view(), 5);
      const double tiny = kind == ValueKind::f16 ? std::ldexp(1, -24) : 1e-30;
      b.view().set(7, 3, tiny);
      b.view().set(8, 3, 3e4);
      b.view().set(199, dense_cols - 1, std::numeric_limits<double>::infinity());
      fill_random(c.view(), 6);
      fill_random(c0.view(), 6);
      const ConstDenseView before = c0.view();
      const auto plan = windows().make_plan(problem, {});
      plan->bind(b.view(), c.view());
      plan->multiply(-1.5, 0.5);
      plan->fetch_output();
      const CheckResult result = check_spmm(problem, b.view(), -1.5, 0.5, &before, c.view());
      EXPECT_TRUE(result.passed) << result.failure;
    }
  }
}

TEST_F(DenseWindows, LeaveRowsWithoutACommonScaleToFmas) {
  const CsrMatrix matrix = of_every_size(140, 200);
  for (const Index dense_cols : {32, 41, 64, 128, 130}) {
    for (const ValueKind kind : kKinds) {
      KernelCase item = case_of(kind);
      check_kernel_on(windows(), matrix, dense_cols, item);
      // All columns are left to FMAs, too: no row may be made twice.
      item.pattern = BPattern::every_size;
      item.alpha = -1.5;
      item.beta = 0.5;
      check_kernel_on(windows(), matrix, dense_cols, item);
    }
  }
  std::vector<Entry> entries;
  for (Index j = 0; j < 90; ++j) {
    const double value = j == 7 ? std::numeric_limits<double>::infinity() : random_value(1, 2, j);
    entries.push_back({2, j, value});
    entries.push_back({3, j, j == 9 ? std::numeric_limits<double>::quiet_NaN() : value});
    entries.push_back({4, j, j % 3 == 0 ? 3e38 : 1e-38});
    entries.push_back({5, j, random_value(1, 5, j)});
  }
  const CsrMatrix some_not_finite = matrix_of(10, 90, std::move(entries));
  for (const ValueKind kind : kKinds)
    check_kernel_on(windows(), some_not_finite, 64, case_of(kind));
}

// Long sums: a truncation that did not even out would show. The measure is one chain of
// multiply-adds for each element; kernels that cut a row into several sums err less.
TEST_F(DenseWindows, ErrNoMoreThanFmas) {
  const CsrMatrix matrix = convert_values(random_matrix(128, 4000, 0.3), ValueKind::f32);
  const SpmmProblem problem = problem_of(matrix, {}, 64);
  DenseMatrix b(4000, 64, ValueKind::f32), c(128, 64, ValueKind::f32);
  fill_random(b.view(), 5);
  const auto worst_error = [&] {
    const CheckResult result = check_spmm(problem, b.view(), 1, 0, nullptr, c.view());
    EXPECT_TRUE(result.passed) << result.failure;
    return result.worst_error_ratio;
  };
  const ConstDenseView rows_of_b = b.view();
  const auto* values = static_cast<const float*>(matrix.values());
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < c.cols(); ++j) {
      float sum = 0;
      for (Offset k = matrix.row_offsets()[i]; k < matrix.row_offsets()[i + 1]; ++k) {
        const double element = rows_of_b.at(matrix.col_indices()[k], j);
        sum = std::fma(values[k], static_cast<float>(element), sum);
      }
      c.view().set(i, j, sum);
    }
  }
  const double of_fmas = worst_error();
  fill_nan(c.view());
  const auto plan = windows().make_plan(problem, {});
  plan->bind(b.view(), c.view());
  plan->multiply(1, 0);
  plan->fetch_output();
  EXPECT_LT(worst_error(), of_fmas);
}

TEST_F(DenseWindows, WriteF32FromSixteenBits) {
  for (const ValueKind kind : {ValueKind::f16, ValueKind::bf16}) {
    KernelCase item = case_of(kind);
    item.kinds.c = ValueKind::f32;
    check_kernel_on(windows(), random_matrix(200, 300, 0.2), 65, item);
  }
}

TEST(DenseWindowsRefusal, NamesSemiringsAndEmptyWindows) {
  KernelCase item;
  item.semiring = Semiring::min_plus;
  EXPECT_THROW(windows().make_plan(problem_of(random_matrix(50, 50, 0.5), item, 32), {}),
               UsageError);
  const CsrMatrix thin = matrix_of(20000, 20000, {{5, 7, 1.0}, {19999, 3, 2.0}});
  try {
    windows().make_plan(problem_of(thin, {}, 32), {});
    FAIL() << "windows without entries";
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("2 nonzeros in 20000 x 20000"), std::string::npos) << message;
    EXPECT_NE(message.find("use row_bins"), std::string::npos) << message;
  }
  EXPECT_EQ(gpu::auto_spmm_kernel(problem_of(thin, {}, 32)), "row_bins");
}

TEST(DenseWindowsChoice, IsForDenseMatricesAndManyColumns) {
  const CsrMatrix dense = random_matrix(1500, 2000, 0.12), sparse = random_matrix(1500, 2000, 0.02);
  const auto chosen = [](const CsrMatrix& matrix, Index dense_cols, ValueKind kind) {
    return gpu::auto_spmm_kernel(problem_of(matrix, case_of(kind), dense_cols));
  };
  EXPECT_EQ(chosen(dense, 512, ValueKind::f32), "dense_windows");
  EXPECT_EQ(chosen(dense, 512, ValueKind::f64), "dense_windows");
  // 16 bits are gathered twice as fast.
  EXPECT_NE(chosen(dense, 512, ValueKind::bf16), "dense_windows");
  EXPECT_EQ(chosen(random_matrix(2000, 2000, 0.3), 512, ValueKind::bf16), "dense_windows");
  EXPECT_EQ(chosen(dense, 8, ValueKind::f32), "row_bins");
  EXPECT_EQ(chosen(sparse, 512, ValueKind::f32), "row_bins");
}

// Rows that share their columns: panels leave out what a window would multiply by zeros.
TEST(DenseWindowsChoice, LeavesSixteenBitsToPanelsWhereRowsAreAlike) {
  std::vector<Entry> entries;
  for (Index i = 0; i < 3000; ++i) {
    for (Index j = 0; j < 3000; ++j) {
      if (unit_of(random_word(9, i / 16, j)) < 0.15) entries.push_back({i, j, 1.0});
    }
  }
  const CsrMatrix alike = matrix_of(3000, 3000, std::move(entries));
  EXPECT_EQ(gpu::auto_spmm_kernel(problem_of(alike, case_of(ValueKind::f16), 32)), "row_panels");
}

TEST(DenseWindowsChoice, LooksAtTheFullestWindowsWhereTilesAreNarrow) {
  const auto chosen = [](double density, bool has_crowd, Index dense_cols) {
    std::vector<Entry> entries;
    for (Index i = 0; i < 2000; ++i) {
      for (Index j = 0; j < 2000; ++j) {
        const bool in_crowd = has_crowd && i / 128 == 3 && j >= 1000 && j < 1500;
        if (in_crowd || unit_of(random_word(7, i, j)) < density) entries.push_back({i, j, 1.0});
      }
    }
    const CsrMatrix matrix = matrix_of(2000, 2000, std::move(entries));
    return gpu::auto_spmm_kernel(problem_of(matrix, KernelCase{}, dense_cols));
  };
  EXPECT_EQ(chosen(0.3, false, 32), "dense_windows");
  EXPECT_EQ(chosen(0.3, true, 32), "row_bins");
  EXPECT_EQ(chosen(0.3, true, 128), "dense_windows");
  EXPECT_EQ(chosen(0.1, false, 32), "row_bins");
}

}  // namespace csrkit::testing
