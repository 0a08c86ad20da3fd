// The gather mark gathers what it says: every piece's sum against float64, whole and in slices.

#include <cmath>

#include "gpu/device/device_buffer.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/streams/stream.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/marks/gather_mark.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

class SanitizerGatherMark : public GpuTest {};

void check_mark(const CsrMatrix& matrix, Index dense_cols, bool is_sliced) {
  const gpu::Stream stream(nullptr);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const gpu::DeviceCsr a(memory, convert_values(matrix, ValueKind::f32));
  DenseMatrix b(matrix.cols(), dense_cols, ValueKind::f32);
  fill_random(b.view(), 5);
  const gpu::DeviceBuffer<float> device_b(memory, Offset{matrix.cols()} * dense_cols, "B");
  const ConstDenseView view{device_b.data(), ValueKind::f32, matrix.cols(),
                            dense_cols,      dense_cols,     MemorySpace::device};
  gpu::copy_dense(
      {device_b.data(), ValueKind::f32, matrix.cols(), dense_cols, dense_cols, MemorySpace::device},
      b.view(), stream.get());
  const Offset pieces =
      (matrix.nnz() + gpu::kGatherMarkPieceEntries - 1) / gpu::kGatherMarkPieceEntries;
  const gpu::DeviceBuffer<float> sums(memory, pieces * dense_cols, "sums");
  std::vector<float> found(static_cast<std::size_t>(pieces * dense_cols));
  gpu::gather_for_mark(a.view<void>(), ValueKind::f32, view, is_sliced, sums.data(), stream.get());
  CHECK_CUDA(cudaMemcpyAsync(found.data(), sums.data(), sums.size_bytes(), cudaMemcpyDeviceToHost,
                             stream.get()));
  stream.wait();
  for (Offset piece = 0; piece < pieces; ++piece) {
    const Offset begin = piece * gpu::kGatherMarkPieceEntries;
    const Offset end = std::min(matrix.nnz(), begin + gpu::kGatherMarkPieceEntries);
    for (Index j = 0; j < dense_cols; ++j) {
      double sum = 0, size = 0;
      for (Offset at = begin; at < end; ++at) {
        const double value =
            matrix.visit([&](auto typed) -> double { return typed.template value_as<double>(at); });
        const double term = value * ConstDenseView(b.view()).at(matrix.col_indices()[at], j);
        sum += term;
        size += std::abs(term);
      }
      const double error = std::abs(found[static_cast<std::size_t>(piece * dense_cols + j)] - sum);
      ASSERT_TRUE(error <= 1e-5 * size) << "piece " << piece << ", column " << j;
    }
  }
}

}  // namespace

TEST_F(SanitizerGatherMark, SumsEveryPiece) {
  for (const char* name : {"no_rows", "all_rows_empty", "dense_block", "wide", "power_law",
                           "two_huge_rows_in_sequence"}) {
    for (const Index dense_cols : {4, 32, 60, 64, 128, 256, 512, 580}) {
      for (const bool is_sliced : {false, true}) {
        SCOPED_TRACE(std::string(name) + " dense_cols=" + std::to_string(dense_cols) +
                     (is_sliced ? " sliced" : ""));
        check_mark(battery_matrix(name), dense_cols, is_sliced);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(SanitizerGatherMark, LeavesCAloneAndIsTimed) {
  for (const SpmmKernel& mark : gpu::spmm_marks()) {
    SCOPED_TRACE(mark.name);
    const CsrMatrix matrix = battery_matrix("power_law");
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
      const SpmmProblem problem = default_spmm_problem(convert_values(matrix, kind), 64);
      DenseMatrix b(problem.input_rows(), 64, problem.b);
      fill_random(b.view(), 1);
      DeviceSlice c(problem.output_rows(), 64, problem.c, 0, 0);
      fill_random(c.host(), 2);
      c.upload(nullptr);
      const auto plan = mark.make_plan(problem, {});
      plan->bind(b.view(), c.device());
      EXPECT_GT(plan->time_multiply(1, 0), 0);
      EXPECT_TRUE(c.is_untouched(nullptr));
    }
    const SpmmProblem odd = default_spmm_problem(matrix, 33);
    DenseMatrix b(odd.input_rows(), 33, odd.b), c(odd.output_rows(), 33, odd.c);
    fill_random(b.view(), 1);
    const auto plan = mark.make_plan(odd, {});
    plan->bind(b.view(), c.view());
    EXPECT_THROW(plan->multiply(1, 0), UsageError);
  }
}

}  // namespace csrkit::testing
