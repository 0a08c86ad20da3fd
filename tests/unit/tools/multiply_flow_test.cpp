#include "tools/support/multiply_flow.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tools/support/kernel_room.h"

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
  Phases phases() const override { return {}; }
};

std::unique_ptr<SpmmPlan> make_lazy(const SpmmProblem&, const PlanOptions&) {
  return std::make_unique<LazyPlan>();
}

TEST(MultiplyFlow, ARightProductIsTimed) {
  MultiplyRequest request;
  request.dense_cols = 3;
  request.stop.repeat = 4;
  request.check = CheckKind::full;
  const MultiplyOutcome outcome = run_multiply(cpu_spmm_room().find("auto"), two_by_two(), request);
  EXPECT_TRUE(outcome.passed());
  EXPECT_EQ(outcome.samples.seconds.size(), 4u);
  EXPECT_EQ(outcome.cost.flops, 2.0 * 3 * 3);
}

TEST(MultiplyFlow, AWrongProductIsNeitherTimedNorWritten) {
  const SpmmKernel lazy{"lazy", Role::ladder, kEverything, "writes nothing", make_lazy};
  MultiplyRequest request;
  request.check = CheckKind::full;
  request.output = testing::TempDir() + "csrkit_wrong_product.npy";
  const MultiplyOutcome outcome = run_multiply(lazy, two_by_two(), request);
  EXPECT_FALSE(outcome.passed());
  EXPECT_TRUE(outcome.samples.seconds.empty());
  EXPECT_NE(check_text(outcome.check).find("FAILED"), std::string::npos);
  EXPECT_EQ(fopen(request.output.c_str(), "r"), nullptr);
}

TEST(KernelRoom, AcceptsEveryFormOfAName) {
  const KernelRoom room = cpu_spmm_room();
  const SpmmKernel& kernel = room.find("row_loop");
  EXPECT_EQ(&room.find("cpu.row_loop"), &kernel);
  EXPECT_EQ(&room.find("cpu.spmm.row_loop"), &kernel);
  EXPECT_EQ(room.full_name(kernel), "cpu.spmm.row_loop");
  EXPECT_THROW(room.find("gpu.row_loop"), UsageError);
}

}  // namespace
}  // namespace csrkit
