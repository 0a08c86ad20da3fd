// Every CPU SpMM kernel against every matrix of the battery. A new kernel is tested by its line in
// cpu/spmm/kernels.inc: inside its declared capabilities it must satisfy the judge of
// spmm_battery.h, outside it must refuse with UsageError.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "cpu/common/kernels.h"
#include "tests/property/spmm/battery.h"
#include "tests/property/spmm/new_values.h"

namespace csrkit {
namespace {

using namespace csrkit::testing;

Execution with_threads(int threads) {
  Execution where;
  where.threads = threads;
  return where;
}

/// Thread counts that must agree to the bit.
std::vector<Execution> all_teams() {
  return {with_threads(1), with_threads(2), with_threads(3), with_threads(7)};
}

/// A kernel's name, "<name>_<isa>" for the same kernel on an older machine, or
/// "unrolled_<width>" for one of its variants.
struct KernelRun {
  std::string label;
  const SpmmKernel* kernel;
  std::string isa;  // for CSRKIT_CPU_ISA
  std::string variant = {};
};

std::vector<KernelRun> make_kernel_runs() {
  std::vector<KernelRun> runs;
  for (const SpmmKernel& kernel : cpu::spmm_kernels()) {
    runs.push_back({kernel.name, &kernel, ""});
    if (kernel.name == std::string("unrolled")) {
      for (const char* width : {"4", "8", "32"}) {  // 16 is the default
        runs.push_back({std::string("unrolled_") + width, &kernel, "", width});
      }
    }
    const std::string name = kernel.name;
    if (name != "nnz_balanced" && name != "chunked_rows") continue;
    runs.push_back({name + "_portable", &kernel, "portable"});
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c")) {
      runs.push_back({name + "_avx2", &kernel, "avx2"});
    }
#endif
  }
  return runs;
}

/// Made once: thousands of names ask for it whenever the program starts.
const std::vector<KernelRun>& all_kernel_runs() {
  static const std::vector<KernelRun> runs = make_kernel_runs();
  return runs;
}

void use_isa(const std::string& isa) {
  if (isa.empty()) {
    unsetenv("CSRKIT_CPU_ISA");
  } else {
    setenv("CSRKIT_CPU_ISA", isa.c_str(), 1);
  }
}

// ---------------------------------------------------------------- kernel x matrix

class EverySpmmKernel : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  void SetUp() override {
    const KernelRun run = all_kernel_runs()[std::get<0>(GetParam())];
    kernel_ = run.kernel;
    variant_ = run.variant;
    matrix_ = spmm_battery()[std::get<1>(GetParam())].make();
    use_isa(run.isa);
  }
  void TearDown() override { use_isa(""); }

  void expect_the_reference();
  void expect_every_end_of_a_row();
  void expect_scaling_adding_and_transposing();
  void expect_nans_and_infinities_to_pass();
  void expect_other_semirings();

  KernelCase new_case() const {
    KernelCase item;
    item.variant = variant_;
    return item;
  }

  const SpmmKernel* kernel_ = nullptr;
  std::string variant_;
  CsrMatrix matrix_;
};

TEST_P(EverySpmmKernel, IsRight) {
  expect_the_reference();
  if (HasFatalFailure()) return;
  expect_every_end_of_a_row();
  if (HasFatalFailure()) return;
  expect_scaling_adding_and_transposing();
  if (HasFatalFailure()) return;
  expect_nans_and_infinities_to_pass();
  if (HasFatalFailure()) return;
  if (kernel_->can(kSemirings)) expect_other_semirings();
}

void EverySpmmKernel::expect_the_reference() {
  const std::vector<Kinds> all_kinds = kinds_within(kernel_->capabilities);
  ASSERT_FALSE(all_kinds.empty());
  std::size_t turn = 0;
  for (const Index dense_cols : battery_dense_cols()) {
    // f32 at every width, the other kinds in turns, so that every kind meets many widths.
    for (std::size_t n = 0; n < 3; ++n) {
      KernelCase item = new_case();
      item.kinds = n == 0 ? all_kinds.front() : all_kinds[turn++ % all_kinds.size()];
      if (n == 0) item.executions = all_teams();
      if (n == 1 && kernel_->can(kLeadingDimension)) item.padding = 5;
      check_kernel_on(*kernel_, matrix_, dense_cols, item);
      if (HasFatalFailure()) return;
    }
  }
}

/// The last vector of a row holds any number of columns, alone or after others, and a row of B ends
/// on any byte of a cache line.
void EverySpmmKernel::expect_every_end_of_a_row() {
  const std::vector<Kinds> all_kinds = kinds_within(kernel_->capabilities);
  std::size_t turn = 0;
  for (const Index dense_cols : {4, 5, 6, 9, 12, 14, 25, 28, 258, 259}) {
    for (const Kinds& kinds : {all_kinds.front(), all_kinds[turn++ % all_kinds.size()]}) {
      KernelCase item = new_case();
      item.kinds = kinds;
      item.padding = kernel_->can(kLeadingDimension) ? 1 : 0;
      item.executions = {with_threads(1), with_threads(2)};
      check_kernel_on(*kernel_, matrix_, dense_cols, item);
      if (HasFatalFailure()) return;
    }
  }
}

void EverySpmmKernel::expect_scaling_adding_and_transposing() {
  const std::vector<Kinds> all_kinds = kinds_within(kernel_->capabilities);
  std::size_t turn = 0;
  for (const Index dense_cols : {1, 8, 17, 33, 100}) {
    for (const auto& [alpha, beta] :
         {std::pair(-1.25, 0.0), std::pair(1.0, 1.0), std::pair(0.3, -0.7), std::pair(0.0, 2.0)}) {
      for (const bool transpose_a : {false, true}) {
        KernelCase item = new_case();
        item.kinds = all_kinds[turn++ % all_kinds.size()];
        if (kernel_->can(kAlphaBeta)) item.alpha = alpha, item.beta = beta;
        item.transpose_a = transpose_a && kernel_->can(kTranspose);
        item.padding = kernel_->can(kLeadingDimension) ? 3 : 0;
        item.pattern = turn % 3 == 0 ? BPattern::every_size : BPattern::random;
        item.executions = {with_threads(1), with_threads(3)};
        check_kernel_on(*kernel_, matrix_, dense_cols, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

void EverySpmmKernel::expect_nans_and_infinities_to_pass() {
  std::size_t turn = 0;
  for (const Kinds& kinds : kinds_within(kernel_->capabilities)) {
    KernelCase item = new_case();
    item.kinds = kinds;
    item.pattern = BPattern::not_all_finite;
    item.executions = {with_threads(2)};
    check_kernel_on(*kernel_, matrix_, battery_dense_cols()[turn++ % 13], item);
    if (HasFatalFailure()) return;
  }
}

void EverySpmmKernel::expect_other_semirings() {
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const Kinds& kinds : kinds_within(kernel_->capabilities & ~(kF16 | kBf16))) {
      for (const Index dense_cols : {1, 7, 145}) {  // the last: more vectors than a block has
        for (const BPattern pattern : {BPattern::integers, BPattern::not_all_finite}) {
          KernelCase item = new_case();
          item.kinds = kinds;
          item.semiring = semiring;
          item.pattern = pattern;
          item.transpose_a = dense_cols == 7;
          item.executions = {with_threads(1), with_threads(3)};
          check_kernel_on(*kernel_, matrix_, dense_cols, item);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, EverySpmmKernel,
    ::testing::Combine(::testing::Range<std::size_t>(0, all_kernel_runs().size()),
                       ::testing::Range<std::size_t>(0, spmm_battery().size())),
    [](const auto& param_info) {
      return all_kernel_runs()[std::get<0>(param_info.param)].label + "_on_" +
             spmm_battery()[std::get<1>(param_info.param)].name;
    });

// ---------------------------------------------------------------- kernel

class SpmmKernelContract : public ::testing::TestWithParam<std::size_t> {
 protected:
  const SpmmKernel& kernel() const { return cpu::spmm_kernels()[GetParam()]; }
  PlanOptions options() const {
    PlanOptions result;
    result.deterministic = kernel().can(kDeterministic);
    return result;
  }
};

TEST_P(SpmmKernelContract, ProductionKernelsDeclareEverything) {
  if (kernel().role == Role::production) {
    const bool is_for_few_columns = kernel().name == std::string("chunked_rows");
    EXPECT_TRUE(kernel().can(is_for_few_columns ? kF32 | kF64 | kImplicitOnes : kEverything));
  }
  EXPECT_NE(std::string(kernel().summary), "");
}

TEST_P(SpmmKernelContract, OutsideItsCapabilitiesItSaysSo) {
  const CsrMatrix f64 = spmm_battery().back().make();
  const auto expect_refusal = [&](const SpmmProblem& problem, const PlanOptions& with) {
    const Capabilities missing = (needed_for(problem) | needed_for(with)) & ~kernel().capabilities;
    if (missing == 0) {
      EXPECT_NO_THROW(kernel().make_plan(problem, with));
      return;
    }
    try {
      kernel().make_plan(problem, with);
      ADD_FAILURE() << kernel().name << " made a plan for what it cannot do";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(std::string(kernel().name) + " cannot do: ", 0), 0u)
          << error.what();
    }
  };
  for (const Kinds& kinds : kinds_within(kEverything)) {
    KernelCase item;
    item.kinds = kinds;
    expect_refusal(problem_of(f64, item, 4), options());
    item.transpose_a = true;
    expect_refusal(problem_of(f64, item, 4), options());
    if (kinds.b == ValueKind::f16 || kinds.b == ValueKind::bf16) continue;
    item.transpose_a = false;
    item.semiring = Semiring::min_plus;
    expect_refusal(problem_of(f64, item, 4), options());
  }
  PlanOptions scheduled = options();
  scheduled.where.schedule = Schedule::guided;
  expect_refusal(default_spmm_problem(f64, 4), scheduled);
  PlanOptions chunked = options();
  chunked.where.chunk = 8;
  expect_refusal(default_spmm_problem(f64, 4), chunked);
}

TEST_P(SpmmKernelContract, EveryScheduleGivesTheSameBits) {
  if (!kernel().can(kSchedule)) return;
  KernelCase item;
  for (const Schedule schedule :
       {Schedule::automatic, Schedule::static_, Schedule::dynamic, Schedule::guided}) {
    for (const int chunk : {0, 1, 7}) {
      for (const int threads : {1, 3}) {
        Execution where = with_threads(threads);
        where.schedule = schedule;
        where.chunk = chunk;
        item.executions.push_back(where);
      }
    }
  }
  for (const BatteryMatrix& entry : spmm_battery()) {
    SCOPED_TRACE(entry.name);
    check_kernel_on(kernel(), entry.make(), 17, item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(SpmmKernelContract, TheIdentityIsNeutral) {
  const Index size = 1031;
  for (const Kinds& kinds : kinds_within(kernel().capabilities)) {
    if (kinds.b != kinds.c) continue;
    for (const Index dense_cols : {1, 5, 64}) {
      KernelCase item;
      item.kinds = kinds;
      const SpmmProblem problem =
          problem_of(identity_matrix(size, ValueKind::f64), item, dense_cols);
      DenseMatrix b(size, dense_cols, kinds.b), c(size, dense_cols, kinds.c);
      fill_random(b.view(), 5);
      fill_nan(c.view());
      const auto plan = kernel().make_plan(problem, options());
      plan->bind(b.view(), c.view());
      plan->multiply();
      plan->fetch_output();
      ASSERT_EQ(std::memcmp(b.view().data, c.view().data, b.size_bytes()), 0)
          << kernel().name << " " << name_of(kinds) << " K=" << dense_cols;
    }
  }
}

TEST_P(SpmmKernelContract, APlanServesManyMultiplications) {
  const CsrMatrix matrix = convert_values(random_matrix(90, 70, 0.2), ValueKind::f32);
  const SpmmProblem problem = default_spmm_problem(matrix, 33);
  const auto plan = kernel().make_plan(problem, options());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    DenseMatrix b(70, 33, ValueKind::f32), c(90, 33, ValueKind::f32);
    fill_random(b.view(), seed);
    fill_nan(c.view());
    plan->bind(b.view(), c.view());
    if (seed == 1) plan->evict_caches();
    EXPECT_GT(plan->time_multiply(), 0);
    plan->fetch_output();
    const CheckResult result =
        check_spmm(problem, b.view(), 1, 0, nullptr, std::as_const(c).view());
    EXPECT_TRUE(result.passed) << result.failure;
  }
  EXPECT_EQ(plan->phases().download_seconds, 0);
}

TEST_P(SpmmKernelContract, TakesNewValuesOrRefuses) {
  check_new_values(kernel(), options(), 33, "nnz_balanced");
}

TEST_P(SpmmKernelContract, RefusesWhatDoesNotFit) {
  const CsrMatrix matrix = convert_values(random_matrix(9, 7, 0.5), ValueKind::f32);
  const SpmmProblem problem = default_spmm_problem(matrix, 4);
  const auto plan = kernel().make_plan(problem, options());
  DenseMatrix b(7, 4, ValueKind::f32), c(9, 4, ValueKind::f32);
  EXPECT_THROW(plan->multiply(), UsageError) << "nothing is bound yet";
  EXPECT_THROW(plan->bind(DenseMatrix(8, 4, ValueKind::f32).view(), c.view()), UsageError);
  EXPECT_THROW(plan->bind(DenseMatrix(7, 5, ValueKind::f32).view(), c.view()), UsageError);
  EXPECT_THROW(plan->bind(DenseMatrix(7, 4, ValueKind::f64).view(), c.view()), UsageError);
  EXPECT_THROW(plan->bind(b.view(), DenseMatrix(9, 3, ValueKind::f32).view()), UsageError);
  ConstDenseView on_device = b.view();
  on_device.space = MemorySpace::device;
  EXPECT_THROW(plan->bind(on_device, c.view()), UsageError);
  SpmmProblem none = problem;
  none.dense_cols = 0;
  EXPECT_THROW(kernel().make_plan(none, options()), UsageError);
  if (kernel().can(kSemirings)) {
    SpmmProblem semiring = problem;
    semiring.semiring = Semiring::max_times;
    const auto other = kernel().make_plan(semiring, options());
    other->bind(b.view(), c.view());
    EXPECT_THROW(other->multiply(2), UsageError);
  }
}

TEST_P(SpmmKernelContract, ForecastsItsMemory) {
  if (!kernel().can(kTranspose)) return;
  SpmmProblem problem =
      default_spmm_problem(convert_values(random_matrix(300, 200, 0.3), ValueKind::f32), 16);
  problem.transpose_a = true;
  PlanOptions limited = options();
  limited.memory_limit_bytes = 1000;
  try {
    kernel().make_plan(problem, limited);
    ADD_FAILURE() << "a transpose of 18,000 nonzeros fits 1000 bytes?";
  } catch (const MemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("limit is 1000 bytes"), std::string::npos)
        << error.what();
  }
  limited.memory_limit_bytes = 10u << 20;
  const auto plan = kernel().make_plan(problem, limited);
  if (kernel().name == std::string("column_ranges")) {
    EXPECT_LT(plan->phases().peak_bytes, problem.a.size_bytes() / 10) << "it makes no A^T";
  } else if (kernel().name != std::string("auto")) {
    EXPECT_GE(plan->phases().peak_bytes, problem.a.size_bytes() / 2);
  }
  EXPECT_LE(plan->phases().peak_bytes, limited.memory_limit_bytes);
}

// Positions in B and C above 2^31 elements: memory that is reserved and touched where rows are.
TEST_P(SpmmKernelContract, CountsElementsIn64Bits) {
  if (!kernel().can(kLeadingDimension)) return;
  constexpr Index kRows = 5, kDenseCols = 3;
  constexpr Offset kLeadingDim = Offset{1} << 30;
  const std::size_t bytes = static_cast<std::size_t>(kRows) * kLeadingDim * sizeof(float);
  const auto reserve = [&] {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return std::shared_ptr<void>(memory, [bytes](void* address) {
      if (address != MAP_FAILED) munmap(address, bytes);
    });
  };
  const auto b_memory = reserve(), c_memory = reserve();
  if (b_memory.get() == MAP_FAILED || c_memory.get() == MAP_FAILED) {
    GTEST_SKIP() << "the system does not reserve 40 GB of address space";
  }
  const DenseView b{b_memory.get(), ValueKind::f32, kRows, kDenseCols, kLeadingDim};
  const DenseView c{c_memory.get(), ValueKind::f32, kRows, kDenseCols, kLeadingDim};
  fill_random(b, 9);
  const SpmmProblem problem = default_spmm_problem(
      convert_values(random_matrix(kRows, kRows, 0.6), ValueKind::f32), kDenseCols);
  const auto plan = kernel().make_plan(problem, options());
  plan->bind(b, c);
  plan->multiply();
  plan->fetch_output();
  const CheckResult result = check_spmm(problem, b, 1, 0, nullptr, c);
  EXPECT_TRUE(result.passed) << result.failure;
}

INSTANTIATE_TEST_SUITE_P(Cpu, SpmmKernelContract,
                         ::testing::Range<std::size_t>(0, cpu::spmm_kernels().size()),
                         [](const auto& param_info) {
                           return std::string(cpu::spmm_kernels()[param_info.param].name);
                         });

TEST(SpmmKernelTable, NamesAreUniqueAndAutoIsThere) {
  std::map<std::string, int> seen;
  for (const SpmmKernel& kernel : cpu::spmm_kernels()) ++seen[kernel.name];
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
  EXPECT_EQ(find_kernel(cpu::spmm_kernels(), "auto").role, Role::production);
  EXPECT_EQ(find_kernel(cpu::spmm_kernels(), "reference").role, Role::reference);
  EXPECT_THROW(find_kernel(cpu::spmm_kernels(), "fastest"), UsageError);
}

}  // namespace
}  // namespace csrkit
