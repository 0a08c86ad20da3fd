// csr_staged: a warp brings the products of 32 neighbouring rows to shared memory; then a lane adds
// up each row.
// Owns     nothing: A is used as it lies
// Reads    row offsets, columns and values once, coalesced whatever the rows' lengths are; x as the
//          columns say
// Launch   a warp for every 32 rows, its part of shared memory for 256 products. Rows with more
//          than that among them take several rounds. No barrier but the warp's own
// Needs    rows of like length: one long row keeps its warp waiting
// Source   Greathouse, Daga, SC 2014, "CSR-Stream": a block in the place of a warp
// Against  csr_vector, whose lanes are idle where rows are short; csr_balanced

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

namespace {

constexpr int kAtOnce = 8;  // entries of a lane in flight
constexpr int kStaged = kAtOnce * kWarpLanes;
constexpr int kWarps = kSpmvThreads / kWarpLanes;

template <class Types>
__global__ void __launch_bounds__(kSpmvThreads)
    multiply_staged(DeviceCsrView<typename Types::Value> a, InputVector<typename Types::Vector> x,
                    OutputUpdate<Types> y) {
  using Number = typename Types::Number;
  __shared__ Number products_of_warps[kWarps][kStaged];
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  Number* const products = products_of_warps[threadIdx.x / kWarpLanes];
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  const auto offset_of = [&](Offset at) {
    return a.row_begin(static_cast<Index>(at < a.rows ? at : Offset{a.rows}));
  };
  const Offset begin = offset_of(row);
  Offset end = __shfl_down_sync(kAllLanes, begin, 1);
  if (lane == kWarpLanes - 1) end = offset_of(row + 1);
  const Offset first = __shfl_sync(kAllLanes, begin, 0);
  const Offset last = __shfl_sync(kAllLanes, end, kWarpLanes - 1);
  Number sum = 0;
  for (Offset stage = first; stage < last; stage += kStaged) {
    Index cols[kAtOnce];
    Number values[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const Offset at = stage + k * kWarpLanes + lane;
      cols[k] = at < last ? load_once(a.col_indices + at) : 0;
      values[k] = at < last ? value_of<Number>(a.values, at) : Number{};
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (stage + k * kWarpLanes + lane >= last) continue;
      products[k * kWarpLanes + lane] = values[k] * x.template at<Number>(cols[k]);
    }
    __syncwarp();
    const int from = static_cast<int>(max(begin, stage) - stage);
    const int to = static_cast<int>(min(end, stage + kStaged) - stage);
    for (int at = from; at < to; ++at) sum += products[at];
    __syncwarp();
  }
  if (row < a.rows) y.store(static_cast<Index>(row), sum);
}

template <class Types>
class CsrStaged {
 public:
  explicit CsrStaged(Semiring) {}
  void convert(DeviceCsr a, DeviceMemory&) { a_ = std::move(a); }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    multiply_staged<Types>
        <<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(a_.view<typename Types::Value>(), x, y);
    CHECK_LAUNCH("multiply_staged", stream);
  }
  std::uint64_t stored_bytes() const { return csr_bytes_of(a_); }
  std::string choice() const { return {}; }

 private:
  DeviceCsr a_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_csr_staged(const SpmmProblem& problem) {
  return typed_ladder_spmv<CsrStaged>(problem);
}

}  // namespace csrkit::gpu
