// Registry x battery x widths x kinds: a kernel is tested by its line in gpu/sddmm/kernels.inc.

#include "gpu/device/device_buffer.h"
#include "gpu/device/streams/stream.h"
#include "gpu/plan/kernels.h"
#include "gpu/sddmm/dense_tiles.h"
#include "tests/gpu/operator_checks.h"
#include "tests/property/sddmm/battery.h"

namespace csrkit::testing {

namespace {

std::vector<std::string> names_with(Capabilities wanted, bool with_vendor = true) {
  std::vector<std::string> names;
  for (const SddmmKernel& kernel : gpu::sddmm_kernels()) {
    if (kernel.can(wanted) && (with_vendor || kernel.role != Role::vendor)) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

class EveryGpuSddmmKernel : public GpuKernelTest {
 protected:
  const SddmmKernel& kernel() const { return find_kernel(gpu::sddmm_kernels(), GetParam()); }

  std::vector<SddmmCase> kinds() const { return sddmm_kinds_within(kernel().capabilities); }

  void check_battery(const std::vector<Index>& widths, const SddmmCase& item) {
    on_test_threads(made_battery().size() * widths.size(), [&](std::size_t i) {
      const auto& [name, matrix] = made_battery()[i / widths.size()];
      SCOPED_TRACE(name);
      if (!kernel().can(kIeeeSpecials) && (name == "subnormal_values" || matrix.rows() == 0))
        return;
      check_sddmm_kernel_on(kernel(), matrix, widths[i % widths.size()], item);
    });
  }
};

/// X, Y and C in the middle of bigger arrays on the device: C as `c`, one row.
struct DeviceOperands {
  DeviceSlice x, y, c;

  DeviceOperands(const SddmmProblem& problem, Offset shift, Offset padding, cudaStream_t stream)
      : x(problem.a.rows(), problem.dense_cols, problem.x, shift, padding),
        y(problem.a.cols(), problem.dense_cols, problem.x, shift, padding),
        c(1, static_cast<Index>(problem.a.nnz()), problem.c, shift, 0) {
    fill_random(x.host(), 21);
    fill_random(y.host(), 22);
    x.upload(stream);
    y.upload(stream);
    c.upload(stream);
  }

  ValuesView values() const {
    return {c.device().data, c.device().kind, c.device().cols, MemorySpace::device};
  }
  void check(const SddmmProblem& problem, double alpha, cudaStream_t stream) {
    ASSERT_TRUE(x.is_untouched(stream)) << "X was changed";
    ASSERT_TRUE(y.is_untouched(stream)) << "Y was changed";
    ASSERT_TRUE(c.download_and_check_surroundings(stream)) << "written outside of C";
    const CheckResult result =
        check_sddmm(problem, x.host(), y.host(), alpha, 0, nullptr, values_of(c.host()));
    ASSERT_TRUE(result.passed) << result.failure;
  }
};

/// Long rows, of many lengths: pieces of them are done in the order of their columns.
const CsrMatrix& long_rows() {
  static const CsrMatrix matrix = matrix_where(150, 333, [](Index i, Index j) {
    return i % 7 == 3 ? j % 61 == i % 61 : (i * 37 + j * 11) % 5 < 2 || j % 97 == 5;
  });
  return matrix;
}

/// Runs of 1 to 15 rows. Rows of a run have the same columns, nearly so in every fourth run, and
/// none in every sixth.
const CsrMatrix& rows_that_share_columns() {
  static const CsrMatrix matrix = matrix_where(120, 150, [](Index i, Index j) {
    Index run = 0;
    while ((run + 1) * (run + 2) / 2 <= i) ++run;
    if (run % 6 == 5 || (run % 4 == 3 && (i * 5 + j) % 13 == 0)) return false;
    return (run * 37 + j * 11) % 7 < 3;
  });
  return matrix;
}

/// The plan's problem may have A on the device; `problem` has it on the host, for the judge.
void check_sddmm_on_slices(const SddmmKernel& kernel, const SddmmProblem& problem,
                           const CsrMatrix& a, Offset shift, Offset padding) {
  SCOPED_TRACE(std::string(kernel.name) + " shift " + std::to_string(shift) + " padding " +
               std::to_string(padding) + " K=" + std::to_string(problem.dense_cols));
  const gpu::Stream stream(nullptr);
  PlanOptions options;
  options.deterministic = kernel.can(kDeterministic);
  options.where.stream = stream.get();
  DeviceOperands operands(problem, shift, padding, stream.get());
  SddmmProblem planned = problem;
  planned.a = a;
  const auto plan = kernel.make_plan(planned, options);
  if (!kernel.can(kAnyAlignment) &&
      !(is_vector_aligned(operands.x.device()) && is_vector_aligned(operands.y.device()))) {
    ASSERT_THROW(plan->bind(operands.x.device(), operands.y.device(), operands.values()),
                 UsageError);
    return;
  }
  plan->bind(operands.x.device(), operands.y.device(), operands.values());
  ASSERT_TRUE(operands.c.is_untouched(stream.get())) << "C was written before multiply";
  plan->multiply(1.5, 0);
  plan->fetch_output();
  operands.check(problem, 1.5, stream.get());
}

}  // namespace

TEST_P(EveryGpuSddmmKernel, EqualsTheReferenceOnEveryMatrixAndWidth) {
  check_battery({1, 3, 8, 16, 33, 41, 64, 100}, {});
}

TEST_P(EveryGpuSddmmKernel, EqualsTheReferenceInEveryWidth) {
  const CsrMatrix a = matrix_where(40, 40, [](Index i, Index j) { return j < i; });
  std::vector<Index> widths = sddmm_dense_cols();
  for (const Index more : {128, 256, 512, 514, 1024}) widths.push_back(more);
  for (SddmmCase item : kinds()) {
    if (item.multiplies_by_a) continue;
    for (const Offset padding : {0, 1, 4, 8}) {
      item.padding = padding;
      on_test_threads(widths.size(),
                      [&](std::size_t i) { check_sddmm_kernel_on(kernel(), a, widths[i], item); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSddmmKernel, EqualsTheReferenceInEveryKindAndScale) {
  for (SddmmCase item : kinds()) {
    for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {-0.75, 0.0}, {1.0, 1.0}, {2.5, -0.5}}) {
      item.alpha = alpha;
      item.beta = beta;
      for (const char* name : {"power_law", "every_other_row_empty", "long_runs_of_empty_rows"}) {
        check_sddmm_kernel_on(kernel(), battery_matrix(name), 33, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryGpuSddmmKernel, EqualsTheReferenceOnLongRows) {
  for (const SddmmCase& item : kinds()) {
    for (const Index dense_cols : {32, 33, 64, 65, 100, 128, 256, 602}) {
      check_sddmm_kernel_on(kernel(), long_rows(), dense_cols, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSddmmKernel, EqualsTheReferenceOnRowsThatShareColumns) {
  const CsrMatrix full = matrix_where(41, 70, [](Index, Index) { return true; });
  for (SddmmCase item : kinds()) {
    for (const Index dense_cols : {1, 4, 31, 32, 33, 64, 66, 100, 128, 200, 602}) {
      check_sddmm_kernel_on(kernel(), rows_that_share_columns(), dense_cols, item);
      if (HasFatalFailure()) return;
      item.alpha = 1.5;
      item.beta = item.beta == 0 ? -0.5 : 0;
      check_sddmm_kernel_on(kernel(), full, dense_cols, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSddmmKernel, KeepsInfinitiesAndNans) {
  if (!kernel().can(kIeeeSpecials)) return;
  for (SddmmCase item : kinds()) {
    item.pattern = BPattern::not_all_finite;
    for (const Index dense_cols : {1, 17, 64, 602}) {
      check_sddmm_kernel_on(kernel(), battery_matrix("power_law"), dense_cols, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSddmmKernel, WorksInTheMiddleOfBiggerArrays) {
  for (SddmmCase item : kinds()) {
    if (item.multiplies_by_a && item.a != ValueKind::f32) continue;
    for (const Index dense_cols : {1, 8, 32, 41, 64}) {
      const SddmmProblem problem = problem_of(battery_matrix("power_law"), item, dense_cols);
      for (const auto& [shift, padding] :
           {std::pair<Offset, Offset>(0, 0), {1, 2}, {4, 4}, {8, 0}}) {
        check_sddmm_on_slices(kernel(), problem, problem.a, shift, padding);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryGpuSddmmKernel, RefusesWhatDoesNotFit) {
  const SddmmProblem problem =
      default_sddmm_problem(convert_values(random_matrix(9, 7, 0.5), ValueKind::f32), 4);
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  const auto plan = kernel().make_plan(problem, options);
  DenseMatrix x(9, 4, ValueKind::f32), y(7, 4, ValueKind::f32);
  DenseMatrix c(1, static_cast<Index>(problem.a.nnz()), ValueKind::f32);
  EXPECT_THROW(plan->multiply(), UsageError) << "nothing is bound yet";
  EXPECT_THROW(plan->bind(y.view(), x.view(), values_of(c.view())), UsageError);
  ConstDenseView unknown = x.view();
  unknown.space = MemorySpace::device;
  EXPECT_THROW(plan->bind(unknown, y.view(), values_of(c.view())), UsageError);
  options.memory_limit_bytes = 64;
  EXPECT_THROW(kernel().make_plan(problem, options), MemoryError);
}

INSTANTIATE_TEST_SUITE_P(, EveryGpuSddmmKernel, ::testing::ValuesIn(names_with(0)), name_of_param);

class GpuSddmmOnDevice : public EveryGpuSddmmKernel {};

TEST_P(GpuSddmmOnDevice, UsesAMatrixThatIsThere) {
  SddmmCase item;
  item.multiplies_by_a = true;
  for (const char* name : {"power_law", "all_rows_empty", "long_runs_of_empty_rows"}) {
    const SddmmProblem problem = problem_of(battery_matrix(name), item, 32);
    check_sddmm_on_slices(kernel(), problem, on_device(problem.a), 0, 0);
  }
}

TEST_P(GpuSddmmOnDevice, IsCapturedInAGraph) {
  const SddmmProblem problem = problem_of(battery_matrix("power_law"), SddmmCase{}, 64);
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    PlanOptions options;
    options.where.stream = stream;
    DeviceOperands operands(problem, 0, 0, stream);
    const auto plan = kernel().make_plan(problem, options);
    plan->bind(operands.x.device(), operands.y.device(), operands.values());
    plan->wait();
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    plan->multiply(2, 0);
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t replay = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
    ASSERT_TRUE(operands.c.is_untouched(stream)) << "C was written by the capture";
    CHECK_CUDA(cudaGraphLaunch(replay, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    operands.check(problem, 2, stream);
    CHECK_CUDA(cudaGraphExecDestroy(replay));
    CHECK_CUDA(cudaGraphDestroy(graph));
  }
  CHECK_CUDA(cudaStreamDestroy(stream));
}

INSTANTIATE_TEST_SUITE_P(, GpuSddmmOnDevice,
                         ::testing::ValuesIn(names_with(kDeviceMatrix | kGraphCapture)),
                         name_of_param);

/// Small and mean, for compute-sanitizer. Our kernels only: a vendor's are not for us to mend.
class SanitizerGpuSddmm : public EveryGpuSddmmKernel {};

TEST_P(SanitizerGpuSddmm, SmallAdversarialMatrices) {
  for (const char* name :
       {"no_rows", "no_cols", "all_rows_empty", "every_other_row_empty", "dense_block",
        "tridiagonal", "wide", "two_huge_rows_in_sequence", "long_runs_of_empty_rows"}) {
    SCOPED_TRACE(name);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
      SddmmCase item;
      item.x = item.c = kind;
      item.a = ValueKind::f32;
      item.multiplies_by_a = true;
      item.alpha = 1.5;
      for (const Index dense_cols : {7, 32}) {
        check_sddmm_kernel_on(kernel(), battery_matrix(name), dense_cols, item);
        item.beta = -0.5;
      }
    }
  }
  // Every shape of the kernels: lanes, loads, columns kept in registers or not.
  for (const Index dense_cols : {1, 4, 8, 16, 33, 64, 65, 128, 132, 256, 512, 602, 1024}) {
    check_sddmm_kernel_on(kernel(), battery_matrix("just_above_a_warp"), dense_cols, {});
  }
  for (const Index dense_cols : {41, 128, 602}) {
    check_sddmm_kernel_on(kernel(), long_rows(), dense_cols, {});
  }
  for (const Index dense_cols : {7, 32, 128, 202}) {
    check_sddmm_kernel_on(kernel(), rows_that_share_columns(), dense_cols, {});
  }
  const SddmmProblem problem = problem_of(battery_matrix("wide"), SddmmCase{}, 16);
  check_sddmm_on_slices(kernel(), problem, problem.a, 1, 2);
}

INSTANTIATE_TEST_SUITE_P(, SanitizerGpuSddmm, ::testing::ValuesIn(names_with(0, false)),
                         name_of_param);

/// Distances of rows that do not fit into 32 bits.
TEST_P(EveryGpuSddmmKernel, ReadsRowsOfXThatLieFarApart) {
  if (kernel().role == Role::vendor) return;
  constexpr Index kCols = 70;
  constexpr Offset kFar = (Offset{1} << 30) + 12;  // elements
  const SddmmProblem problem = problem_of(
      matrix_where(2, 40, [](Index i, Index j) { return (i + j) % 3 != 0; }), SddmmCase{}, kCols);
  DenseMatrix x(2, kCols, ValueKind::f32), y(40, kCols, ValueKind::f32);
  DenseMatrix c(1, static_cast<Index>(problem.a.nnz()), ValueKind::f32);
  fill_random(x.view(), 21);
  fill_random(y.view(), 22);
  const gpu::Stream stream(nullptr);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const gpu::DeviceBuffer<float> far_x(memory, kFar + kCols, "X");
  for (const Index row : {0, 1}) {
    CHECK_CUDA(cudaMemcpyAsync(far_x.data() + row * kFar, x.view().as<float>() + row * kCols,
                               kCols * sizeof(float), cudaMemcpyHostToDevice, stream.get()));
  }
  PlanOptions options;
  options.where.stream = stream.get();
  const auto plan = kernel().make_plan(problem, options);
  ConstDenseView far_view = x.view();
  far_view.data = far_x.data();
  far_view.leading_dim = kFar;
  far_view.space = MemorySpace::device;
  plan->bind(far_view, y.view(), values_of(c.view()));
  plan->multiply(1, 0);
  plan->fetch_output();
  const CheckResult result =
      check_sddmm(problem, x.view(), y.view(), 1, 0, nullptr, values_of(c.view()));
  ASSERT_TRUE(result.passed) << result.failure;
}

using GpuSddmmAuto = GpuTest;

TEST_F(GpuSddmmAuto, TakesWhatSuitsThePattern) {
  const SddmmKernel& kernel = find_kernel(gpu::sddmm_kernels(), "auto");
  const auto chosen_for = [&](const CsrMatrix& a, std::uint64_t limit) {
    PlanOptions options;
    options.memory_limit_bytes = limit;
    return kernel.make_plan(problem_of(a, SddmmCase{}, 128), options)->chosen_kernel();
  };
  const auto full = [](Index size) {
    return matrix_where(size, size, [](Index, Index) { return true; });
  };
  const auto every_sixteenth = [](Index same_rows) {
    return matrix_where(1024, 2048,
                        [=](Index i, Index j) { return (i / same_rows * 37 + j * 11) % 16 == 0; });
  };
  EXPECT_EQ(chosen_for(full(400), 0), "dense_tiles");
  EXPECT_EQ(chosen_for(full(200), 0), "row_groups") << "small";
  const auto half = [](Index cols) {
    return matrix_where(40'000, cols, [](Index i, Index j) { return (i / 5 + j) % 2 == 0; });
  };
  EXPECT_EQ(chosen_for(half(60), 0), "dense_tiles");
  EXPECT_EQ(chosen_for(half(16), 0), "row_groups") << "most of a tile is beyond A";
  EXPECT_EQ(chosen_for(every_sixteenth(4), 0), "row_panels");
  EXPECT_EQ(chosen_for(every_sixteenth(1), 0), "row_groups");
  // Room for row_groups, but not for lists of panels beside the operands.
  constexpr std::uint64_t kEntries = 1024 * 128;
  const std::uint64_t operands = (1024 + 2048) * 128 * 4 + kEntries * 4;
  EXPECT_EQ(chosen_for(every_sixteenth(4), operands + kEntries * 8), "row_groups");
}

TEST(SddmmDenseTiling, CountsPlacesBeyondTheEdges) {
  const gpu::sddmm::DenseTiling narrow(65'536, 16), small(500, 500);
  EXPECT_EQ(narrow.edge, 64);
  EXPECT_EQ(narrow.tiles(), 1'024);
  EXPECT_EQ(narrow.places(), 65'536.0 * 64);
  EXPECT_EQ(small.edge, 32);
  EXPECT_EQ(small.places(), 512.0 * 512);
}

TEST(GpuSddmmTable, NamesAreUniqueAndProductionDoesEverything) {
  std::vector<std::string> names = names_with(0);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const SddmmKernel& kernel : gpu::sddmm_kernels()) {
    EXPECT_EQ(kernel.can(kEverySddmm), kernel.role == Role::production) << kernel.name;
  }
}

TEST(GpuSddmmTable, WithoutAGpuEveryKernelSaysSo) {
  if (missing_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  PlanOptions options;
  options.deterministic = false;
  for (const SddmmKernel& kernel : gpu::sddmm_kernels()) {
    EXPECT_THROW(kernel.make_plan(problem_of(battery_matrix("one_entry"), SddmmCase{}, 1), options),
                 NoDeviceError)
        << kernel.name;
  }
}

}  // namespace csrkit::testing
