// COO, as the rungs coo and hyb have it: row, column and value of every entry, in the order of
// rows.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

template <class Value>
struct EntryList {
  Offset count = 0;
  const Index* rows = nullptr;
  const Index* cols = nullptr;
  const Value* values = nullptr;  // null: every entry is 1
};

/// The sum of the row in which a warp's share ends; others may add to the same row.
template <class Number>
struct Carry {
  Index row;
  Number sum;
};

namespace entries {

/// One thread per row: how many of its entries lie behind the first `skipped`.
static __global__ void count_behind(DeviceCsrView<void> a, Index skipped, Offset* counts) {
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row > a.rows) return;
  const Offset length =
      row == a.rows ? 0 : a.row_end(static_cast<Index>(row)) - a.row_begin(static_cast<Index>(row));
  counts[row] = length > skipped ? length - skipped : 0;
}

/// One warp per row.
template <class Value>
__global__ void fill(DeviceCsrView<Value> a, Index skipped, const Offset* starts, Index* rows,
                     Index* cols, Value* values) {
  const Offset row = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kWarpLanes;
  if (row >= a.rows) return;
  const Offset from = a.row_begin(static_cast<Index>(row)) + skipped;
  const Offset to = starts[row], count = starts[row + 1] - to;
  for (Offset at = threadIdx.x % kWarpLanes; at < count; at += kWarpLanes) {
    rows[to + at] = static_cast<Index>(row);
    cols[to + at] = a.col_indices[from + at];
    if (values != nullptr) values[to + at] = a.values[from + at];
  }
}

/// y = beta * y.
template <class Types>
__global__ void scale(OutputUpdate<Types> y) {
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row < y.rows) y.store(static_cast<Index>(row), 0);
}

/// One warp adds up `share` entries, 32 at a time: a scan in which sums stop at the ends of rows.
/// Rows that end inside the share are added to y; no other warp does that for them.
template <class Types>
__global__ void multiply(EntryList<typename Types::Value> list, Offset share,
                         InputVector<typename Types::Vector> x, OutputUpdate<Types> y,
                         Carry<typename Types::Number>* carries) {
  using Number = typename Types::Number;
  const Offset warp = (Offset{blockIdx.x} * kSpmvThreads + threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
  const Offset begin = warp * share, end = min(begin + share, list.count);
  if (begin >= end) return;  // the whole warp
  Carry<Number> carry = {-1, 0};
  for (Offset from = begin; from < end; from += kWarpLanes) {
    const Offset at = from + lane;
    const bool is_there = at < end;
    Index row = is_there ? load_once(list.rows + at) : -1;
    Number sum = 0;
    if (is_there) {
      sum = value_of<Number>(list.values, at) * x.template at<Number>(load_once(list.cols + at));
    }
    if (lane == 0 && carry.row >= 0) {
      if (carry.row == row) {
        sum += carry.sum;
      } else {
        y.add(carry.row, carry.sum);
      }
    }
#pragma unroll
    for (int apart = 1; apart < kWarpLanes; apart *= 2) {
      const Index other_row = __shfl_up_sync(kAllLanes, row, apart);
      const Number other = __shfl_up_sync(kAllLanes, sum, apart);
      if (lane >= apart && other_row == row) sum += other;
    }
    // The last entry of this round carries its row into the next one; other ends of rows are final.
    const int last = static_cast<int>(min(end - from, Offset{kWarpLanes})) - 1;
    const Index next_row = __shfl_down_sync(kAllLanes, row, 1);
    if (lane < last && next_row != row) y.add(row, sum);
    carry.row = __shfl_sync(kAllLanes, row, last);
    carry.sum = __shfl_sync(kAllLanes, sum, last);
  }
  if (lane == 0) carries[warp] = carry;
}

/// One thread per carry; the first of those with the same row adds them up, in their order.
template <class Types>
__global__ void add_carries(const Carry<typename Types::Number>* carries, Offset count,
                            OutputUpdate<Types> y) {
  const Offset first = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (first >= count) return;
  const Index row = carries[first].row;
  if (first > 0 && carries[first - 1].row == row) return;
  typename Types::Number sum = carries[first].sum;
  for (Offset at = first + 1; at < count && carries[at].row == row; ++at) sum += carries[at].sum;
  y.add(row, sum);
}

}  // namespace entries

/// The arrays, owned.
template <class Types>
class EntryPart {
  using Value = typename Types::Value;
  using Number = typename Types::Number;

 public:
  /// The entries of each row behind its first `skipped`. Waits.
  void make(const DeviceCsr& a, Index skipped, DeviceMemory& memory) {
    const cudaStream_t stream = memory.stream();
    const DeviceBuffer<Offset> starts(memory, Offset{a.rows()} + 1, "counting entries");
    entries::count_behind<<<spmv_blocks(Offset{a.rows()} + 1), kSpmvThreads, 0, stream>>>(
        a.view<void>(), skipped, starts.data());
    CHECK_LAUNCH("entries::count_behind", stream);
    exclusive_sum(memory, starts.data(), starts.size());
    const Offset count = fetch(starts.data() + a.rows(), stream);
    rows_ = DeviceBuffer<Index>(memory, count, "rows of entries");
    cols_ = DeviceBuffer<Index>(memory, count, "columns of entries");
    if (a.value_kind() != ValueKind::none) {
      values_ = DeviceBuffer<Value>(memory, count, "values of entries");
    }
    carries_ = DeviceBuffer<Carry<Number>>(memory, (count + kShare - 1) / kShare, "carries");
    if (count == 0) return;
    entries::fill<<<spmv_blocks(Offset{a.rows()} * kWarpLanes), kSpmvThreads, 0, stream>>>(
        a.view<Value>(), skipped, starts.data(), rows_.data(), cols_.data(), values_.data());
    CHECK_LAUNCH("entries::fill", stream);
  }
  /// y = beta * y.
  void launch_scale(const OutputUpdate<Types>& y, cudaStream_t stream) const {
    entries::scale<Types><<<spmv_blocks(y.rows), kSpmvThreads, 0, stream>>>(y);
    CHECK_LAUNCH("entries::scale", stream);
  }
  /// y += alpha * this * x.
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    if (rows_.size() == 0) return;
    entries::multiply<Types>
        <<<spmv_blocks(carries_.size() * kWarpLanes), kSpmvThreads, 0, stream>>>(
            {rows_.size(), rows_.data(), cols_.data(), values_.data()}, kShare, x, y,
            carries_.data());
    CHECK_LAUNCH("entries::multiply", stream);
    entries::add_carries<Types><<<spmv_blocks(carries_.size()), kSpmvThreads, 0, stream>>>(
        carries_.data(), carries_.size(), y);
    CHECK_LAUNCH("entries::add_carries", stream);
  }
  Offset count() const { return rows_.size(); }
  std::uint64_t bytes() const {
    return rows_.size_bytes() + cols_.size_bytes() + values_.size_bytes();
  }

 private:
  static constexpr Offset kShare = 8 * kWarpLanes;  // entries of a warp

  DeviceBuffer<Index> rows_, cols_;
  DeviceBuffer<Value> values_;
  DeviceBuffer<Carry<Number>> carries_;
};

}  // namespace csrkit::gpu
