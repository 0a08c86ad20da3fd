// Every bin of adaptive_rows on small matrices: the battery once more, with limits divided and with
// whole families of bins left out.

#include <string>
#include <vector>

#include "gpu/plan/kernels.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

struct Variant {
  const char* name;
  std::uint32_t shrink;
  bool prefers_merging, prefers_bit_ranges;
  std::uint32_t most_sorted;
  bool in_teams = true, is_early = true, with_hubs = false, in_threads = false;
};

// Without merging, short rows are sorted; without sorting, hashed; without bit ranges, all others
// are hashed. Shrunk, what one warp does is done by teams and blocks, and what fits a block is cut
// into parts. A hub is every row with more than three sources.
constexpr Variant kVariants[] = {
    {"all_limits", 1, true, true, 4096},
    {"no_merging", 1, false, true, 4096},
    {"no_sorting", 1, true, true, 0},
    {"no_merging_or_sorting", 1, false, true, 0},
    {"only_hashing", 1, false, false, 0},
    {"shrunk_4", 4, false, true, 0},
    {"hashing_shrunk_4", 4, false, false, 0},
    {"shrunk_32", 32, true, true, 4096},
    {"hashing_shrunk_32", 32, false, false, 0},
    {"parts_of_a_word", 8192, false, false, 0},
    {"no_teams", 32, true, true, 4096, false},
    {"nothing_early", 1, true, true, 4096, true, false},
    {"hubs", 1, true, true, 4096, true, true, true},
    {"tiny_in_threads", 1, false, true, 4096, true, false, false, true},
};

template <int kVariant>
std::unique_ptr<SpgemmPlan> make(const SpgemmProblem& problem, const PlanOptions& options) {
  gpu::BinRules rules;
  rules.shrink = kVariants[kVariant].shrink;
  rules.prefers_merging = kVariants[kVariant].prefers_merging;
  rules.fewest_merged_rows = 0;
  rules.prefers_bit_ranges = kVariants[kVariant].prefers_bit_ranges;
  rules.most_sorted_to_count = rules.most_sorted_to_make = kVariants[kVariant].most_sorted;
  if (!kVariants[kVariant].in_teams) rules.fewest_for_warps = 0;
  if (!kVariants[kVariant].is_early) rules.most_early = 0;
  if (kVariants[kVariant].in_threads) rules.fewest_tiny = 0;
  if (kVariants[kVariant].with_hubs) {
    rules.prefers_one_pass = false;
    rules.hub_sources = 3;
    rules.most_per_hub_source = INT32_MAX;
    rules.fewest_spread = 8;
  }
  return plan_by(rules, problem, options);
}

constexpr decltype(SpgemmKernel::make) kMakers[] = {make<0>,  make<1>,  make<2>,  make<3>, make<4>,
                                                    make<5>,  make<6>,  make<7>,  make<8>, make<9>,
                                                    make<10>, make<11>, make<12>, make<13>};
static_assert(std::size(kMakers) == std::size(kVariants));

std::string variant_name(const ::testing::TestParamInfo<int>& item) {
  return kVariants[item.param].name;
}

class SpgemmRowBins : public WithGpu<::testing::TestWithParam<int>> {
 protected:
  SpgemmKernel kernel() const {
    SpgemmKernel kernel = find_kernel(gpu::spgemm_kernels(), "adaptive_rows");
    kernel.make = kMakers[GetParam()];
    return kernel;
  }
};

}  // namespace

TEST_P(SpgemmRowBins, AreRightInEveryBin) {
  on_test_threads(spgemm_battery().size(),
                  [&](std::size_t i) { check_kernel_on(kernel(), spgemm_battery()[i]); });
}

/// 20 rows of 400 products, on columns too far apart for a range of bits: where limits are divided
/// such rows are cut, and their parts sorted.
ProductOperands of_far_columns() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 20; ++i) {
    for (Index k = 0; k < 40; ++k) a.push_back({i, (i + k) % 50, random_value(25, i, k)});
  }
  for (Index i = 0; i < 50; ++i) {
    for (Index k = 0; k < 10; ++k) b.push_back({i, 40'000 * k + 7 * i, random_value(26, i, k)});
  }
  return {matrix_of(20, 50, a), matrix_of(50, 400'000, b)};
}

/// The bins that small products do not reach by themselves, for compute-sanitizer.
class SanitizerSpgemmRowBins : public SpgemmRowBins {};

TEST_P(SanitizerSpgemmRowBins, SmallAdversarialProducts) {
  for (const BatteryProduct& item : spgemm_battery()) {
    for (const char* name : {"around_vector_and_table_sizes", "scattered_columns", "tridiagonal"}) {
      if (std::string(name) == item.name) check_kernel_on(kernel(), item);
    }
  }
  check_kernel_on(kernel(), of_far_columns(), {});
}

INSTANTIATE_TEST_SUITE_P(, SanitizerSpgemmRowBins, ::testing::Values(0, 4, 7, 8, 12, 13),
                         variant_name);

INSTANTIATE_TEST_SUITE_P(Variants, SpgemmRowBins,
                         ::testing::Range(0, static_cast<int>(std::size(kVariants))), variant_name);

}  // namespace csrkit::testing
