// Out of core a product has the bits that it has in core, whatever the limit.
#include "gpu/spmm/out_of_core/plan.h"

#include "core/contract/out_of_core.h"
#include "gpu/plan/kernels.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {
namespace {

/// Rows of 40 to 430 entries, every 50th of `longest`, some of none: cut in all ways that kernels
/// have, by rules that ask for the whole matrix's entries.
CsrMatrix long_rows(Index rows, Index cols, Index longest) {
  std::vector<Offset> lengths;
  Offset nnz = 0;
  Buffer<Offset> offsets(Offset{rows} + 1);
  offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) {
    const Index length = row % 50 == 7   ? longest
                         : row % 11 == 3 ? 0
                                         : 40 + static_cast<Index>(random_word(5, row, 0) % 390);
    nnz += length;
    offsets[Offset{row} + 1] = nnz;
  }
  Buffer<Index> columns(nnz);
  Buffer<float> values(nnz);
  for (Index row = 0; row < rows; ++row) {
    const Offset begin = offsets[row], length = offsets[Offset{row} + 1] - begin;
    for (Offset i = 0; i < length; ++i) {
      columns[begin + i] = static_cast<Index>(i * cols / length);
      values[begin + i] = static_cast<float>(random_value(6, row, i));
    }
  }
  return {rows, cols, std::move(offsets), std::move(columns), ValueArray::from(std::move(values))};
}

class OutOfCoreSpmmTest : public GpuKernelTest {
 protected:
  /// C in core; then out of core within smaller and smaller limits, until none is enough.
  static void check(const std::string& kernel, const CsrMatrix& matrix, const KernelCase& item,
                    Index dense_cols, OutOfCore how, Index most_panel_cols, int most_limits = 3,
                    bool is_panel_major = false) {
    SCOPED_TRACE(kernel + " " + describe(item, dense_cols) + " " + name_of(how));
    const SpmmProblem problem = problem_of(matrix, item, dense_cols);
    GuardedDense b(problem.input_rows(), dense_cols, problem.b, item.padding);
    GuardedDense c(problem.output_rows(), dense_cols, problem.c, item.padding);
    fill_random(b.view(), 21);
    fill_random(c.view(), 22);
    const std::vector<unsigned char> before = c.bytes();
    const auto set_c = [&] {
      std::memcpy(static_cast<unsigned char*>(c.view().data) - GuardedDense::kGuardBytes,
                  before.data(), before.size());
    };
    PlanOptions options;
    options.where.threads = 3;
    const auto in_core = find_kernel(gpu::spmm_kernels(), kernel).make_plan(problem, options);
    in_core->bind(b.view(), c.view());
    in_core->multiply(item.alpha, item.beta);
    in_core->fetch_output();
    const std::vector<unsigned char> expected = c.bytes();

    int limits = 0;
    for (options.memory_limit_bytes = std::uint64_t{8} << 30; limits < most_limits; ++limits) {
      std::unique_ptr<OutOfCoreSpmm> plan;
      try {
        plan = gpu::make_out_of_core_spmm(kernel, problem, options, how, most_panel_cols,
                                          is_panel_major);
      } catch (const MemoryError&) {
        break;
      }
      ASSERT_NE(plan, nullptr);
      set_c();
      plan->bind(b.view(), c.view());
      plan->multiply(item.alpha, item.beta);
      plan->fetch_output();
      ASSERT_TRUE(c.bytes() == expected)
          << plan->choice() << ", limit " << options.memory_limit_bytes;
      set_c();
      plan->bind(b.view(), c.view());
      plan->time_multiply(item.alpha, item.beta);  // buffers and counters are as at first
      plan->fetch_output();
      ASSERT_TRUE(c.bytes() == expected) << "again: " << plan->choice();
      const OutOfCoreReport report = plan->report();
      EXPECT_EQ(report.keeps_a, how == OutOfCore::columns);
      EXPECT_LE(report.device_bytes, options.memory_limit_bytes);
      EXPECT_EQ(plan->phases().peak_bytes, report.device_bytes);
      EXPECT_EQ(report.bytes_out, static_cast<std::uint64_t>(problem.output_rows()) *
                                      static_cast<std::uint64_t>(dense_cols) *
                                      static_cast<std::uint64_t>(size_of(problem.c)));
      const std::uint64_t b_bytes = static_cast<std::uint64_t>(problem.input_rows()) *
                                    static_cast<std::uint64_t>(dense_cols) *
                                    static_cast<std::uint64_t>(size_of(problem.b));
      if (report.keeps_a) {
        EXPECT_EQ(report.bytes_in, b_bytes + (item.beta != 0 ? report.bytes_out : 0));
      } else {
        EXPECT_GE(report.bytes_in, b_bytes);
      }
      options.memory_limit_bytes = report.device_bytes - report.device_bytes / 4;
    }
    EXPECT_GT(limits, 0);
  }

  static void check_both(const std::string& kernel, const CsrMatrix& matrix, const KernelCase& item,
                         Index dense_cols, int most_limits = 3) {
    const Index panel = dense_cols > 40 ? 36 : 0;
    const bool is_panel_major = dense_cols % 3 == 1;
    for (const OutOfCore how : {OutOfCore::columns, OutOfCore::rows}) {
      check(kernel, matrix, item, dense_cols, how, panel, most_limits, is_panel_major);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(OutOfCoreSpmmTest, HasTheBitsOfTheProductInCoreOnEveryMatrix) {
  for (const auto& [name, matrix] : made_battery()) {
    SCOPED_TRACE(name);
    for (const Index dense_cols : {1, 33, 64}) {
      check_both(GetParam(), matrix, {}, dense_cols, 2);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(OutOfCoreSpmmTest, HasThemInEveryKindWidthAndDirection) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), GetParam());
  int turn = 0;
  for (const Kinds& kinds : kinds_within(kernel.capabilities)) {
    for (const Index dense_cols : {1, 2, 7, 16, 20, 31, 66, 130, 256}) {
      KernelCase item;
      item.kinds = kinds;
      item.transpose_a = ++turn % 2 == 0;
      item.padding = turn % 3 == 0 ? 5 : 0;
      if (turn % 4 == 0) {
        item.alpha = 1.5;
        item.beta = -0.25;
      }
      const char* const name = turn % 5 < 2 ? "one_huge_row" : "power_law";
      SCOPED_TRACE(name);
      check_both(GetParam(), battery_matrix(name), item, dense_cols, 2);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(OutOfCoreSpmmTest, HasThemInEverySemiring) {
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    KernelCase item;
    item.semiring = semiring;
    check_both(GetParam(), battery_matrix("power_law"), item, 50);
  }
}

// What decides how rows are cut is the whole matrix: its entries are many where a block's are few.
TEST_P(OutOfCoreSpmmTest, CutsLongRowsOfBlocksAsThoseOfTheWhole) {
  const CsrMatrix medium = long_rows(4000, 5000, 2100), large = long_rows(24000, 30000, 9000);
  ASSERT_GT(medium.nnz(), 700'000);
  ASSERT_GT(large.nnz(), 5'000'000);
  for (const Index dense_cols : {9, 32, 64, 101, 128, 130, 200}) {
    check_both(GetParam(), medium, {}, dense_cols, 6);
    if (HasFatalFailure()) return;
  }
  for (const Index dense_cols : {32, 100}) {
    check_both(GetParam(), large, {}, dense_cols, 5);
    if (HasFatalFailure()) return;
  }
}

// So few of them that slices are narrow: a block has fewer than the whole still.
TEST_P(OutOfCoreSpmmTest, GivesFewLongRowsTheLanesOfTheWhole) {
  const CsrMatrix few = long_rows(130, 5000, 2100), more = long_rows(600, 5000, 2100);
  for (const Index dense_cols : {33, 64, 100, 127, 200}) {
    check_both(GetParam(), few, {}, dense_cols, 4);
    check_both(GetParam(), more, {}, dense_cols, 4);
    if (HasFatalFailure()) return;
  }
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(, OutOfCoreSpmmTest, ::testing::Values("row_bins", "row_panels"),
                         name_of_param);

/// For compute-sanitizer: as little work as reaches every copy and every wait.
class SanitizerGpuOutOfCore : public OutOfCoreSpmmTest {};

TEST_P(SanitizerGpuOutOfCore, SmallAdversarialMatrices) {
  for (const char* name : {"no_rows", "no_cols", "all_rows_empty", "two_huge_rows_in_sequence",
                           "row_lengths_around_vector_widths"}) {
    SCOPED_TRACE(name);
    for (const Index dense_cols : {1, 33, 64, 67}) {
      KernelCase item;
      if (dense_cols == 64) {
        item.alpha = 1.5;
        item.beta = -0.5;
      }
      check_both(GetParam(), battery_matrix(name), item, dense_cols, 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, SanitizerGpuOutOfCore, ::testing::Values("row_bins", "row_panels"),
                         name_of_param);

class OutOfCoreChoice : public GpuTest {
 protected:
  CsrMatrix matrix_ = battery_matrix("power_law");
  SpmmProblem problem_ = default_spmm_problem(convert_values(matrix_, ValueKind::f32), 64);
  PlanOptions options_;
};

TEST_F(OutOfCoreChoice, StaysInCoreWhereThereIsRoomAndWhereItIsAskedTo) {
  const auto make = [&](const std::string& kernel, OutOfCore how) {
    return gpu::make_out_of_core_spmm(kernel, problem_, options_, how, 0, false);
  };
  EXPECT_EQ(make("auto", OutOfCore::automatic), nullptr);
  EXPECT_NE(make("auto", OutOfCore::columns), nullptr);
  options_.memory_limit_bytes = 300000;
  EXPECT_EQ(make("auto", OutOfCore::never), nullptr);
  EXPECT_EQ(make("v1_warp_per_row", OutOfCore::automatic), nullptr);
  EXPECT_THROW(make("v1_warp_per_row", OutOfCore::rows), UsageError);
  const auto plan = make("auto", OutOfCore::automatic);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->chosen_kernel(), gpu::auto_spmm_kernel(problem_));
  options_.memory_limit_bytes = 3000;
  EXPECT_THROW(make("auto", OutOfCore::automatic), MemoryError);
}

TEST_F(OutOfCoreChoice, OneColumnIsNoSpmvOutOfCore) {
  problem_.dense_cols = 1;
  options_.memory_limit_bytes = 200000;
  const auto plan =
      gpu::make_out_of_core_spmm("auto", problem_, options_, OutOfCore::rows, 0, false);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->chosen_kernel(), "row_bins");
  EXPECT_NE(plan->choice().find("works in core only"), std::string::npos);
}

// A matrix that no host holds twice: its entries are never read.
TEST_F(OutOfCoreChoice, SaysHowAFileOfTheTransposeIsMade) {
  const Offset offsets[] = {0, Offset{1} << 50};
  const Index column = 0;
  problem_.a = CsrMatrix(1, kMaxIndex, offsets, &column, ValueKind::none, nullptr, nullptr);
  problem_.transpose_a = true;
  try {
    gpu::make_out_of_core_spmm("auto", problem_, options_, OutOfCore::rows, 0, false);
    FAIL() << "2^50 entries were transposed";
  } catch (const MemoryError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("csr-import A.mtx AT.csr --transpose"), std::string::npos) << message;
  }
}

TEST_F(OutOfCoreChoice, RefusesOperandsOnTheDevice) {
  const auto plan =
      gpu::make_out_of_core_spmm("auto", problem_, options_, OutOfCore::rows, 0, false);
  DenseMatrix b(problem_.input_rows(), 64, ValueKind::f32),
      c(problem_.output_rows(), 64, ValueKind::f32);
  DenseView on_device = c.view();
  on_device.space = MemorySpace::device;
  EXPECT_THROW(plan->bind(b.view(), on_device), UsageError);
  EXPECT_THROW(plan->multiply(), UsageError);
}

}  // namespace
}  // namespace csrkit::testing
