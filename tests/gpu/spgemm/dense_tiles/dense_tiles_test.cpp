// dense_tiles where the battery is too small for it: several tiles both ways, rows of more entries
// than a batch has, and entries of A that are not finite beside places where B has nothing.

#include "gpu/spgemm/dense_tiles/dense_tiles.h"

#include <limits>

#include "gpu/plan/kernels.h"
#include "gpu/spgemm/plan.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

namespace {

/// Most entries random by `density`; some rows full, some empty, and some of A not finite.
CsrMatrix uneven(Index rows, Index cols, double density, bool with_specials) {
  std::vector<Entry> entries;
  const CsrMatrix random = random_matrix(rows, cols, density);
  const auto* values = static_cast<const double*>(random.values());
  constexpr double kSpecials[] = {std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN()};
  for (Index i = 0; i < rows; ++i) {
    if (i % 50 == 7) continue;
    if (i % 50 == 9) {
      for (Index j = 0; j < cols; ++j) entries.push_back({i, j, 0.25 + (i + j) % 5});
      continue;
    }
    for (Offset at = random.row_offsets()[i]; at < random.row_offsets()[i + 1]; ++at) {
      const bool is_special = with_specials && i % 31 == 3 && at % 97 == 0;
      entries.push_back({i, random.col_indices()[at], is_special ? kSpecials[i % 3] : values[at]});
    }
  }
  return matrix_of(rows, cols, entries);
}

template <bool kOnTensorCores>
std::unique_ptr<SpgemmPlan> make(const SpgemmProblem& problem, const PlanOptions& options) {
  return std::make_unique<gpu::GpuSpgemmPlan>("dense_tiles", kSpgemmEverything & ~kSemirings,
                                              problem, options,
                                              gpu::make_dense_tiles(problem, kOnTensorCores));
}

SpgemmKernel kernel_on(bool tensor_cores) {
  SpgemmKernel kernel = find_kernel(gpu::spgemm_kernels(), "dense_tiles");
  kernel.make = tensor_cores ? make<true> : make<false>;
  return kernel;
}

class SpgemmDenseTiles : public WithGpu<::testing::TestWithParam<bool>> {};
class SanitizerGpuSpgemmDenseTiles : public WithGpu<::testing::TestWithParam<bool>> {};

std::string where(const ::testing::TestParamInfo<bool>& item) {
  return item.param ? "on_tensor_cores" : "entry_by_entry";
}

}  // namespace

TEST_P(SpgemmDenseTiles, AreRightOnTheBattery) {
  on_test_threads(spgemm_battery().size(), [&](std::size_t i) {
    const BatteryProduct& product = spgemm_battery()[i];
    if (!gpu::why_no_dense_tiles(problem_of(product.make(), {})).empty()) return;
    check_kernel_on(kernel_on(GetParam()), product);
  });
}

TEST_P(SpgemmDenseTiles, AreRightOnSeveralTilesOfUnevenRows) {
  for (const bool with_specials : {false, true}) {
    const ProductOperands operands = {uneven(261, 437, 0.2, with_specials),
                                      uneven(437, 331, 0.15, false)};
    for (const ProductKinds& kinds : {ProductKinds{ValueKind::f64, ValueKind::f64, ValueKind::f64},
                                      {ValueKind::f32, ValueKind::f32, ValueKind::f32}}) {
      ProductCase item;
      item.kinds = kinds;
      item.alpha = with_specials ? 1 : -1.25;
      ASSERT_EQ(gpu::why_no_dense_tiles(problem_of(operands, item)), "");
      check_kernel_on(kernel_on(GetParam()), operands, item);
    }
  }
}

// It never runs as another kernel: only auto chooses, and says what it chose.
TEST_P(SpgemmDenseTiles, RefuseWhatDoesNotSuit) {
  std::vector<Entry> diagonal;
  for (Index i = 0; i < 100000; ++i) diagonal.push_back({i, i, 1.0 + i % 3});
  const CsrMatrix sparse = matrix_of(100000, 100000, std::move(diagonal));
  const SpgemmProblem too_wide = problem_of(squared(sparse), {});
  for (const SpgemmKernel& kernel :
       {kernel_on(GetParam()), find_kernel(gpu::spgemm_kernels(), "dense_tiles")}) {
    try {
      kernel.make_plan(too_wide, {});
      FAIL() << "a matrix of 100,000 x 100,000 was taken";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("as bits take"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("use adaptive_rows, or auto"), std::string::npos);
    }
  }
  ProductCase item;
  item.semiring = Semiring::min_plus;
  const SpgemmProblem shortest = problem_of(squared(uneven(60, 60, 0.5, false)), item);
  EXPECT_THROW(kernel_on(GetParam()).make_plan(shortest, {}), UsageError);
  EXPECT_THROW(gpu::make_dense_tiles(shortest, GetParam()), UsageError);
}

TEST_P(SpgemmDenseTiles, AreRightWhereBIsNotFinite) {
  const CsrMatrix square = uneven(200, 200, 0.2, true);
  check_kernel_on(kernel_on(GetParam()), {square, square});
}

TEST_P(SpgemmDenseTiles, HaveTheSameBitsInBlocksOfRows) {
  const SpgemmProblem problem =
      problem_of({uneven(700, 300, 0.2, true), uneven(300, 900, 0.2, false)}, {});
  const auto whole_plan = kernel_on(GetParam()).make_plan(problem, {});
  const SpgemmForecast forecast = whole_plan->forecast();
  const CsrMatrix whole = product_of(*whole_plan, problem);
  PlanOptions limited;
  limited.memory_limit_bytes = forecast.whole_bytes - forecast.output_bytes_bound / 2;
  const auto plan = kernel_on(GetParam()).make_plan(problem, limited);
  CopyingSink sink(problem);
  plan->multiply(sink);
  EXPECT_GT(sink.blocks(), 1);
  EXPECT_LE(plan->phases().peak_bytes, limited.memory_limit_bytes);
  EXPECT_TRUE(identical(whole, sink.finish()));
}

TEST_P(SanitizerGpuSpgemmDenseTiles, SeveralTilesOfUnevenRows) {
  const ProductOperands operands = {uneven(141, 230, 0.2, true), uneven(230, 201, 0.15, false)};
  for (const ProductKinds& kinds : {ProductKinds{ValueKind::f64, ValueKind::f64, ValueKind::f64},
                                    {ValueKind::f32, ValueKind::f32, ValueKind::f32}}) {
    ProductCase item;
    item.kinds = kinds;
    check_kernel_on(kernel_on(GetParam()), operands, item);
  }
}

TEST_P(SanitizerGpuSpgemmDenseTiles, SmallAdversarialProducts) {
  on_test_threads(spgemm_battery().size(), [&](std::size_t i) {
    const std::string name = spgemm_battery()[i].name;
    if (name != "nothing_times_nothing" && name != "no_cols" && name != "one_entry" &&
        name != "all_dense" && name != "values_that_cancel" && name != "explicit_zeros") {
      return;
    }
    SCOPED_TRACE(name);
    check_kernel_on(kernel_on(GetParam()), spgemm_battery()[i].make());
  });
}

INSTANTIATE_TEST_SUITE_P(, SpgemmDenseTiles, ::testing::Bool(), where);
INSTANTIATE_TEST_SUITE_P(, SanitizerGpuSpgemmDenseTiles, ::testing::Bool(), where);

}  // namespace csrkit::testing
