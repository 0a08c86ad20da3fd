// The analysis behind row_bins and row_panels beyond the battery: rows and panels that are cut, few
// parts each and many, side by side in one warp of the analysis.

#include <algorithm>
#include <array>

#include "gpu/plan/kernels.h"
#include "gpu/spmm/row_tasks/maker.h"
#include "gpu/spmm/row_tasks/ranges.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spmm/battery.h"

namespace csrkit::testing {

namespace {

/// Four rows of each length and so one panel of them, again and again. Parts have 64 to 512
/// entries: rows and panels that stay whole, of two and three parts, of about the eight that one
/// thread writes, and of more than the 32 that are one group.
CsrMatrix rows_to_cut(Index rows) {
  constexpr std::array<Index, 8> kLengths = {5, 90, 200, 560, 6000, 2600, 0, 130};
  std::vector<Entry> entries;
  for (Index row = 0; row < rows; ++row) {
    const Index length = kLengths[static_cast<std::size_t>(row / 4 % 8)];
    const Index first = row % 2 == 0 ? 0 : 6200 - length;  // neighbours share some columns
    for (Index col = first; col < first + length; ++col) {
      entries.push_back({row, col, random_value(7, row, col)});
    }
  }
  return matrix_of(rows, 6200, std::move(entries));
}

/// Every length up to 140, and none.
CsrMatrix rows_of_many_lengths(Index rows) {
  constexpr Index kLengths = 141, kCols = 3000;
  std::vector<Entry> entries;
  for (Index row = 0; row < rows; ++row) {
    const Index length = row * 37 % kLengths, first = row * 11 % (kCols - kLengths);
    for (Index col = first; col < first + length; ++col) {
      entries.push_back({row, col, random_value(9, row, col)});
    }
  }
  return matrix_of(rows, kCols, std::move(entries));
}

void check_rows(const CsrMatrix& matrix, const std::vector<Index>& widths) {
  for (const char* name : {"row_bins", "row_panels"}) {
    const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), name);
    for (const Index dense_cols : widths) {
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f16}) {
        KernelCase item;
        item.kinds = {kind, kind, ValueKind::f32, ValueKind::f32};
        check_kernel_on(kernel, matrix, dense_cols, item);
      }
    }
  }
}

/// The widths at which small matrices are done by other lanes than large ones: one slice or two,
/// pieces of eight lanes, of 16 or of 32.
void check_rows_by_all_lanes(const CsrMatrix& matrix) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  for (const Index dense_cols : {18, 23, 100, 124}) check_kernel_on(kernel, matrix, dense_cols, {});
  KernelCase doubles;
  doubles.kinds = {ValueKind::f64, ValueKind::f64, ValueKind::f64, ValueKind::f64};
  for (const Index dense_cols : {40, 41, 61, 101}) {
    check_kernel_on(kernel, matrix, dense_cols, doubles);
  }
}

/// Rows of 300 to 420 entries, the first of 900, which is cut.
CsrMatrix few_long_rows(Index rows) {
  constexpr Index kCols = 5000;
  std::vector<Entry> entries;
  for (Index row = 0; row < rows; ++row) {
    const Index length = row == 0 ? 900 : 300 + row * 31 % 121;
    for (Index i = 0; i < length; ++i) {
      const Index col = (i * 5 + row * 3) % kCols;
      entries.push_back({row, col, random_value(11, row, col)});
    }
  }
  return matrix_of(rows, kCols, std::move(entries));
}

/// Rows of 9 to 40 entries: none is long, and they are enough for a second launch.
CsrMatrix many_rows_of_some_entries() {
  constexpr Index kRows = 35'003, kCols = 1000;
  std::vector<Entry> entries;
  for (Index row = 0; row < kRows; ++row) {
    const Index length = 9 + row * 7 % 32;
    for (Index i = 0; i < length; ++i) {
      const Index col = (i * 7 + row * 3) % kCols;
      entries.push_back({row, col, random_value(13, row, col)});
    }
  }
  return matrix_of(kRows, kCols, std::move(entries));
}

/// Rows of `shortest` to `longest` entries, in no order of their lengths.
CsrMatrix rows_between(Index rows, Index shortest, Index longest) {
  constexpr Index kCols = 4001;
  std::vector<Entry> entries;
  for (Index row = 0; row < rows; ++row) {
    const Index length = shortest + row * 37 % (longest - shortest + 1);
    for (Index i = 0; i < length; ++i) {
      const Index col = (i * 11 + row * 5) % kCols;
      entries.push_back({row, col, random_value(17, row, col)});
    }
  }
  return matrix_of(rows, kCols, std::move(entries));
}

/// With and without scaling.
void check_scaled(const SpmmKernel& kernel, const CsrMatrix& matrix, ValueKind kind, ValueKind sums,
                  std::initializer_list<Index> widths) {
  for (const Index dense_cols : widths) {
    KernelCase item;
    item.kinds = {kind, kind, sums, sums};
    check_kernel_on(kernel, matrix, dense_cols, item);
    item.alpha = 2;
    item.beta = -1;
    check_kernel_on(kernel, matrix, dense_cols, item);
  }
}

class RowTasks : public GpuTest {};
class SanitizerRowTasks : public GpuTest {};

}  // namespace

// Not a whole number of warps, nor of panels.
TEST_F(RowTasks, AreCutIntoFewPartsAndMany) { check_rows(rows_to_cut(1021), {20, 32, 136}); }

// What rows get depends on how many entries there are: blocks and warps for nearly all, strips of
// one step; fewer of them; those of matrices that fill the device.
TEST_F(RowTasks, SuitTheSizeOfTheMatrix) {
  for (const Index rows : {61, 700, 3001, 12'000}) {
    SCOPED_TRACE(std::to_string(rows) + " rows");
    const CsrMatrix matrix = rows_of_many_lengths(rows);
    check_rows(matrix, {3, 33, 136});
    check_rows_by_all_lanes(matrix);
  }
}

// Most rows have a warp each, in several waves: fewer blocks a multiprocessor.
TEST_F(RowTasks, OfLongRowsForTheMostPart) {
  constexpr Index kRows = 13'001, kCols = 3000, kLongest = 119;
  std::vector<Entry> entries;
  for (Index row = 0; row < kRows; ++row) {
    const Index length = row % 100 == 3 ? row % 30 : kLongest - row % 23;
    const Index first = row * 11 % (kCols - kLongest);
    for (Index col = first; col < first + length; ++col) {
      entries.push_back({row, col, random_value(5, row, col)});
    }
  }
  const CsrMatrix matrix = matrix_of(kRows, kCols, std::move(entries));
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  KernelCase item;
  // At 196 and 200 two wide slices have the columns of a nearly empty fourth one.
  for (const Index dense_cols : {32, 196, 200}) check_kernel_on(kernel, matrix, dense_cols, item);
  item.alpha = 2;
  item.beta = -1;
  for (const Index dense_cols : {32, 200}) check_kernel_on(kernel, matrix, dense_cols, item);
}

// Up to 320 entries; the last columns are fewer than a slice, and rows begin anywhere.
TEST_F(RowTasks, OfAGroupAreLongWhereEachGroupHasMuchToDo) {
  const CsrMatrix matrix = rows_between(8003, 0, 340);
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  check_scaled(kernel, matrix, ValueKind::f32, ValueKind::f32, {200, 455, 512});
  check_scaled(kernel, matrix, ValueKind::f64, ValueKind::f64, {128, 231});
  check_scaled(kernel, matrix, ValueKind::f16, ValueKind::f32, {456});
}

// Up to eight entries that are left of a row are asked for together where columns are few.
TEST_F(RowTasks, OfFewColumns) {
  const CsrMatrix small = rows_of_many_lengths(700), large = rows_of_many_lengths(12'000);
  for (const Index dense_cols : {2, 3, 5, 7, 8}) {
    check_rows(small, {dense_cols});
    check_rows(large, {dense_cols});
  }
}

// They run at once with the fewest lanes a row: vectors, pieces and pairs; unlike last slices.
TEST_F(RowTasks, OfFewLongRows) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  for (const Index rows : {1, 13, 200}) {
    SCOPED_TRACE(std::to_string(rows) + " rows");
    const CsrMatrix matrix = few_long_rows(rows);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16}) {
      for (const Index dense_cols : {9, 24, 33, 41, 64, 66, 100, 127, 128, 130, 200}) {
        KernelCase item;
        const ValueKind output = kind == ValueKind::f64 ? kind : ValueKind::f32;
        item.kinds = {kind, kind, output, output};
        check_kernel_on(kernel, matrix, dense_cols, item);
        item.padding = 1;
        item.alpha = 1.5;
        item.beta = -0.5;
        check_kernel_on(kernel, matrix, dense_cols, item);
      }
    }
  }
}

// But not where the entries that are done once more take longer than the waits that are saved.
TEST_F(RowTasks, OfFewLongRowsHaveEightLanesWhereThatPays) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  const auto has_eight_lanes = [&](Index rows, Index dense_cols) {
    const CsrMatrix matrix = few_long_rows(rows);
    const auto plan = kernel.make_plan(default_spmm_problem(matrix, dense_cols), {});
    return plan->choice().find("eight lanes") != std::string::npos;
  };
  EXPECT_TRUE(has_eight_lanes(13, 64));
  EXPECT_TRUE(has_eight_lanes(13, 200));
  EXPECT_TRUE(has_eight_lanes(200, 32));
  EXPECT_FALSE(has_eight_lanes(200, 64));
  EXPECT_FALSE(has_eight_lanes(600, 64));
  const CsrMatrix short_rows = rows_of_many_lengths(13);  // 60 entries or so
  const auto plan = kernel.make_plan(default_spmm_problem(short_rows, 64), {});
  EXPECT_EQ(plan->choice().find("eight lanes"), std::string::npos) << plan->choice();
}

// C is larger than L2, and its rows end inside sectors: all slices of some rows come before others.
TEST_F(RowTasks, AreDoneSomeAtATimeWhereRowsOfALargeCAreTorn) {
  constexpr Index kRows = 301'003, kCols = 500;
  std::vector<Entry> entries;
  for (Index row = 0; row < kRows; ++row) {
    const Index length = row % 50'000 == 7 ? 300 : row * 13 % 8;
    for (Index i = 0; i < length; ++i) {
      entries.push_back({row, (row + i) % kCols, random_value(3, row, i)});
    }
  }
  const CsrMatrix matrix = matrix_of(kRows, kCols, std::move(entries));
  check_kernel_on(find_kernel(gpu::spmm_kernels(), "row_bins"), matrix, 140, {});
}

// Beyond whole slices of 16 lanes: one vector, half a slice, and a vector more.
TEST_F(RowTasks, OfLastColumnsHaveEightLanes) {
  const CsrMatrix matrix = many_rows_of_some_entries();
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  const auto check = [&](ValueKind kind, ValueKind sums, std::initializer_list<Index> widths) {
    for (const Index dense_cols : widths) {
      KernelCase item;
      item.kinds = {kind, kind, sums, sums};
      check_kernel_on(kernel, matrix, dense_cols, item);
      item.alpha = 2;
      item.beta = -1;
      item.padding = 16;
      check_kernel_on(kernel, matrix, dense_cols, item);
    }
  };
  check(ValueKind::f32, ValueKind::f32, {68, 96, 100, 132, 224});
  check(ValueKind::f64, ValueKind::f64, {34, 48, 50, 80});
  check(ValueKind::f16, ValueKind::f32, {136, 192, 200});
}

// B and C do not fit L2: panels are sorted within ranges, the last of which is not full. Some are
// cut, some are empty.
TEST_F(RowTasks, OfPanelsInRanges) {
  constexpr Index kRows = 33'003, kCols = 33'000;
  std::vector<Entry> entries;
  for (Index row = 0; row < kRows; ++row) {
    const Index panel = row / 4;
    const Index length = panel % 1009 == 5 ? 700 : panel % 12 == 7 ? 0 : panel * 7 % 13;
    const Index first = std::min(row / 3 * 3, kCols - length);  // neighbours share columns
    for (Index col = first; col < first + length; ++col) {
      entries.push_back({row, col, random_value(11, row, col)});
    }
  }
  const CsrMatrix matrix = matrix_of(kRows, kCols, std::move(entries));
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_panels");
  check_scaled(kernel, matrix, ValueKind::f32, ValueKind::f32, {232});
  check_scaled(kernel, matrix, ValueKind::f64, ValueKind::f64, {116});
  check_scaled(kernel, matrix, ValueKind::f16, ValueKind::f32, {464});
}

TEST_F(SanitizerRowTasks, AreCutIntoFewPartsAndMany) { check_rows(rows_to_cut(63), {20}); }
TEST_F(SanitizerRowTasks, SuitTheSizeOfTheMatrix) {
  check_rows(rows_of_many_lengths(90), {20});
  check_rows_by_all_lanes(rows_of_many_lengths(90));
  check_rows(rows_of_many_lengths(90), {3});
  check_rows_by_all_lanes(few_long_rows(5));
}
TEST_F(SanitizerRowTasks, OfAGroupAreLong) {
  check_kernel_on(find_kernel(gpu::spmm_kernels(), "row_bins"), rows_between(250, 90, 280), 4096,
                  {});
}
TEST_F(SanitizerRowTasks, OfLastColumnsHaveEightLanes) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "row_bins");
  check_kernel_on(kernel, many_rows_of_some_entries(), 72, {});
}

// A third of what each of 8,448 groups of 16 lanes has to do, in slices of 256 bytes.
TEST(RowTaskLengths, FollowWhatEachGroupHasToDo) {
  const auto shortest_of_warp = [](Offset nnz, Index dense_cols, int b_bytes) {
    const gpu::SpmmSizes sizes = {20'000, 20'000, nnz, dense_cols};
    const Index one_slice = 128 / b_bytes;
    return gpu::RowTaskMaker(sizes, b_bytes, 64, one_slice).shortest_of_warp();
  };
  EXPECT_EQ(shortest_of_warp(1'000'000, 64, 4), 96);
  EXPECT_EQ(shortest_of_warp(4'000'000, 64, 4), 157);
  EXPECT_EQ(shortest_of_warp(4'000'000, 128, 4), 315);
  EXPECT_EQ(shortest_of_warp(4'000'000, 64, 8), 315);
  EXPECT_EQ(shortest_of_warp(4'000'000, 128, 2), 157);
  EXPECT_EQ(shortest_of_warp(4'000'000, 256, 4), 320) << "no bin for longer ones";
  EXPECT_EQ(shortest_of_warp(40'000'000, 32, 4), 64) << "eight lanes hold all columns";
  EXPECT_EQ(shortest_of_warp(4'000'000, 63, 8), 157) << "pieces of up to four columns a lane";
  EXPECT_EQ(shortest_of_warp(300'000, 64, 4), 71) << "a small matrix";
}

// Rows of 16 entries are short, rows of 17 are not.
TEST(WideSlices, NeedTwiceTheEntriesWhereRowsAreNotShort) {
  constexpr Offset kRows = 8'000;
  EXPECT_EQ(gpu::fewest_for_wide_slices(16 * kRows, kRows), gpu::kEntriesAtOnce);
  EXPECT_EQ(gpu::fewest_for_wide_slices(17 * kRows, kRows), 2 * gpu::kEntriesAtOnce);
}

}  // namespace csrkit::testing
