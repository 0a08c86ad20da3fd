// csr_vector: a group of lanes computes one element of y; about as many lanes as a row has entries
// on average.
// Owns     nothing: A is used as it lies
// Reads    columns and values once, coalesced within a row
// Launch   2 to 32 lanes a row, then a tree of shuffles. With a whole warp for each row, rows of 5
//          nonzeros would leave 27 lanes idle; with too few, long rows would be walked for long
// Needs    rows of like length: one long row keeps its warp, and so the kernel, waiting
// Source   Bell, Garland, SC 2009, "CSR (vector)": a warp per row; sub-warps as in the CUSP library
//          of the same authors
// Against  csr_scalar

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

namespace {

template <class Types, int kLanes>
__global__ void multiply_row_per_group(DeviceCsrView<typename Types::Value> a,
                                       InputVector<typename Types::Vector> x,
                                       OutputUpdate<Types> y) {
  using Number = typename Types::Number;
  const Offset row = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const bool is_there = row < a.rows;
  Number sum = 0;
  const Offset end = is_there ? a.row_end(static_cast<Index>(row)) : 0;
  const Offset begin = is_there ? a.row_begin(static_cast<Index>(row)) : 0;
  for (Offset at = begin + lane; at < end; at += kLanes) {
    const Number value = value_of<Number>(a.values, at);
    sum = fma(value, x.template at<Number>(load_once(a.col_indices + at)), sum);
  }
#pragma unroll
  for (int apart = kLanes / 2; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, apart);
  }
  if (is_there && lane == 0) y.store(static_cast<Index>(row), sum);
}

template <class Types>
class CsrVector {
 public:
  explicit CsrVector(Semiring) {}
  void convert(DeviceCsr a, DeviceMemory&) {
    a_ = std::move(a);
    const Offset mean = a_.rows() == 0 ? 0 : a_.nnz() / a_.rows();
    lanes_ = 2;
    while (lanes_ < kWarpLanes && lanes_ < mean) lanes_ *= 2;
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    const auto with_lanes = [&](auto lanes) {
      constexpr int kLanes = decltype(lanes)::value;
      multiply_row_per_group<Types, kLanes>
          <<<spmv_blocks(Offset{y.rows} * kLanes), kSpmvThreads, 0, stream>>>(
              a_.view<typename Types::Value>(), x, y);
      CHECK_LAUNCH("multiply_row_per_group", stream);
    };
    switch (lanes_) {
      case 2: return with_lanes(std::integral_constant<int, 2>{});
      case 4: return with_lanes(std::integral_constant<int, 4>{});
      case 8: return with_lanes(std::integral_constant<int, 8>{});
      case 16: return with_lanes(std::integral_constant<int, 16>{});
      default: return with_lanes(std::integral_constant<int, 32>{});
    }
  }
  std::uint64_t stored_bytes() const { return csr_bytes_of(a_); }
  std::string choice() const { return std::to_string(lanes_) + " lanes a row"; }

 private:
  DeviceCsr a_;
  int lanes_ = kWarpLanes;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_csr_vector(const SpmmProblem& problem) {
  return typed_ladder_spmv<CsrVector>(problem);
}

}  // namespace csrkit::gpu
