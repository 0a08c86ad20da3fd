// row_panels beyond the battery: panels of every size that has its own way of being made, and when
// auto takes it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/plan/kernels.h"
#include "gpu/spmm/row_panels/lists.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

constexpr Index kRows = gpu::kPanelRows;

/// Panels whose rows have `shared` columns in common, and each row `own` columns of its own.
CsrMatrix panels_of(Index panels, Index cols, Index shared, Index own, Index rows = kRows) {
  std::vector<Entry> entries;
  for (Index row = 0; row < panels * rows; ++row) {
    const Index panel = row / rows;
    const Index first = static_cast<Index>(Offset{panel} * 37 % (cols - shared - rows * own));
    for (Index j = 0; j < shared; ++j) {
      entries.push_back({row, first + j, random_value(3, row, first + j)});
    }
    const Index begin = first + shared + row % rows * own;
    for (Index j = begin; j < begin + own; ++j)
      entries.push_back({row, j, random_value(3, row, j)});
  }
  return matrix_of(panels * rows, cols, std::move(entries));
}

class RowPanels : public GpuTest {};

std::string chosen_for(const CsrMatrix& matrix, bool transpose_a) {
  KernelCase item;
  item.transpose_a = transpose_a;
  const SpmmProblem problem = problem_of(matrix, item, 128);
  return find_kernel(gpu::spmm_kernels(), "auto").make_plan(problem, {})->chosen_kernel();
}

}  // namespace

TEST_F(RowPanels, OfEverySize) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_panels");
  // A warp's work, a block's, and one so long that its rows are only copied.
  for (const auto& [shared, own] :
       {std::pair(100, 10), std::pair(130, 1), std::pair(1000, 50), std::pair(0, 700),
        std::pair(9000, 8000), std::pair(16384, 0), std::pair(16385, 1)}) {
    SCOPED_TRACE(std::to_string(shared) + " shared, " + std::to_string(own) + " own columns");
    const CsrMatrix matrix = panels_of(shared > 5000 ? 1 : 3, 60000, shared, own);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::none, ValueKind::f64}) {
      KernelCase item;
      item.kinds.a = kind;
      if (kind == ValueKind::f64) item.kinds = {kind, kind, kind, kind};
      check_kernel_on(kernel, matrix, 33, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(RowPanels, OfEverySizeIn16Bits) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_panels");
  // Lists of less than a step, of whole steps, the largest by hash table, others, copied ones.
  for (const auto& [shared, own] :
       {std::pair(3, 0), std::pair(16, 0), std::pair(33, 2), std::pair(100, 10), std::pair(130, 1),
        std::pair(255, 1), std::pair(0, 256), std::pair(0, 257), std::pair(1000, 50),
        std::pair(8192, 0), std::pair(8192, 1)}) {
    SCOPED_TRACE(std::to_string(shared) + " shared, " + std::to_string(own) + " own columns");
    const CsrMatrix matrix =
        panels_of(shared > 5000 ? 1 : 3, 60000, shared, own, gpu::kTiledPanelRows);
    for (const ValueKind kind : {ValueKind::f16, ValueKind::bf16}) {
      for (const ValueKind a : {kind, ValueKind::none}) {
        for (const Index cols : {20, 33, 64, 136}) {
          KernelCase item;
          item.kinds = {a, kind, cols == 64 ? kind : ValueKind::f32, ValueKind::f32};
          check_kernel_on(kernel, matrix, cols, item);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Wide slices of columns go through shared memory, narrow ones do not, and elements that are not
// finite are made again one by one: the bits are the same.
TEST_F(RowPanels, HaveTheSameBitsWhateverTheWidthIn16Bits) {
  constexpr Index kCols = 96;
  const CsrMatrix matrix =
      convert_values(panels_of(40, 3000, 150, 1, gpu::kTiledPanelRows), ValueKind::f16);
  const auto product_of = [&](Index cols, Offset leading_dim) {
    KernelCase item;
    item.kinds = {ValueKind::f16, ValueKind::f16, ValueKind::f32, ValueKind::f32};
    const SpmmProblem problem = problem_of(matrix, item, cols);
    DenseMatrix b(problem.input_rows(), cols, ValueKind::f16, leading_dim);
    DenseMatrix c(problem.output_rows(), cols, ValueKind::f32, leading_dim);
    fill_random(b.view(), 5);
    b.view().set(160, 3, std::numeric_limits<double>::infinity());
    const auto plan =
        find_kernel(gpu::spmm_kernels(), "row_panels").make_plan(problem, PlanOptions());
    plan->bind(b.view(), c.view());
    plan->multiply(1, 0);
    plan->fetch_output();
    return c;
  };
  const DenseMatrix wide =
      product_of(kCols, kCols);  // of lists that are not cut, however wide B is
  for (const auto& [cols, leading_dim] :
       {std::pair(Index{32}, Offset{32}), std::pair(Index{32}, Offset{36}),
        std::pair(kCols, Offset{kCols + 1}), std::pair(Index{65}, Offset{65})}) {
    const DenseMatrix other = product_of(cols, leading_dim);
    Offset differ = 0;
    for (Index i = 0; i < wide.rows(); ++i) {
      for (Index j = 0; j < cols; ++j) {
        const double x = ConstDenseView(wide.view()).at(i, j), y = other.view().at(i, j);
        differ += x == y || (std::isnan(x) && std::isnan(y)) ? 0 : 1;
      }
    }
    EXPECT_EQ(differ, 0) << cols << " columns, leading dimension " << leading_dim;
  }
}

TEST_F(RowPanels, AreTakenByAutoWhereNeighboursShareColumns) {
  const CsrMatrix together = panels_of(5000, 3000, 12, 0);  // 240,000 entries
  const CsrMatrix apart = panels_of(5000, 3000, 0, 12);     // as many
  const CsrMatrix few = panels_of(500, 3000, 12, 0);        // a tenth
  EXPECT_EQ(chosen_for(together, false), "row_panels");
  EXPECT_EQ(chosen_for(apart, false), "row_bins");
  EXPECT_EQ(chosen_for(few, false), "row_bins");
  // Rows of A^T are columns of A, of which neighbours are in the same rows. Of 12,000 rows panels
  // take 29 us where row_bins takes 36 (H200).
  EXPECT_EQ(chosen_for(panels_of(20000, 12000, 12, 0), true), "row_panels");
}

TEST(RowPanelsChoice, AsksForMoreSharingWhereBIsNarrow) {
  const auto chosen = [](const CsrMatrix& matrix, Index dense_cols, ValueKind kind) {
    KernelCase item;
    item.kinds = {kind, kind, ValueKind::f32, ValueKind::f32};
    return gpu::auto_spmm_kernel(problem_of(matrix, item, dense_cols));
  };
  const CsrMatrix by_2_1 = panels_of(14000, 3000, 9, 4);  // entries share a read
  const CsrMatrix by_1_75 = panels_of(14000, 3000, 8, 6);
  const CsrMatrix by_1_45 = panels_of(15000, 3000, 5, 7);
  const CsrMatrix few = panels_of(2500, 3000, 9, 4);
  const CsrMatrix of_eight = panels_of(7000, 3000, 9, 4, gpu::kTiledPanelRows);
  const CsrMatrix all_of_eight = panels_of(6000, 3000, 13, 0, gpu::kTiledPanelRows);
  const ValueKind f32 = ValueKind::f32;
  for (const auto& [matrix, dense_cols, kind, kernel] :
       {std::tuple(&by_2_1, 16, f32, "row_bins"), std::tuple(&by_2_1, 32, f32, "row_panels"),
        std::tuple(&by_2_1, 128, f32, "row_panels"),
        std::tuple(&by_1_45, 128, ValueKind::f16, "row_bins"),
        std::tuple(&of_eight, 128, ValueKind::f16, "row_panels"),
        std::tuple(&of_eight, 32, ValueKind::bf16, "row_panels"),
        std::tuple(&of_eight, 33, ValueKind::bf16, "row_bins"),
        std::tuple(&all_of_eight, 33, ValueKind::bf16, "row_panels"),
        std::tuple(&by_1_75, 32, f32, "row_bins"), std::tuple(&by_1_75, 128, f32, "row_panels"),
        std::tuple(&by_1_45, 32, f32, "row_bins"), std::tuple(&few, 128, f32, "row_bins")}) {
    EXPECT_EQ(chosen(*matrix, dense_cols, kind), kernel) << matrix->nnz() << " " << dense_cols;
  }
}

TEST_F(RowPanels, AreLeftByAutoWhereTheirListsDoNotFit) {
  const CsrMatrix matrix = panels_of(5000, 3000, 12, 0);
  const SpmmProblem problem = problem_of(matrix, {}, 32);
  PlanOptions options;
  const auto peak_of = [&](const char* name) {
    return find_kernel(gpu::spmm_kernels(), name).make_plan(problem, options)->phases().peak_bytes;
  };
  const std::uint64_t panels = peak_of("row_panels"), bins = peak_of("row_bins");
  ASSERT_LT(bins, panels);
  options.memory_limit_bytes = (bins + panels) / 2;
  const auto plan = find_kernel(gpu::spmm_kernels(), "auto").make_plan(problem, options);
  EXPECT_EQ(plan->chosen_kernel(), "row_bins");
}

}  // namespace csrkit::testing
