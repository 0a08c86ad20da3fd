// bsr: small dense blocks with one column index each.
// Owns     starts of block rows; of each block a column, a mask of the entries that A has, and its
//          values in full, in the order in which the lanes of a warp read them
// Reads    values once, gaps of blocks included; 6 bytes a block in the place of 4 an entry; an
//          element of x once for all rows of a block
// Launch   one warp per block row; neighbouring lanes are the rows of a block, then the next block
// Needs    entries in blocks, as where a node has several unknowns. The block size (2, 3 or 4) is
//          the one that takes the fewest bytes. Source: Im, Yelick, Vuduc: Sparsity: optimization
//          framework for sparse matrix kernels, Int. J. High Perform. Comput. Appl. 2004 (register
//          blocking); masks, as gaps must not meet x: 0 times infinity is NaN
// Against  sell, csr_balanced

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/bsr/block_rows.h"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

namespace {

template <class Value>
struct Blocks {
  Index rows = 0;
  Offset block_rows = 0;
  const Offset* starts = nullptr;
  const Index* cols = nullptr;           // of blocks
  const std::uint16_t* masks = nullptr;  // bit size * i + j: A has entry (i, j) of the block
  const Value* values = nullptr;         // size * size a block; null: every entry is 1
};

/// The position of value (i, 0) of a block, and the distance to (i, 1). Blocks of a row that a warp
/// reads together are interleaved: all first columns, then all second ones.
struct ValuePlaces {
  Offset first;
  int step;
};
__device__ inline ValuePlaces places_of(Offset row_start, Offset row_end, Offset block, int i,
                                        int size) {
  const int at_once = kWarpLanes / size;
  const auto in_row = static_cast<Index>(block - row_start);
  const Offset group = block - in_row % at_once;
  const int step = static_cast<int>(min(Offset{at_once}, row_end - group)) * size;
  return {group * size * size + in_row % at_once * size + i, step};
}

/// Walks the blocks of a block row from left to right: up to four sorted rows, merged. Calls
/// `f(block_col, begins, ends)` with the entries [begins[i], ends[i]) of each row i.
template <class Value, class F>
__device__ void for_each_block(const DeviceCsrView<Value>& a, Offset block_row, int size, F&& f) {
  Offset begins[kLargestBlock], ends[kLargestBlock], limits[kLargestBlock];
#pragma unroll
  for (int i = 0; i < kLargestBlock; ++i) {
    const Offset row = block_row * size + i;
    const bool is_there = i < size && row < a.rows;
    begins[i] = is_there ? a.row_begin(static_cast<Index>(row)) : 0;
    limits[i] = is_there ? a.row_end(static_cast<Index>(row)) : 0;
  }
  while (true) {
    Index block_col = kMaxIndex;
#pragma unroll
    for (int i = 0; i < kLargestBlock; ++i) {
      if (begins[i] < limits[i]) block_col = min(block_col, a.col_indices[begins[i]] / size);
    }
    if (block_col == kMaxIndex) return;
#pragma unroll
    for (int i = 0; i < kLargestBlock; ++i) {
      ends[i] = begins[i];
      while (ends[i] < limits[i] && a.col_indices[ends[i]] / size == block_col) ++ends[i];
    }
    f(block_col, begins, ends);
#pragma unroll
    for (int i = 0; i < kLargestBlock; ++i) begins[i] = ends[i];
  }
}

/// One thread per block row.
template <class Value>
__global__ void fill_blocks(DeviceCsrView<Value> a, int size, Offset block_rows,
                            const Offset* starts, Index* cols, std::uint16_t* masks,
                            Value* values) {
  const Offset block_row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (block_row >= block_rows) return;
  const Offset row_start = starts[block_row], row_end = starts[block_row + 1];
  Offset to = row_start;
  for_each_block(a, block_row, size,
                 [&](Index block_col, const Offset* begins, const Offset* ends) {
                   unsigned mask = 0;
#pragma unroll
                   for (int i = 0; i < kLargestBlock; ++i) {
                     const ValuePlaces places = places_of(row_start, row_end, to, i, size);
                     for (Offset at = begins[i]; at < ends[i]; ++at) {
                       const int j = a.col_indices[at] - block_col * size;
                       mask |= 1u << (size * i + j);
                       if (values != nullptr) values[places.first + j * places.step] = a.values[at];
                     }
                   }
                   cols[to] = block_col;
                   masks[to] = static_cast<std::uint16_t>(mask);
                   ++to;
                 });
}

template <class Types, int kSize>
__global__ void __launch_bounds__(kSpmvThreads)
    multiply_blocks(Blocks<typename Types::Value> a, InputVector<typename Types::Vector> x,
                    OutputUpdate<Types> y,
                    AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra) {
  using Number = typename Types::Number;
  constexpr int kAtOnce = kWarpLanes / kSize;  // blocks that a warp reads together
  const Offset block_row = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kWarpLanes;
  if (block_row >= a.block_rows) return;  // the whole warp
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
  const int block_of_lane = lane / kSize, i = lane % kSize;
  Number sum = algebra.empty_sum();
  const Offset end = a.starts[block_row + 1];
  for (Offset group = a.starts[block_row]; group < end; group += kAtOnce) {
    const int count = static_cast<int>(min(Offset{kAtOnce}, end - group));
    if (block_of_lane >= count) break;
    const Offset block = group + block_of_lane, first = group * kSize * kSize + lane;
    const Index col = load_once(a.cols + block) * kSize;
    const unsigned mask = static_cast<unsigned>(__ldcs(a.masks + block)) >> (kSize * i);
    Number values[kSize];
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      values[j] = value_of<Number>(a.values, first + j * count * kSize);
    }
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      if ((mask >> j & 1u) != 0) {
        sum = algebra.add_product(sum, values[j], x.template at<Number>(col + j));
      }
    }
  }
  // Lane (0, i) adds up the sums of lanes (1, i), (2, i), ... by halving; kAtOnce may be odd.
#pragma unroll
  for (int blocks = kAtOnce; blocks > 1; blocks = (blocks + 1) / 2) {
    const int half = (blocks + 1) / 2;
    const Number other = __shfl_down_sync(kAllLanes, sum, half * kSize);
    if (block_of_lane + half < blocks) sum = algebra.add(sum, other);
  }
  const Offset row = block_row * kSize + i;
  if (block_of_lane == 0 && row < a.rows) y.store(static_cast<Index>(row), sum);
}

template <class Types>
class Bsr {
  using Value = typename Types::Value;
  using Number = typename Types::Number;

 public:
  explicit Bsr(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    const cudaStream_t stream = memory.stream();
    const bool has_values = a.value_kind() != ValueKind::none;
    rows_ = a.rows();
    nnz_ = a.nnz();
    const int value_bytes = has_values ? static_cast<int>(sizeof(Value)) : 0;
    count_ = best_blocks(a.view<void>(), value_bytes, memory);
    require_worthwhile("bsr", block_bytes(count_, rows_, value_bytes), csr_bytes_of(a));
    starts_ = block_row_starts(a.view<void>(), count_.size, memory);
    cols_ = DeviceBuffer<Index>(memory, count_.blocks, "columns of blocks");
    masks_ = DeviceBuffer<std::uint16_t>(memory, count_.blocks, "masks of blocks");
    if (has_values) {
      values_ = DeviceBuffer<Value>(memory, count_.blocks * count_.size * count_.size,
                                    "values of blocks");
      CHECK_CUDA(cudaMemsetAsync(values_.data(), 0, values_.size_bytes(), stream));
    }
    if (count_.blocks == 0) return;
    fill_blocks<<<spmv_blocks(starts_.size() - 1), kSpmvThreads, 0, stream>>>(
        a.view<Value>(), count_.size, starts_.size() - 1, starts_.data(), cols_.data(),
        masks_.data(), values_.data());
    CHECK_LAUNCH("fill_blocks", stream);
  }

  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    const Blocks<Value> blocks = {rows_,        starts_.size() - 1, starts_.data(),
                                  cols_.data(), masks_.data(),      values_.data()};
    const auto with_size = [&](auto size) {
      constexpr int kSize = decltype(size)::value;
      multiply_blocks<Types, kSize>
          <<<spmv_blocks(blocks.block_rows * kWarpLanes), kSpmvThreads, 0, stream>>>(blocks, x, y,
                                                                                     algebra_);
      CHECK_LAUNCH("multiply_blocks", stream);
    };
    switch (count_.size) {
      case 2: return with_size(std::integral_constant<int, 2>{});
      case 3: return with_size(std::integral_constant<int, 3>{});
      default: return with_size(std::integral_constant<int, 4>{});
    }
  }
  std::uint64_t stored_bytes() const {
    return starts_.size_bytes() + cols_.size_bytes() + masks_.size_bytes() + values_.size_bytes();
  }
  std::string choice() const {
    const Offset places = count_.blocks * count_.size * count_.size;
    const std::string size = std::to_string(count_.size);
    return "blocks of " + size + " x " + size + ", " +
           std::to_string(places == 0 ? 100 : nnz_ * 100 / places) + " % full";
  }

 private:
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  Index rows_ = 0;
  Offset nnz_ = 0;
  BlockCount count_;
  DeviceBuffer<Offset> starts_;
  DeviceBuffer<Index> cols_;
  DeviceBuffer<std::uint16_t> masks_;
  DeviceBuffer<Value> values_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_bsr(const SpmmProblem& problem) {
  return typed_spmv<Bsr>(problem);
}

}  // namespace csrkit::gpu
