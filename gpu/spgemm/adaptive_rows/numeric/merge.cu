// Short rows of C by merging, in adaptive_rows.
// Owns     a thread: one row, made of at most 4 or 8 rows of B
// Reads    the heads of those rows of B, in registers; each step takes the smallest column, adds up
//          the heads that have it, in the order of A's columns, and advances them. Neighbouring
//          rows of a mesh read neighbouring memory; others find their sectors in L1 or L2
// Launch   128 threads; entries go through shared memory, eight of a row at a time
// Needs    at most kMostMerged products, so that the lanes of a warp finish at about the same time
// Against  hashing with a lane per product: half of the lanes idle on rows this short, and every
//          product costs a shared atomic, a probe and a share of the sort. Here it costs a compare
//          per row of B

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"
#include "gpu/spgemm/adaptive_rows/symbolic/count.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128;
constexpr int kStaged = 8;              // entries of a row that are written together
constexpr Index kNoColumn = INT32_MAX;  // greater than any column

/// The rows of B of one row of C. Position: 32 bits where B's size allows, to save registers.
template <class Value, int kSources, class Position>
struct Heads {
  Index cols[kSources];
  Position at[kSources], end[kSources];

  __device__ void open(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Offset begin,
                       Offset sources) {
#pragma unroll
    for (int i = 0; i < kSources; ++i) {
      at[i] = end[i] = 0;
      if (i < sources) {
        const Index source = __ldg(a.col_indices + begin + i);
        at[i] = static_cast<Position>(b.row_begin(source));
        end[i] = static_cast<Position>(b.row_end(source));
      }
    }
#pragma unroll
    for (int i = 0; i < kSources; ++i) {
      cols[i] = at[i] < end[i] ? __ldg(b.col_indices + at[i]) : kNoColumn;
    }
  }
  __device__ Index smallest() const {
    Index col = cols[0];
#pragma unroll
    for (int i = 1; i < kSources; ++i) col = min(col, cols[i]);
    return col;
  }
  __device__ void advance(const DeviceCsrView<Value>& b, int i) {
    ++at[i];
    cols[i] = at[i] < end[i] ? __ldg(b.col_indices + at[i]) : kNoColumn;
  }
};

template <int kSources, class Position>
__global__ void __launch_bounds__(kThreads)
    count_by_merging(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile,
                     RowList list) {
  const Offset item = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (item >= list.count) return;
  const Index row = list.rows[item];
  const Offset begin = a.row_begin(row);
  Heads<float, kSources, Position> heads;
  heads.open(a, b, begin, a.row_end(row) - begin);
  std::uint32_t count = 0;
  for (Index col = heads.smallest(); col != kNoColumn; col = heads.smallest()) {
    ++count;
#pragma unroll
    for (int i = 0; i < kSources; ++i) {
      if (heads.cols[i] == col) heads.advance(b, i);
    }
  }
  profile.counts[row] = count;
}

/// Entries that a warp has made but not yet written, a few of each of its 32 rows. A row's entries
/// are neighbours in C, so writing them together coalesces the accesses.
template <class Value>
struct Stage {
  Value values[32][kStaged + 1];  // padded, so that lanes use different banks
  Index cols[32][kStaged + 1];
};

template <class Value, int kSources, class Position, Structure kStructure>
__global__ void __launch_bounds__(kThreads) make_by_merging(MakeRows<Value> op, RowList list) {
  __shared__ Stage<Value> stages[kThreads / 32];
  Stage<Value>& stage = stages[threadIdx.x >> 5];
  const int lane = static_cast<int>(threadIdx.x & 31);
  const Offset item = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const bool has_row = item < list.count;
  const Index row = has_row ? list.rows[item] : 0;
  const Offset begin = has_row ? op.a.row_begin(row) : 0;
  const Offset sources = has_row ? op.a.row_end(row) - begin : 0;
  Heads<Value, kSources, Position> heads;
  heads.open(op.a, op.b, begin, sources);
  Value x[kSources];
#pragma unroll
  for (int i = 0; i < kSources; ++i) x[i] = i < sources ? value_of(op.a, begin + i) : Value{};
  Offset to = has_row ? op.c.row_offsets[row] : 0;
  const Value nothing = empty_sum<Value>(op.semiring);
  Index col = heads.smallest();
  while (__any_sync(kAllLanes, col != kNoColumn)) {
    int staged = 0;
    for (; staged < kStaged && col != kNoColumn; ++staged, col = heads.smallest()) {
      Value sum = nothing;
#pragma unroll
      for (int i = 0; i < kSources; ++i) {
        if (heads.cols[i] == col) {
          // Rounded before it is added, as the sorting kernels do: which of them makes a row may
          // depend on how C is cut into blocks of rows, but its bits must not.
          const Value term = add_product(op.semiring, nothing, x[i], value_of(op.b, heads.at[i]));
          sum = add_sums(op.semiring, sum, term);
          heads.advance(op.b, i);
        }
      }
      if constexpr (kStructure == Structure::wanted) stage.cols[lane][staged] = col;
      stage.values[lane][staged] = op.alpha * sum;
    }
    __syncwarp();
    constexpr int kRowsAtOnce = 32 / kStaged;
#pragma unroll
    for (int first = 0; first < 32; first += kRowsAtOnce) {
      const int from = first + lane / kStaged, place = lane % kStaged;
      const Offset at = __shfl_sync(kAllLanes, to, from) + place;
      if (place < __shfl_sync(kAllLanes, staged, from)) {
        if constexpr (kStructure == Structure::wanted) {
          op.c.col_indices[at] = stage.cols[from][place];
        }
        op.c.values[at] = stage.values[from][place];
      }
    }
    __syncwarp();
    to += staged;
  }
}

template <int kSources>
void launch_count(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                  const RowProfile& profile, const RowList& list, cudaStream_t stream) {
  if (b.row_offsets.narrow != nullptr) {
    launch_rows<kThreads, 1>(count_by_merging<kSources, std::uint32_t>, "count_by_merging",
                             list.count, 0, stream, a, b, profile, list);
  } else {
    launch_rows<kThreads, 1>(count_by_merging<kSources, Offset>, "count_by_merging", list.count, 0,
                             stream, a, b, profile, list);
  }
}

template <int kSources, Structure kStructure, class Value>
void launch_make(const MakeRows<Value>& op, const RowList& list, cudaStream_t stream) {
  if (op.b.row_offsets.narrow != nullptr) {
    launch_rows<kThreads, 1>(make_by_merging<Value, kSources, std::uint32_t, kStructure>,
                             "make_by_merging", list.count, 0, stream, op, list);
  } else {
    launch_rows<kThreads, 1>(make_by_merging<Value, kSources, Offset, kStructure>,
                             "make_by_merging", list.count, 0, stream, op, list);
  }
}

}  // namespace

void count_rows_by_merging(CountBin bin, const DeviceCsrView<float>& a,
                           const DeviceCsrView<float>& b, const RowProfile& profile,
                           const RowList& list, cudaStream_t stream) {
  if (bin == CountBin::merge_4) return launch_count<4>(a, b, profile, list, stream);
  launch_count<8>(a, b, profile, list, stream);
}

template <class Value>
void make_rows_by_merging(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                          const RowList& list, cudaStream_t stream) {
  const bool is_known = structure == Structure::known;
  if (bin == MakeBin::merge_4) {
    return is_known ? launch_make<4, Structure::known>(op, list, stream)
                    : launch_make<4, Structure::wanted>(op, list, stream);
  }
  return is_known ? launch_make<8, Structure::known>(op, list, stream)
                  : launch_make<8, Structure::wanted>(op, list, stream);
}

template void make_rows_by_merging(MakeBin, Structure, const MakeRows<float>&, const RowList&,
                                   cudaStream_t);
template void make_rows_by_merging(MakeBin, Structure, const MakeRows<double>&, const RowList&,
                                   cudaStream_t);

}  // namespace csrkit::gpu
