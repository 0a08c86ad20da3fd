#include "tools/operation/product/operation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "api/rooms.h"
#include "core/base/error.h"
#include "cpu/common/kernels.h"
#include "tools/operation/operations.h"
#include "tools/operation/operations/spgemm.h"
#include "tools/operation/operations/spmm.h"

namespace csrkit {
namespace {

CsrMatrix two_by_two() {
  const Offset offsets[] = {0, 1, 3};
  const Index cols[] = {1, 0, 1};
  const float values[] = {2, 3, 4};
  return {2, 2, Buffer<Offset>::copy_of(offsets, 3), Buffer<Index>::copy_of(cols, 3),
          ValueArray::from(Buffer<float>::copy_of(values, 3))};
}

/// A plan that is wrong on purpose: it never writes its output.
class LazyPlan : public SpmmPlan {
 public:
  void bind(ConstDenseView, DenseView) override {}
  void multiply(double, double) override {}
  double time_multiply(double, double) override {
    ADD_FAILURE() << "a wrong product must not be timed";
    return 1;
  }
  void evict_caches() override {}
  OperatorShape shape() const override { return {}; }
  Phases phases() const override { return {}; }
};

std::unique_ptr<SpmmPlan> make_lazy(const SpmmProblem&, const PlanOptions&) {
  return std::make_unique<LazyPlan>();
}

const KernelTable<Spmm>& lazy_table() {
  static const KernelTable<Spmm> table = {
      {{"lazy", Role::ladder, kEverything, "writes nothing"}, make_lazy}};
  return table;
}

Operands both(const CsrMatrix& matrix) { return {matrix, matrix}; }

TEST(Operation, ARightProductIsTimed) {
  Request request;
  request.dense_cols = 3;
  request.stop.repeat = 4;
  request.check = CheckKind::full;
  for (const Operation* operation : operations()) {
    const NamedKernel kernel = find_kernel(*operation, kCpu, "auto");
    const auto run = operation->prepare(kernel, both(two_by_two()), request);
    const Outcome outcome = measured(*run, request);
    EXPECT_TRUE(outcome.passed());
    EXPECT_EQ(outcome.samples.seconds.size(), 4u);
    const Json json = to_json(outcome);
    for (const char* key :
         {"rows", "cols", "nnz", "kinds", "deterministic", "choice", "samples_seconds",
          "median_seconds", "min_seconds", "spread", "median_interval_seconds", "gflops", "cost",
          "phases", "peak_bytes", "check"}) {
      EXPECT_TRUE(json.contains(key)) << operation->name() << ": " << key;
    }
    EXPECT_EQ(json["nnz"], 3);
    const std::string room = std::string("cpu.") + operation->name() + ".";
    EXPECT_EQ(json["kernel_run"].get<std::string>().rfind(room, 0), 0u) << "auto says what ran";
    EXPECT_EQ(json["kinds"]["a"], "f32");
    // Three nonzeros by three dense columns, or one; A * A makes 1 * 2 + 2 * 3 products.
    const std::map<std::string, double> products = {
        {"spmm", 3 * 3}, {"spmv", 3}, {"spgemm", 5}, {"sddmm", 3 * 3}};
    EXPECT_EQ(json["cost"]["flops"], 2 * products.at(operation->name()));
  }
}

TEST(Operation, AWrongProductIsNeitherTimedNorWritten) {
  const auto operation = make_spmm_operation({&lazy_table});
  Request request;
  request.check = CheckKind::full;
  request.output = testing::TempDir() + std::to_string(getpid()) + "_csrkit_wrong_product.npy";
  const auto run =
      operation->prepare(find_kernel(*operation, kCpu, "lazy"), both(two_by_two()), request);
  const Outcome outcome = measured(*run, request);
  EXPECT_FALSE(outcome.passed());
  EXPECT_TRUE(outcome.samples.seconds.empty());
  EXPECT_NE(check_text(outcome.check).find("FAILED"), std::string::npos);
  EXPECT_EQ(fopen(request.output.c_str(), "r"), nullptr);
}

TEST(Operation, OnePlanServesWarmAndColdCaches) {
  Request request;
  request.stop.repeat = 2;
  for (const Operation* operation : operations()) {
    const auto run =
        operation->prepare(find_kernel(*operation, kCpu, "auto"), both(two_by_two()), request);
    for (const bool is_cold : {false, true, false}) {
      request.is_cold = is_cold;
      EXPECT_EQ(measured(*run, request).samples.seconds.size(), 2u);
    }
  }
}

TEST(Operation, SampledMeansSampledHoweverSmall) {
  Request request;
  request.check = CheckKind::sampled;
  for (const Operation* operation : operations()) {
    const auto run =
        operation->prepare(find_kernel(*operation, kCpu, "auto"), both(two_by_two()), request);
    EXPECT_TRUE(run->outcome.check->sampled) << operation->name();
    EXPECT_EQ(run->outcome.check->rows_checked, 2) << operation->name();
  }
}

TEST(Operation, ReuseIsRefusedWhereTheKernelCannot) {
  const KernelTable<Spgemm>& kernels = cpu::spgemm_kernels();
  const KernelInfo without{"auto", Role::production, kSpgemmEverything & ~kReuse, ""};
  static KernelTable<Spgemm> table;
  table = {{without, find_kernel(kernels, "auto").make}};
  const auto operation =
      make_spgemm_operation({[]() -> const KernelTable<Spgemm>& { return table; }});
  Request request;
  request.measures_reuse = true;
  EXPECT_THROW(
      operation->prepare(find_kernel(*operation, kCpu, "auto"), both(two_by_two()), request),
      UsageError);
}

}  // namespace
}  // namespace csrkit
