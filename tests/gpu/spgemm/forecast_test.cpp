// Forecasts that need no GPU are never below what a plan then takes, and not far above.
#include "gpu/spgemm/forecast.h"

#include <gtest/gtest.h>

#include "core/matrix/csr_sink.h"
#include "gpu/plan/kernels.h"
#include "gpu/spgemm/adaptive_rows/forecast.h"
#include "gpu/spmm/forecast.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

TEST(SpgemmForecasts, NeedNoGpu) {
  const CsrMatrix a = random_matrix(257, 129, 0.05);
  for (const SpgemmKernel& kernel : gpu::spgemm_kernels()) {
    if (kernel.role == Role::vendor) continue;
    for (const double drop_below : {0.0, 0.5}) {
      for (const bool has_mask : {false, true}) {
        SCOPED_TRACE(std::string(kernel.name) + (has_mask ? " with a mask" : ""));
        SpgemmProblem problem = default_spgemm_problem(a, a, true);
        problem.drop_below = drop_below;
        if (has_mask) problem.mask = a;
        std::uint64_t bytes = 0;
        EXPECT_NO_THROW(bytes = gpu::forecast_spgemm(kernel.name, problem, -1, 0).peak_bytes);
        EXPECT_GT(bytes, 0u);
      }
    }
  }
}

TEST(SpgemmForecasts, CountRowsMadeEarlyOnce) {
  gpu::SpgemmSizes sizes;
  sizes.rows = sizes.inner = sizes.cols = 1'000'000;
  sizes.a_nnz = sizes.b_nnz = 100'000'000;
  sizes.counts.products = 10'000'000'000;
  sizes.counts.output_bound = 1'000'000'000;
  gpu::BinRules without;
  without.most_staged_bytes = 0;
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 30) + 4 * 1'000'000 + 4096;
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    const gpu::BinRules rules;
    const std::uint64_t with_rows = gpu::RowsForecast(rules, kind).product_bytes(sizes);
    const std::uint64_t without_rows = gpu::RowsForecast(without, kind).product_bytes(sizes);
    EXPECT_GT(with_rows, without_rows);
    EXPECT_LE(with_rows - without_rows, kMost);
    sizes.a_nnz = rules.most_early;  // then rows are never staged
    EXPECT_EQ(gpu::RowsForecast(rules, kind).product_bytes(sizes),
              gpu::RowsForecast(without, kind).product_bytes(sizes));
    sizes.a_nnz = sizes.b_nnz;
  }
}

TEST(SpgemmForecasts, HaveRoomForEveryProductOfRowsInOrder) {
  gpu::SpgemmSizes sizes;
  sizes.rows = sizes.inner = sizes.cols = 3'000'000;
  sizes.a_nnz = sizes.b_nnz = 9'000'000;
  sizes.counts.products = 27'000'000;
  sizes.counts.output_bound = 9'000'000;  // the size of C, counted
  sizes.counts.longest = 16;
  gpu::BinRules in_bins;
  in_bins.fewest_in_order = INT32_MAX;
  const gpu::BinRules rules;
  const auto more = [&] {
    return gpu::RowsForecast(rules, ValueKind::f32).product_bytes(sizes) -
           gpu::RowsForecast(in_bins, ValueKind::f32).product_bytes(sizes);
  };
  EXPECT_EQ(more(), 18'000'000u * 8);
  sizes.counts.longest = 3'000'001;  // too long, and no copy of a row of B
  EXPECT_EQ(more(), 0u);
  sizes.counts.longest = 16;
  sizes.cols = 63;  // then the bound of C may be below its products
  EXPECT_EQ(more(), 0u);
}

TEST(SpmmForecasts, NeedNoGpu) {
  const CsrMatrix a = random_matrix(257, 129, 0.05);
  for (const bool transpose_a : {false, true}) {
    SpmmProblem problem = default_spmm_problem(a, 8);
    problem.transpose_a = transpose_a;
    for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
      if (kernel.role == Role::vendor || !kernel.can(needed_for(problem))) continue;
      SCOPED_TRACE(kernel.name);
      std::uint64_t bytes = 0;
      EXPECT_NO_THROW(bytes = gpu::forecast_spmm_bytes(kernel.name, problem));
      EXPECT_GT(bytes, 0u);
    }
    problem.dense_cols = 1;
    for (const SpmmKernel& kernel : gpu::spmv_kernels()) {
      if (kernel.role == Role::vendor || !kernel.can(needed_for(problem))) continue;
      SCOPED_TRACE("spmv." + std::string(kernel.name));
      std::uint64_t bytes = 0;
      EXPECT_NO_THROW(bytes = gpu::forecast_spmv_bytes(kernel.name, problem));
      EXPECT_GT(bytes, 0u);
    }
  }
}

class GpuForecast : public GpuTest {};

TEST_F(GpuForecast, IsNeverBelowThePeakOfSpmm) {
  for (const auto& [name, matrix] : made_battery()) {
    SCOPED_TRACE(name);
    for (const Index dense_cols : {1, 32, 256}) {
      for (const bool transpose_a : {false, true}) {
        SpmmProblem problem =
            default_spmm_problem(convert_values(matrix, ValueKind::f32), dense_cols);
        problem.transpose_a = transpose_a;
        const std::uint64_t forecast = gpu::forecast_spmm_bytes("auto", problem);
        DenseMatrix b(problem.input_rows(), dense_cols, problem.b);
        DenseMatrix c(problem.output_rows(), dense_cols, problem.c);
        fill_random(b.view(), 1);
        const auto plan = find_kernel(gpu::spmm_kernels(), "auto").make_plan(problem, {});
        plan->bind(b.view(), c.view());
        plan->multiply(1, 0);
        plan->fetch_output();
        const std::uint64_t peak = plan->phases().peak_bytes;
        EXPECT_LE(peak, forecast) << dense_cols << " columns";
        // One column is SpMV: the most that any format takes which auto may find on the device.
        const double near = dense_cols == 1 ? 4 : 1.25;
        constexpr std::uint64_t kSmall = 1 << 20;  // where offsets and bit ranges weigh most
        EXPECT_LE(static_cast<double>(forecast), near * static_cast<double>(peak + kSmall));
      }
    }
  }
}

TEST_F(GpuForecast, IsNeverBelowThePeakOfSpgemm) {
  for (const auto& [name, matrix] : made_battery()) {
    SCOPED_TRACE(name);
    const CsrMatrix a = convert_values(matrix, ValueKind::f32);
    for (const bool transpose_b : {false, true}) {
      if (!transpose_b && a.rows() != a.cols()) continue;
      const SpgemmProblem problem = default_spgemm_problem(a, a, transpose_b);
      const auto plan = find_kernel(gpu::spgemm_kernels(), "auto").make_plan(problem, {});
      MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
      plan->multiply(sink);
      const Offset nnz = sink.finish().nnz();
      const std::uint64_t peak = plan->phases().peak_bytes;
      EXPECT_LE(peak, gpu::forecast_spgemm("auto", problem, nnz, 0).peak_bytes);
      EXPECT_LE(peak, gpu::forecast_spgemm("auto", problem, -1, 0).peak_bytes);
    }
  }
}

}  // namespace

}  // namespace csrkit::testing
