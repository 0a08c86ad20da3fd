// A product with plain CSR. Every warp streams its rows through its own part of shared memory:
// while its lanes multiply one part, a bulk copy brings the next.
#pragma once

#include "gpu/device/bulk_copy.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/solve/streamed_matrix.h"

namespace csrkit::gpu {

/// The rows of a block: in chunk c a thread has row first + c * stride + threadIdx.x, if that is
/// below `end`.
struct RowsOfBlock {
  Index rows;  // of the system
  Index first, end, stride;
  int chunks;

  __device__ Index row_of(int chunk) const {
    const Offset row = first + Offset{chunk} * stride + threadIdx.x;
    return row < end ? static_cast<Index>(row) : rows;
  }
};

/// A warp's stream of its rows. A round is as many of the entries of 32 rows as there is room for.
/// One round is in flight at any time.
template <class T>
class CsrStream {
 public:
  /// `room` and `barrier` belong to this warp. Starts the first round.
  __device__ CsrStream(const StreamedMatrix<T>& a, const RowsOfBlock& rows, void* room,
                       BulkBarrier* barrier)
      : a_(a),
        rows_(rows),
        values_(static_cast<T*>(room)),
        cols_(reinterpret_cast<Index*>(values_ + (a.values == nullptr ? 0 : a.room))),
        barrier_(barrier),
        policy_(evicted_first()) {
    if (lane() == 0) barrier->begin();
    __syncwarp();
    look_at(0);
    send_for(first_of_next(), last_of_next());
  }

  /// Calls use(chunk, row, (A p)[row]) for every row of this thread. To be called by whole warps,
  /// any number of times; p may change in between.
  template <class Use>
  __device__ void multiply(const T* p, const Use& use) {
    for (int chunk = 0; chunk < rows_.chunks; ++chunk) {
      const Index row = rows_.row_of(chunk);
      const std::uint32_t begin = next_begin_, end = next_end_;
      const std::uint32_t last = last_of_next();
      std::uint32_t stage = first_of_next();
      look_at(chunk + 1 < rows_.chunks ? chunk + 1 : 0);
      T sum = 0;
      for (bool is_last = false; !is_last; stage += a_.room) {
        is_last = stage + a_.room >= last;
        barrier_->wait(round_++ % 2);
        const int from = static_cast<int>(max(begin, stage) - stage);
        const int to = static_cast<int>(min(end, stage + a_.room)) - static_cast<int>(stage);
        sum += multiply_round(p, from, to, [&] {
          is_last ? send_for(first_of_next(), last_of_next()) : send_for(stage + a_.room, last);
        });
      }
      if (row < rows_.rows) use(chunk, row, sum);
    }
  }

  /// Call it once, at the end: no copy may be in flight when a block ends.
  __device__ void finish() { barrier_->wait(round_ % 2); }

 private:
  // entries that a lane reads from shared memory before it multiplies
  static constexpr int kAtOnce = 4;

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarpLanes; }

  /// Loads the offsets of the rows of `chunk`, the next one.
  __device__ void look_at(int chunk) {
    const Index row = rows_.row_of(chunk);
    next_begin_ = __ldg(a_.offsets + row);
    next_end_ = __ldg(a_.offsets + min(row + 1, rows_.rows));
  }
  /// The first entry of the next chunk, rounded down to where a bulk copy can begin.
  __device__ std::uint32_t first_of_next() const {
    return __shfl_sync(kAllLanes, next_begin_, 0) / kStreamUnit * kStreamUnit;
  }
  __device__ std::uint32_t last_of_next() const {
    return __shfl_sync(kAllLanes, next_end_, kWarpLanes - 1);
  }

  /// Starts the copy of entries [first, last), or of as many as there is room for. By the whole
  /// warp, when its lanes are done with the round before.
  __device__ void send_for(std::uint32_t first, std::uint32_t last) {
    __syncwarp();
    if (lane() != 0) return;
    const std::uint32_t end = (last + kStreamUnit - 1) / kStreamUnit * kStreamUnit;
    const std::uint32_t count = first < end ? min(end - first, a_.room) : 0;
    const std::uint32_t value_bytes = a_.values == nullptr ? 0 : count * sizeof(T);
    barrier_->expect(count * sizeof(Index) + value_bytes);
    if (count == 0) return;
    copy_bulk(cols_, a_.cols + first, count * sizeof(Index), barrier_, policy_);
    if (value_bytes > 0) copy_bulk(values_, a_.values + first, value_bytes, barrier_, policy_);
  }

  /// The sum of the products of this lane's entries [from, to) of the round. Calls send_next() as
  /// soon as all lanes have read their entries.
  template <class SendNext>
  __device__ T multiply_round(const T* p, int from, int to, const SendNext& send_next) const {
    const int longest = max(__reduce_max_sync(kAllLanes, to - from), 1);
    T sum = 0;
    for (int step = 0; step < longest; step += kAtOnce) {
      Index col[kAtOnce];
      T value[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int at = from + step + k;
        col[k] = at < to ? cols_[at] : -1;
        if (at < to) value[k] = a_.values == nullptr ? T{1} : values_[at];
      }
      if (step + kAtOnce >= longest) send_next();
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        if (col[k] >= 0) sum += value[k] * p[col[k]];
      }
    }
    return sum;
  }

  const StreamedMatrix<T>& a_;
  const RowsOfBlock& rows_;
  T* values_;
  Index* cols_;
  BulkBarrier* barrier_;
  std::uint64_t policy_;
  std::uint32_t round_ = 0;
  std::uint32_t next_begin_ = 0, next_end_ = 0;
};

}  // namespace csrkit::gpu
