// column_bands beyond the battery: small matrices on cards whose L2 is so small that there are many
// bands, and rows that are cut beside rows that stay whole.

#include "gpu/spmm/column_bands/column_bands.h"

#include <array>

#include "gpu/plan/kernels.h"
#include "gpu/spmm/plan.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

const SpmmKernel& bands() { return find_kernel(gpu::spmm_kernels(), "column_bands"); }

template <int kL2Bytes>
std::unique_ptr<SpmmPlan> on_a_small_card(const SpmmProblem& problem, const PlanOptions& options) {
  return std::make_unique<gpu::GpuSpmmPlan>(bands().capabilities, problem, options,
                                            gpu::make_device_column_bands(problem, kL2Bytes));
}
/// Of 2,200 columns 3, 9 and 67 bands.
std::array<SpmmKernel, 3> small_bands() {
  return {SpmmKernel{bands(), on_a_small_card<160 * 1024>},
          SpmmKernel{bands(), on_a_small_card<50 * 1024>},
          SpmmKernel{bands(), on_a_small_card<6500>}};
}

/// Rows without entries, short ones, some of several hundred entries, and hubs of most columns.
CsrMatrix graph(Index rows, Index cols, std::uint64_t seed) {
  std::vector<Entry> entries;
  for (Index row = 0; row < rows; ++row) {
    const double draw = unit_of(random_word(seed, row, 1));
    Index length = draw < 0.2 ? 0 : static_cast<Index>(4 / (draw * draw));
    if (draw > 0.98) length = cols / 5;
    if (row % 499 == 77) length = cols - cols / 9;
    const auto share = static_cast<double>(length) / cols;
    for (Index col = 0; col < cols; ++col) {
      if (unit_of(random_word(seed + 1, row, col)) > share) continue;
      entries.push_back({row, col, random_value(seed + 2, row, col)});
    }
  }
  return matrix_of(rows, cols, std::move(entries));
}

void check_graph(const SpmmKernel& kernel, const CsrMatrix& matrix,
                 const std::vector<Index>& widths) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::none}) {
    const ValueKind dense = kind == ValueKind::none ? ValueKind::f32 : kind;
    for (const Index dense_cols : widths) {
      KernelCase item;
      item.kinds = {kind, dense, dense, dense};
      check_kernel_on(kernel, matrix, dense_cols, item);
      item.alpha = -1.5;
      item.beta = 0.5;
      item.padding = 3;
      check_kernel_on(kernel, matrix, dense_cols, item);
      item.alpha = 1;
      item.beta = 1;
      item.padding = 4;
      check_kernel_on(kernel, matrix, dense_cols, item);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

class ColumnBands : public GpuTest {};
class SanitizerColumnBands : public GpuTest {};

}  // namespace

TEST_F(ColumnBands, ManyAndFew) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const CsrMatrix matrix = graph(1801, 2203, seed);
    for (const SpmmKernel& kernel : small_bands()) {
      check_graph(kernel, matrix, {1, 31, 32, 33, 36, 100});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ColumnBands, OfFewRowsAndOfFewColumns) {
  for (const auto& [rows, cols] : {std::pair(1, 5000), std::pair(5000, 1), std::pair(3, 3),
                                   std::pair(513, 40), std::pair(130, 7001)}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
    check_graph(small_bands()[1], graph(rows, cols, 7), {2, 32, 65});
    if (HasFatalFailure()) return;
  }
}

/// A hub that is cut within bands, rows whose entries are all in the first band or the last, and
/// rows at the number of entries from which they are cut.
TEST_F(ColumnBands, WhereEntriesAreInOneBand) {
  constexpr Index kRows = 400, kCols = 9000;
  std::vector<Entry> entries;
  for (Index row = 0; row < kRows; ++row) {
    const Index length = row == 7 ? kCols : 20 + row % 40;
    const Index first = row % 3 == 0 ? 0 : kCols - length;
    for (Index col = first; col < first + length; ++col) {
      entries.push_back({row, col, random_value(5, row, col)});
    }
  }
  const CsrMatrix matrix = matrix_of(kRows, kCols, std::move(entries));
  for (const SpmmKernel& kernel : small_bands()) {
    check_graph(kernel, matrix, {33, 64});
    if (HasFatalFailure()) return;
  }
}

TEST_F(ColumnBands, OnTheBattery) {
  for (const auto& [name, matrix] : made_battery()) {
    SCOPED_TRACE(name);
    for (const SpmmKernel& kernel : small_bands()) {
      for (const bool transpose_a : {false, true}) {
        KernelCase item;
        item.transpose_a = transpose_a;
        check_kernel_on(kernel, matrix, 34, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(ColumnBands, AreSavedAndComeBack) {
  const CsrMatrix matrix = graph(1801, 2203, 5);
  const SpmmProblem problem = problem_of(matrix, {}, 40);
  GuardedDense b(problem.input_rows(), 40, problem.b, 0);
  fill_random(b.view(), 3);
  std::vector<std::vector<unsigned char>> results;
  SavedAnalysis saved;
  for (const bool comes_back : {false, true}) {
    PlanOptions options;
    if (comes_back) options.saved = &saved;
    const auto plan = small_bands()[1].make_plan(problem, options);
    GuardedDense c(problem.output_rows(), 40, problem.c, 0);
    plan->bind(b.view(), c.view());
    plan->multiply(1, 0);
    plan->fetch_output();
    results.push_back(c.bytes());
    saved = plan->save_analysis();
    EXPECT_GT(saved.size(), 0U);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(SanitizerColumnBands, ManyAndFew) {
  const CsrMatrix matrix = graph(600, 700, 4);
  check_graph(small_bands()[1], matrix, {33, 36});
  check_graph(small_bands()[2], matrix, {36});
}

}  // namespace csrkit::testing
