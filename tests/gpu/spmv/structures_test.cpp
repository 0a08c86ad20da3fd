// Matrices that formats are for, large enough to have thousands of slices and pieces; and those
// that formats must refuse.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gpu/device/device_info.h"
#include "gpu/plan/kernels.h"
#include "tests/gpu/operator_checks.h"

namespace csrkit::testing {

namespace {

constexpr Kinds kF64Kinds = {ValueKind::f64, ValueKind::f64, ValueKind::f64, ValueKind::f64};

/// The five points of 2D Poisson on a grid of `width` x `height`.
CsrMatrix poisson(Index width, Index height, bool has_random_values) {
  std::vector<Entry> entries;
  for (Index i = 0; i < width * height; ++i) {
    const auto add = [&](bool is_there, Index j) {
      if (!is_there) return;
      const double constant = i == j ? 4.0 : -1.0;
      entries.push_back({i, j, has_random_values ? random_value(4, i, j) : constant});
    };
    add(i >= width, i - width);
    add(i % width > 0, i - 1);
    add(true, i);
    add(i % width < width - 1, i + 1);
    add(i < width * (height - 1), i + width);
  }
  return matrix_of(width * height, width * height, std::move(entries));
}

/// Short rows, one row and one column that are full.
CsrMatrix hub(Index size) {
  std::vector<Entry> entries;
  for (Index i = 0; i < size; ++i) {
    entries.push_back({i, 5, random_value(1, i, 5)});
    if (i != 5) entries.push_back({5, i, random_value(1, 5, i)});
    const auto j =
        static_cast<Index>(below(random_word(2, i, 0), static_cast<std::uint64_t>(size)));
    if (i != 5 && j != 5) entries.push_back({i, j, random_value(1, i, j)});
  }
  return matrix_of(size, size, std::move(entries));
}

/// Dense blocks of 3 x 3, some of them beside each other; the last ones cut by the matrix's edge.
CsrMatrix blocks_of_three(Index size) {
  return matrix_where(size, size, [](Index i, Index j) {
    const Index apart = std::abs(i / 3 - j / 3);
    return apart == 0 || apart == 4 || apart == 9;
  });
}

std::unique_ptr<SpmmPlan> plan_of(const char* kernel, const CsrMatrix& matrix) {
  KernelCase item;
  item.kinds = kF64Kinds;
  return find_kernel(gpu::spmv_kernels(), kernel).make_plan(problem_of(matrix, item, 1), {});
}

double share_of_csr(const SpmmPlan& plan, const CsrMatrix& matrix) {
  const double csr =
      static_cast<double>(matrix.nnz()) * 12 + static_cast<double>(matrix.rows()) * 4;
  return static_cast<double>(plan.stored_bytes()) / csr;
}

class GpuSpmvStructures : public GpuTest {};

/// Small, for compute-sanitizer.
class SanitizerGpuSpmvStructures : public GpuTest {};

}  // namespace

TEST_F(GpuSpmvStructures, EveryKernelMultipliesThemOrRefusesForItsSize) {
  const std::pair<const char*, CsrMatrix> matrices[] = {
      {"poisson with constants", poisson(211, 307, false)},
      {"poisson with random values", poisson(211, 307, true)},
      {"a hub", hub(60'000)},
      {"blocks of three", blocks_of_three(1201)},
      {"random", random_matrix(2000, 1700, 0.01)}};
  for (const auto& [name, matrix] : matrices) {
    SCOPED_TRACE(name);
    for (const SpmmKernel& kernel : gpu::spmv_kernels()) {
      for (const Kinds& kinds : kinds_within(kernel.capabilities & (kF32 | kF64 | kWideOperands))) {
        KernelCase item;
        item.kinds = kinds;
        try {
          check_kernel_on(kernel, matrix, 1, item);
        } catch (const Error& error) {  // of memory, or of time
          EXPECT_NE(std::string(error.what()).find("needs"), std::string::npos) << error.what();
          EXPECT_EQ(std::string(name), "a hub") << kernel.name;
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(GpuSpmvStructures, CompressedStoresStencilsInAFractionOfTheBytes) {
  const CsrMatrix constant = poisson(500, 400, false), random = poisson(500, 400, true);
  EXPECT_LT(share_of_csr(*plan_of("compressed", constant), constant), 0.4);
  EXPECT_LT(share_of_csr(*plan_of("compressed", random), random), 0.85);
  EXPECT_LT(share_of_csr(*plan_of("bsr", blocks_of_three(1200)), blocks_of_three(1200)), 0.8);
}

/// 1,000 rows of 300 entries with `count` different values.
CsrMatrix with_values(Index count) {
  std::vector<Entry> entries;
  for (Index i = 0; i < 1000; ++i) {
    for (Index k = 0; k < 300; ++k) {
      const Index j = 3 * k + i % 3;
      entries.push_back({i, j, 1.0 + static_cast<double>((i * 300 + k) % count) / 512});
    }
  }
  return matrix_of(1000, 900, std::move(entries));
}

TEST_F(GpuSpmvStructures, CompressedHasATableOfUpTo256Values) {
  for (const Index count : {1, 2, 255, 256}) {
    const CsrMatrix matrix = with_values(count);
    const std::string choice = plan_of("compressed", matrix)->choice();
    EXPECT_NE(choice.find(std::to_string(count) + " different values"), std::string::npos)
        << choice;
    KernelCase item;
    item.kinds = kF64Kinds;
    check_kernel_on(find_kernel(gpu::spmv_kernels(), "compressed"), matrix, 1, item);
  }
  for (const Index count : {257, 2000, 300'000}) {
    const std::string choice = plan_of("compressed", with_values(count))->choice();
    EXPECT_EQ(choice.find("different values"), std::string::npos) << choice;
  }
}

/// Block rows that a warp counts in many steps: full, and with other columns in each row.
TEST_F(GpuSpmvStructures, BlocksOfLongRows) {
  const SpmmKernel& kernel = find_kernel(gpu::spmv_kernels(), "bsr");
  KernelCase item;
  item.kinds = kF64Kinds;
  const CsrMatrix full = matrix_where(10, 6001, [](Index, Index) { return true; });
  const std::string choice = plan_of("bsr", full)->choice();
  EXPECT_NE(choice.find("blocks of 2 x 2, 99 % full"), std::string::npos) << choice;
  check_kernel_on(kernel, full, 1, item);
  check_kernel_on(
      kernel,
      matrix_where(11, 5000,
                   [](Index i, Index j) { return j % 7 != i % 4 && (i != 5 || j > 4000); }),
      1, item);
}

/// What one lane would walk along is not looked for: of few rows, that took 0.2 us an entry.
TEST_F(GpuSpmvStructures, AutoLooksAtLongRowsInNoTime) {
  const CsrMatrix matrix = matrix_where(8, 250'000, [](Index i, Index j) { return j % 8 >= i; });
  plan_of("auto", matrix);  // loads kernels
  const auto begin = std::chrono::steady_clock::now();
  const auto plan = plan_of("auto", matrix);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(plan->chosen_kernel(), "jagged");
  EXPECT_LT(seconds.count(), 0.1);
}

TEST_F(GpuSpmvStructures, StencilStoresABitForAnEntryAndValuesOnlyWhereTheyDiffer) {
  const CsrMatrix constant = poisson(500, 400, false), random = poisson(500, 400, true);
  EXPECT_LT(share_of_csr(*plan_of("stencil", constant), constant), 0.02);
  EXPECT_LT(share_of_csr(*plan_of("stencil", random), random), 0.65);
}

/// Masks of 1, 2, 4 and 8 bytes, and of several words; columns that leave x at both ends; diagonals
/// that are constant but for one entry.
TEST_F(GpuSpmvStructures, StencilTakesAnyNumberOfDiagonals) {
  for (const Index diagonals : {1, 8, 9, 16, 17, 32, 33, 64, 65, 130}) {
    for (const bool differs : {false, true}) {
      SCOPED_TRACE(std::to_string(diagonals) + (differs ? " diagonals, one entry differs" : ""));
      std::vector<Entry> entries;
      for (Index i = 0; i < 700; ++i) {
        for (Index d = 0; d < diagonals; ++d) {
          const Index j = i + 3 * d - 150;
          const bool is_gap = random_word(7, i, d) % 5 == 0;
          if (j < 0 || j >= 600 || is_gap) continue;
          entries.push_back({i, j, differs && i == 400 ? 0.5 : 1.0 + d});
        }
      }
      const CsrMatrix matrix = matrix_of(700, 600, std::move(entries));
      const SpmmKernel& kernel = find_kernel(gpu::spmv_kernels(), "stencil");
      for (const Kinds& kinds : kinds_within(kF64 | kWideOperands | kF16)) {
        KernelCase item;
        item.kinds = kinds;
        item.pattern = kinds.b == ValueKind::f64 ? BPattern::not_all_finite : BPattern::integers;
        check_kernel_on(kernel, matrix, 1, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(GpuSpmvStructures, FormatsRefuseWhatWouldExplode) {
  const CsrMatrix matrix = hub(60'000);
  for (const char* kernel : {"ell", "dia", "stencil"}) {
    try {
      plan_of(kernel, matrix);
      FAIL() << kernel << " took a hub";
    } catch (const MemoryError& error) {
      EXPECT_NE(std::string(error.what()).find("bytes of device memory"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(GpuSpmvStructures, OneLaneRefusesARowThatWouldTakeTooLong) {
  const CsrMatrix matrix = hub(60'000);
  for (const char* kernel : {"sell", "compressed", "csr_scalar"}) {
    try {
      plan_of(kernel, matrix);
      FAIL() << kernel << " took a hub";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("us for the longest row"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(GpuSpmvStructures, AutoChoosesByWhatItFindsAndSaysWhy) {
  const auto chosen = [](const CsrMatrix& matrix) {
    const auto plan = plan_of("auto", matrix);
    EXPECT_NE(plan->choice().find("because"), std::string::npos) << plan->choice();
    return plan->chosen_kernel();
  };
  EXPECT_EQ(chosen(hub(60'000)), "jagged");
  EXPECT_EQ(chosen(poisson(1000, 1000, false)), "stencil");
  EXPECT_EQ(chosen(poisson(1000, 1000, true)), "stencil");
}

TEST_F(GpuSpmvStructures, SpmmOfOneColumnFindsTheseKernels) {
  const SpmmProblem problem = problem_of(hub(60'000), {}, 1);
  const auto plan = find_kernel(gpu::spmm_kernels(), "auto").make_plan(problem, {});
  EXPECT_EQ(plan->chosen_kernel(), "spmv.jagged");
  EXPECT_EQ(plan->choice().rfind("spmv.jagged (because", 0), 0u) << plan->choice();
  EXPECT_GT(plan->stored_bytes(), 0u);
}

TEST_F(GpuSpmvStructures, SpmmOfAFewColumnsFindsStencils) {
  KernelCase item;
  item.kinds = kF64Kinds;
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), "auto");
  for (const Index columns : {2, 5, 8}) {
    const SpmmProblem problem = problem_of(poisson(211, 307, false), item, columns);
    EXPECT_EQ(kernel.make_plan(problem, {})->chosen_kernel(), "spmv.stencil");
    check_kernel_on(kernel, problem.a, columns, item);
  }
  const SpmmProblem many = problem_of(poisson(211, 307, false), item, 9);
  EXPECT_NE(kernel.make_plan(many, {})->chosen_kernel(), "spmv.stencil");
}

/// More slices than the blocks of one launch take in their first round, and none left over.
TEST_F(GpuSpmvStructures, EverySliceHasItsTurn) {
  const CsrMatrix matrix = poisson(701, 600, true);
  for (const char* name : {"sell", "compressed"}) {
    const SpmmKernel& kernel = find_kernel(gpu::spmv_kernels(), name);
    for (const Kinds& kinds : kinds_within(kF64 | kF16)) {
      KernelCase item;
      item.kinds = kinds;
      check_kernel_on(kernel, matrix, 1, item);
      if (HasFatalFailure()) return;
    }
  }
}

/// Rows of `shortest` to `longest` entries anywhere, some of them empty, and a few of thousands.
CsrMatrix uneven(Index rows, Index cols, int shortest, int longest) {
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    const auto spread =
        static_cast<std::uint64_t>(longest) + 1 - static_cast<std::uint64_t>(shortest);
    auto length = shortest + static_cast<Index>(below(random_word(5, i, 0), spread));
    if (i % 11 == 3) length = 0;
    if (i % 9001 == 17) length = std::min(cols, 5000);
    const Index apart = cols / std::max(length, 1);
    for (Index k = 0; k < length; ++k) {
      const auto within =
          static_cast<Index>(below(random_word(6, i, k), static_cast<std::uint64_t>(apart)));
      const Index j = k * apart + within;
      entries.push_back({i, j, random_value(7, i, j)});
    }
  }
  return matrix_of(rows, cols, std::move(entries));
}

/// Rows of one entry, and every hundredth one of a thousand.
CsrMatrix mostly_single(Index rows, Index cols) {
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    const Index length = i % 100 == 7 ? 1000 : 1, apart = cols / length;
    const auto first =
        static_cast<Index>(below(random_word(8, i, 0), static_cast<std::uint64_t>(apart)));
    for (Index k = 0; k < length; ++k) {
      entries.push_back({i, first + k * apart, random_value(7, i, k)});
    }
  }
  return matrix_of(rows, cols, std::move(entries));
}

/// jagged in each of its shapes: padded low segments, those of 8 in f32 and f16, and sorted ones of
/// all heights, in one round of blocks and in several.
TEST_F(GpuSpmvStructures, JaggedInAllItsShapes) {
  const SpmmKernel& kernel = find_kernel(gpu::spmv_kernels(), "jagged");
  struct {
    const char* what;
    CsrMatrix matrix;
    const char* shape;  // in f64, on 132 multiprocessors
  } const cases[] = {
      {"small", uneven(3000, 6000, 0, 9), "at most 4 entries, 4 at once, padded"},
      {"short rows", uneven(210'000, 20'000, 6, 13), "at most 4 entries, 4 at once, padded"},
      {"single entries", uneven(500'000, 20'000, 1, 1), "at most 4 entries, 4 at once, columns"},
      {"long rows", uneven(9000, 20'000, 60, 200), "at most 8 entries, 8 at once, columns"},
      {"one round", uneven(60'000, 30'000, 50, 75), "at most 16 entries, 4 at once, columns"},
      {"rounds", uneven(75'000, 30'000, 60, 90), "at most 16 entries, 8 at once, columns"},
      {"few long rows", mostly_single(300'000, 40'000), "at most 8 entries, 8 at once, columns"}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    if (gpu::device_info().multiprocessors == 132) {
      const std::string choice = plan_of("jagged", each.matrix)->choice();
      EXPECT_NE(choice.find(each.shape), std::string::npos) << choice;
    }
    for (const Kinds& kinds : kinds_within(kF64 | kF32 | kF16)) {
      KernelCase item;
      item.kinds = kinds;
      check_kernel_on(kernel, each.matrix, 1, item);
      if (HasFatalFailure()) return;
    }
  }
}

/// Rows of a few entries within `reach` columns, further right the lower the row is; one row of
/// `longest` entries in sequence, and one of two entries that are `apart`.
CsrMatrix near_columns(Index rows, Index cols, Index reach, Index longest, Index apart) {
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    const auto add = [&](Index j) { entries.push_back({i, j, random_value(7, i, j)}); };
    const auto first = static_cast<Index>(Offset{i} * (cols - reach) / rows);
    if (i == rows / 2) {
      for (Index k = 0; k < longest; ++k) add(std::min(first, cols - longest) + k);
    } else if (i == rows / 4) {
      add(std::min(first, cols - 1 - apart));
      add(std::min(first, cols - 1 - apart) + apart);
    } else if (i % 7 != 2) {
      for (Index k = 0; k < 5; ++k) add(first + k * (reach / 5) + i % (reach / 5));
    }
  }
  return matrix_of(rows, cols, std::move(entries));
}

/// jagged counts columns from the first of a piece, in 16 bits, if no piece has two that are
/// further apart.
TEST_F(GpuSpmvStructures, JaggedStoresNearColumnsIn16Bits) {
  const SpmmKernel& kernel = find_kernel(gpu::spmv_kernels(), "jagged");
  constexpr Index kFar = 70'000;
  struct {
    const char* what;
    CsrMatrix matrix;
    bool is_narrow;
  } const cases[] = {
      {"as many columns as 16 bits tell apart", near_columns(300, 65'536, 65'000, 0, 65'535), true},
      {"one more, both ends in one piece", near_columns(300, 65'537, 5000, 0, 65'536), false},
      {"as far apart as can be", near_columns(3, 70'000, 50, 9, 65'535), true},
      {"further", near_columns(3, 70'000, 50, 9, 65'536), false},
      {"a band", near_columns(200'000, 300'000, 40, 30'000, 3000), true},
      {"rows that are cut", near_columns(70'000, 80'000, 300, 65'536, 9), true},
      {"a cut row that is too wide", near_columns(70'000, 80'000, 300, kFar, 9), false},
      {"anywhere", uneven(100'000, 100'000, 5, 9), false}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const std::string choice = plan_of("jagged", each.matrix)->choice();
    EXPECT_EQ(choice.find("columns in 16 bits") != std::string::npos, each.is_narrow) << choice;
    for (const Kinds& kinds : kinds_within(kF64 | kF32 | kF16)) {
      KernelCase item;
      item.kinds = kinds;
      check_kernel_on(kernel, each.matrix, 1, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SanitizerGpuSpmvStructures, JaggedWithMoreColumnsThan16BitsTellApart) {
  const SpmmKernel& kernel = find_kernel(gpu::spmv_kernels(), "jagged");
  check_kernel_on(kernel, near_columns(40, 70'000, 50, 3000, 200), 1, {});
  check_kernel_on(kernel, near_columns(40, 100'000, 50, 3000, 65'536), 1, {});
}

/// Two windows of sorted rows, slices in several stretches, few values, and samples of block rows
/// and of long rows.
TEST_F(SanitizerGpuSpmvStructures, WhatAutoLooksAt) {
  KernelCase item;
  item.kinds = kF64Kinds;
  const CsrMatrix rows = uneven(5'000, 3'000, 1, 30);
  for (const char* name : {"auto", "sell", "compressed"}) {
    check_kernel_on(find_kernel(gpu::spmv_kernels(), name), rows, 1, item);
  }
  check_kernel_on(find_kernel(gpu::spmv_kernels(), "compressed"), with_values(256), 1, item);
  const SpmmKernel& automatic = find_kernel(gpu::spmv_kernels(), "auto");
  check_kernel_on(automatic, blocks_of_three(4'201), 1, item);
  check_kernel_on(automatic, matrix_where(40, 400, [](Index, Index) { return true; }), 1, item);
  check_kernel_on(find_kernel(gpu::spmv_kernels(), "bsr"), blocks_of_three(301), 1, item);
}
TEST_F(SanitizerGpuSpmvStructures, JaggedWithoutPadding) {
  KernelCase item;
  item.alpha = 1.5;
  item.beta = -0.5;
  check_kernel_on(find_kernel(gpu::spmv_kernels(), "jagged"), uneven(110'000, 300, 1, 1), 1, item);
}

/// A row that hundreds of pieces share, again and again: the counters of cut rows start anew.
TEST_F(GpuSpmvStructures, CutRowsGiveTheSameBitsInEveryRun) {
  const SpmmProblem problem = problem_of(hub(300'000), {}, 1);
  DenseMatrix x(problem.input_rows(), 1, ValueKind::f32),
      y(problem.output_rows(), 1, ValueKind::f32), again(problem.output_rows(), 1, ValueKind::f32);
  fill_random(x.view(), 1);
  for (const char* kernel : {"csr_balanced", "jagged"}) {
    SCOPED_TRACE(kernel);
    const auto plan = find_kernel(gpu::spmv_kernels(), kernel).make_plan(problem, {});
    fill_nan(y.view());
    plan->bind(x.view(), y.view());
    plan->multiply(1, 0);
    plan->fetch_output();
    const CheckResult result = check_spmm(problem, x.view(), 1, 0, nullptr, y.view());
    ASSERT_TRUE(result.passed) << result.failure;
    for (int run = 0; run < 20; ++run) {
      fill_nan(again.view());
      plan->bind(x.view(), again.view());
      plan->multiply(1, 0);
      plan->fetch_output();
      ASSERT_EQ(std::memcmp(y.view().data, again.view().data, y.size_bytes()), 0) << "run " << run;
    }
  }
}

}  // namespace csrkit::testing
