// A product with plain CSR that every warp streams through its own part of shared memory: while
// its lanes multiply what has come, what it needs next is on its way as a bulk copy.
#pragma once

#include "gpu/device/bulk_copy.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/solve/streamed_matrix.h"

namespace csrkit::gpu {

/// The rows of a block: chunk c has first + c * stride + threadIdx.x of each thread, if below end.
struct RowsOfBlock {
  Index rows;  // of the system
  Index first, end, stride;
  int chunks;

  __device__ Index row_of(int chunk) const {
    const Offset row = first + Offset{chunk} * stride + threadIdx.x;
    return row < end ? static_cast<Index>(row) : rows;
  }
};

/// What a warp knows of the stream of its rows. A round is a part of the entries of 32 rows, as
/// many as there is room for; one is on its way at any time.
template <class T>
class CsrStream {
 public:
  /// `room` is the warp's, `barrier` too; the first round sets out.
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

  /// To be called once, at the end: nothing may be on its way when a block ends.
  __device__ void finish() { barrier_->wait(round_ % 2); }

 private:
  static constexpr int kAtOnce = 4;  // entries of a row that a lane takes out before it multiplies

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarpLanes; }

  /// Asks for the offsets of the rows of `chunk`, which comes next.
  __device__ void look_at(int chunk) {
    const Index row = rows_.row_of(chunk);
    next_begin_ = __ldg(a_.offsets + row);
    next_end_ = __ldg(a_.offsets + min(row + 1, rows_.rows));
  }
  /// Rounded down to where a bulk copy can begin.
  __device__ std::uint32_t first_of_next() const {
    return __shfl_sync(kAllLanes, next_begin_, 0) / kStreamUnit * kStreamUnit;
  }
  __device__ std::uint32_t last_of_next() const {
    return __shfl_sync(kAllLanes, next_end_, kWarpLanes - 1);
  }

  /// The round of entries first ... last, or the beginning of them. To be called by the whole warp,
  /// whose lanes are done with the round before.
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

  /// The products of this lane's entries from ... to of the round. Calls send_next() when the
  /// warp's lanes have taken all of theirs out.
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
