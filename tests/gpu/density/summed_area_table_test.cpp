// The summed-area table of the GPU is that of the CPU, number by number.
#include "core/facts/summed_area_table.h"

#include <functional>

#include "gpu/density/summed_area_table.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

class SanitizerSummedAreaTable : public GpuTest {};

SummedAreaTable table_on_gpu(const CsrMatrix& matrix, Index grid_rows, Index grid_cols) {
  const auto fill = [](const CsrMatrix& m, const SummedAreaTable& grid, Offset* sums) {
    const Offset size = (Offset{grid.grid_rows()} + 1) * (Offset{grid.grid_cols()} + 1);
    std::fill_n(sums, size, Offset{-0x5555555555555555});
    gpu::fill_sums(m, grid, sums, 0);
  };
  return SummedAreaTable(matrix, grid_rows, grid_cols, fill);
}

void expect_equal_tables(const CsrMatrix& matrix, Index grid_rows, Index grid_cols) {
  const SummedAreaTable expected(matrix, grid_rows, grid_cols);
  const SummedAreaTable found = table_on_gpu(matrix, grid_rows, grid_cols);
  ASSERT_EQ(found.grid_rows(), expected.grid_rows());
  ASSERT_EQ(found.grid_cols(), expected.grid_cols());
  const Offset size = (Offset{expected.grid_rows()} + 1) * (Offset{expected.grid_cols()} + 1);
  for (Offset i = 0; i < size; ++i) {
    ASSERT_EQ(found.sums()[i], expected.sums()[i])
        << "sum " << i << " of a grid of " << grid_rows << " x " << grid_cols;
  }
}

TEST_F(SanitizerSummedAreaTable, IsTheCpusOnEveryMatrixOfTheBattery) {
  for (const auto& [name, matrix] : made_battery()) {
    SCOPED_TRACE(name);
    expect_equal_tables(matrix, 7, 5);
    expect_equal_tables(matrix, 256, 256);
  }
}

// Lines longer than a tile of the scan, and longer than shared memory holds.
TEST_F(SanitizerSummedAreaTable, IsTheCpusOnGridsOfEveryShape) {
  const CsrMatrix& matrix = battery_matrix(made_battery().back().first);
  for (const Index side : {1, 31, 33, 1000, 2049}) {
    expect_equal_tables(matrix, side, 1);
    expect_equal_tables(matrix, 1, side);
    expect_equal_tables(matrix, side, side);
  }
  constexpr Index kWide = 20000;  // one row, every second column
  Buffer<Offset> row_offsets(2);
  Buffer<Index> col_indices(kWide / 2);
  row_offsets.data()[0] = 0;
  row_offsets.data()[1] = kWide / 2;
  for (Index i = 0; i < kWide / 2; ++i) col_indices.data()[i] = 2 * i;
  const CsrMatrix wide(1, kWide, std::move(row_offsets), std::move(col_indices), ValueArray());
  expect_equal_tables(wide, 1, kWide);
  expect_equal_tables(wide, 1, kWide / 2 + 1);
}

TEST_F(SanitizerSummedAreaTable, RefusesWhatTheLimitDoesNotHold) {
  const CsrMatrix& matrix = made_battery().front().second;
  const auto limited = [](const CsrMatrix& m, const SummedAreaTable& grid, Offset* sums) {
    gpu::fill_sums(m, grid, sums, 0, 16);
  };
  EXPECT_THROW(SummedAreaTable(matrix, 4, 4, limited), MemoryError);
}

}  // namespace

}  // namespace csrkit::testing
