// v5_prefix_sum: the alternative to atomics that hand out places: count first, add up, then write.
// Owns     a block: one row, twice - once for the bits that say which entries exist, once with sums
// Reads    A and B twice as often as v4, the first time without values. Places are offsets of the
//          row plus a prefix sum over the words of bits of a tile, so entries lie sorted where they
//          belong.
// Launch   a block of 128 threads per row, tiles of 4,096 columns (34 KiB of shared memory in f64)
// Needs    nothing
// Against  v4: no global counter, no unsorted copy, no sort; the structure comes out the same in
//          every run (the sums are still made by atomics). The price is a second walk over all
//          products.

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlock = 128;
constexpr int kTile = 4096;
constexpr int kWordBits = 32;
constexpr int kWords = kTile / kWordBits;
constexpr int kScanThreads = 256;
// Marks what exists in columns [first, first + kTile) of the row; with sums if there are any.
template <bool kHasSums, class Value>
__device__ void fill_tile(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                          Offset begin, Offset end, Offset first, unsigned* exists, Value* sums) {
  for (int i = threadIdx.x; i < kWords; i += kBlock) exists[i] = 0;
  if constexpr (kHasSums) {
    for (int i = threadIdx.x; i < kTile; i += kBlock) sums[i] = 0;
  }
  __syncthreads();
  for (Offset i = begin + threadIdx.x; i < end; i += kBlock) {
    const Index from = a.col_indices[i];
    const Offset b_end = b.row_end(from);
    for (Offset j = b.row_begin(from); j < b_end; ++j) {
      const Offset place = b.col_indices[j] - first;
      if (place < 0 || place >= kTile) continue;
      atomicOr(exists + place / kWordBits, 1u << place % kWordBits);
      if constexpr (kHasSums) {
        const Value factor = a.values == nullptr ? Value{1} : a.values[i];
        atomicAdd(sums + place, factor * (b.values == nullptr ? Value{1} : b.values[j]));
      }
    }
  }
  __syncthreads();
}

template <class Value>
__global__ void __launch_bounds__(kBlock)
    count_row(DeviceCsrView<Value> a, DeviceCsrView<Value> b, Offset* counts) {
  __shared__ unsigned exists[kWords];
  __shared__ int found;
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  if (threadIdx.x == 0) found = 0;
  int mine = 0;
  if (begin < end) {
    for (Offset first = 0; first < b.cols; first += kTile) {
      fill_tile<false>(a, b, begin, end, first, exists, static_cast<Value*>(nullptr));
      for (int i = threadIdx.x; i < kWords; i += kBlock) mine += __popc(exists[i]);
      __syncthreads();  // the next tile clears what was just read
    }
  }
  __syncthreads();
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(kAllLanes, mine, step);
  if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd(&found, mine);
  __syncthreads();
  if (threadIdx.x == 0) counts[row] = found;
}

template <class Value>
__global__ void __launch_bounds__(kBlock)
    write_row(DeviceCsrView<Value> a, DeviceCsrView<Value> b, Value alpha, const Offset* offsets,
              Index* cols, Value* values) {
  __shared__ Value sums[kTile];
  __shared__ unsigned exists[kWords];
  __shared__ int places[kWords + 1];  // entries in the words before
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  if (begin == end) return;
  Offset written = offsets[row];
  for (Offset first = 0; first < b.cols; first += kTile) {
    fill_tile<true>(a, b, begin, end, first, exists, sums);
    if (threadIdx.x < 32) {  // write-back
      const int lane = static_cast<int>(threadIdx.x);
      int before = 0;
      for (int word = lane; word < kWords; word += 32) {
        const int own = __popc(exists[word]);
        int sum = own;
        for (int step = 1; step < 32; step *= 2) {
          const int other = __shfl_up_sync(kAllLanes, sum, step);
          if (lane >= step) sum += other;
        }
        places[word] = before + sum - own;
        before += __shfl_sync(kAllLanes, sum, 31);
      }
      if (lane == 0) places[kWords] = before;
    }
    __syncthreads();
    for (int place = threadIdx.x; place < kTile; place += kBlock) {
      const unsigned word = exists[place / kWordBits];
      if (word >> place % kWordBits & 1u) {
        const Offset at =
            written + places[place / kWordBits] + __popc(word & ((1u << place % kWordBits) - 1u));
        cols[at] = static_cast<Index>(first + place);
        values[at] = alpha * sums[place];
      }
    }  // write-back ends
    written += places[kWords];
    __syncthreads();  // the next tile clears what was just read
  }
}

__global__ void narrow_offsets(const Offset* from, std::uint32_t* to, Offset count) {
  const Offset at = Offset{blockIdx.x} * kScanThreads + threadIdx.x;
  if (at < count) to[at] = static_cast<std::uint32_t>(from[at]);
}

template <class Value>
class PrefixSum final : public DeviceSpgemm {
 public:
  std::uint64_t forecast_bytes(const SpgemmSizes& sizes) const override {
    const std::uint64_t offsets = static_cast<std::uint64_t>(sizes.rows) + 1;
    return offsets * (sizeof(Offset) + sizeof(std::uint32_t)) +
           scan_scratch_bound(Offset{sizes.rows} + 1) +
           static_cast<std::uint64_t>(sizes.counts.output_bound) * (sizeof(Index) + sizeof(Value));
  }

  void multiply(const SpgemmOperands& operands, DeviceMemory& memory, DeviceProduct& c,
                PhaseMarks* marks) override {
    const cudaStream_t stream = memory.stream();
    const auto a = operands.a.as<Value>(), b = operands.b.as<Value>();
    const auto rows = static_cast<unsigned>(a.rows);
    const Offset count = Offset{a.rows} + 1;
    if (marks != nullptr) marks->begin(SpgemmPhase::symbolic);
    c.wide_offsets = DeviceBuffer<Offset>(memory, count, "the row offsets of C");
    Offset* const offsets = c.wide_offsets.data();
    CHECK_CUDA(cudaMemsetAsync(offsets, 0, c.wide_offsets.size_bytes(), stream));
    Offset total = 0;
    if (rows > 0) {
      count_row<<<rows, kBlock, 0, stream>>>(a, b, offsets);
      CHECK_LAUNCH("count_row", stream);
      exclusive_sum(memory, offsets, count);
      total = fetch(offsets + a.rows, stream);
    }
    if (marks != nullptr) marks->begin(SpgemmPhase::numeric);
    c.allocate_entries(memory, total);
    if (total > 0) {
      write_row<<<rows, kBlock, 0, stream>>>(
          a, b, static_cast<Value>(operands.alpha), offsets, c.col_indices.data(),
          static_cast<Value*>(static_cast<void*>(c.values.data())));
      CHECK_LAUNCH("write_row", stream);
    }
    if (!DeviceProduct::fits_narrow(total)) return;
    c.narrow_offsets = DeviceBuffer<std::uint32_t>(memory, count, "the row offsets of C");
    const Offset blocks = (count + kScanThreads - 1) / kScanThreads;
    narrow_offsets<<<static_cast<unsigned>(blocks), kScanThreads, 0, stream>>>(
        offsets, c.narrow_offsets.data(), count);
    CHECK_LAUNCH("narrow_offsets", stream);
    c.wide_offsets = {};
  }
};

}  // namespace

std::unique_ptr<DeviceSpgemm> make_device_v5_prefix_sum(const SpgemmProblem& problem) {
  if (problem.c == ValueKind::f64) return std::make_unique<PrefixSum<double>>();
  return std::make_unique<PrefixSum<float>>();
}

}  // namespace csrkit::gpu
