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
  std::uint32_t most_sorted;
};

// Without merging, short rows are sorted; without sorting, hashed; without windows, all others are
// hashed. Shrunk, what one warp does is done by blocks, and what fits a block is cut into parts.
constexpr Variant kVariants[] = {
    {"all_limits", 1, true, true, 4096},        {"no_merging", 1, false, true, 4096},
    {"no_sorting", 1, true, true, 0},           {"no_merging_or_sorting", 1, false, true, 0},
    {"only_hashing", 1, false, false, 0},       {"shrunk_4", 4, false, true, 0},
    {"hashing_shrunk_4", 4, false, false, 0},   {"shrunk_32", 32, true, true, 4096},
    {"hashing_shrunk_32", 32, false, false, 0}, {"parts_of_a_word", 8192, false, false, 0},
};

template <int kVariant>
std::unique_ptr<SpgemmPlan> make(const SpgemmProblem& problem, const PlanOptions& options) {
  gpu::BinRules rules;
  rules.shrink = kVariants[kVariant].shrink;
  rules.prefers_merging = kVariants[kVariant].prefers_merging;
  rules.fewest_merged_rows = 0;
  rules.prefers_windows = kVariants[kVariant].prefers_windows;
  rules.most_sorted_to_count = rules.most_sorted_to_make = kVariants[kVariant].most_sorted;
  return std::make_unique<gpu::GpuSpgemmPlan>("row_bins", problem, options,
                                              gpu::make_row_bins(problem, rules));
}

constexpr decltype(SpgemmKernel::make) kMakers[] = {make<0>, make<1>, make<2>, make<3>, make<4>,
                                                    make<5>, make<6>, make<7>, make<8>, make<9>};
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
