// Every bin of row_bins on small matrices: the battery once more, with limits divided and with whole
// families of bins left out.

#include "gpu/spgemm/plan.h"
#include "gpu/spgemm/registry.h"
#include "gpu/spgemm/row_bins.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spgemm_battery.h"

namespace csrkit::testing {

namespace {

struct Variant {
  const char* name;
  std::uint32_t shrink;
  bool prefers_merging, prefers_windows;
};

// Without merging, short rows are hashed; without windows, all others are. Shrunk, what one warp does
// is done by blocks, and what fits a block is cut into parts.
constexpr Variant kVariants[] = {
    {"all_limits", 1, true, true},           {"no_merging", 1, false, true},
    {"only_hashing", 1, false, false},       {"shrunk_4", 4, false, true},
    {"hashing_shrunk_4", 4, false, false},   {"shrunk_32", 32, true, true},
    {"hashing_shrunk_32", 32, false, false}, {"parts_of_a_word", 8192, false, false},
};

template <int kVariant>
std::unique_ptr<SpgemmPlan> make(const SpgemmProblem& problem, const PlanOptions& options) {
  gpu::BinRules rules;
  rules.shrink = kVariants[kVariant].shrink;
  rules.prefers_merging = kVariants[kVariant].prefers_merging;
  rules.prefers_windows = kVariants[kVariant].prefers_windows;
  return std::make_unique<gpu::GpuSpgemmPlan>("row_bins", problem, options,
                                              gpu::make_row_bins(problem, rules));
}

constexpr decltype(SpgemmKernel::make) kMakers[] = {make<0>, make<1>, make<2>, make<3>,
                                                    make<4>, make<5>, make<6>, make<7>};
static_assert(std::size(kMakers) == std::size(kVariants));

std::string variant_name(const ::testing::TestParamInfo<int>& item) {
  return kVariants[item.param].name;
}

class SpgemmRowBins : public WithGpu<::testing::TestWithParam<int>> {
 protected:
  SpgemmKernel kernel() const {
    SpgemmKernel kernel = find_kernel(gpu::spgemm_kernels(), "row_bins");
    kernel.make = kMakers[GetParam()];
    return kernel;
  }
};

}  // namespace

TEST_P(SpgemmRowBins, AreRightInEveryBin) {
  for (const ProductKinds& kinds : {ProductKinds{ValueKind::f64, ValueKind::f64, ValueKind::f64},
                                    {ValueKind::none, ValueKind::f32, ValueKind::f32}}) {
    ProductCase item;
    item.kinds = kinds;
    if (kinds.a == ValueKind::none) item.alpha = -1.25;
    for (const BatteryProduct& product : spgemm_battery()) {
      SCOPED_TRACE(product.name);
      check_kernel_on(kernel(), product.make(), item);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, SpgemmRowBins,
                         ::testing::Range(0, static_cast<int>(std::size(kVariants))), variant_name);

}  // namespace csrkit::testing
