// nnz_split: pieces of about equally many nonzeros, whatever the lengths of the rows.
// Owns     a group of 8, 16 or 32 lanes: one piece, nonzero by nonzero; a lane: 16 bytes of
//          columns. Rows inside a piece go straight to C. The parts of a cut row go to the
//          workspace and are added up by a second kernel in the order of the pieces: no atomics,
//          the same bits always. Empty rows are units of their own, after the pieces: C needs no
//          clearing before.
// Reads    A once per slice, coalesced, passed on by shuffles, evicted first; B one aligned vector
//          per lane, kBatch of them asked for before the first is used, across row ends; C written
//          once, evicted first. No shared memory in the first kernel, 2 KiB in the second
// Launch   256 threads. Slices of the columns in the outer grid dimension: one slice of B after the
//          other stays in the L2 cache, if a slice fits there at all
// Needs    nothing: the width of the vectors follows from K, leading dimensions and addresses
// Against  row_split: a row costs what it holds, whatever its length, and short rows no longer mean
//          few loads in flight. Still bad: an analysis, a bit per nonzero, lanes that diverge at
//          row ends, and so many registers that half the lanes fit. row_bins, the production kernel
//          that follows, has no work at row ends
// Akin to  merge-based SpMV (Merrill, Garland, "Merge-based parallel sparse matrix-vector
//          multiplication", SC'16): equal work whatever the rows. There a path is searched through
//          row ends and nonzeros by each thread; here the analysis cuts the nonzeros alone, and
//          marks row ends by a bit

#include <algorithm>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/ladder/nnz_split_pieces.h"
#include "gpu/spmm/ladder/nnz_split_sums.cuh"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

using namespace nnz_split;

namespace {

constexpr int kThreads = 256;
constexpr int kBatch = 8;  // loads of B in flight per lane: 32 registers at 16 bytes
constexpr int kMinLanesLog2 = 3, kMaxLanesLog2 = 5;
static_assert(kBatch <= 1 << kMinLanesLog2, "a batch is passed on from the lanes of one group");

// A long piece costs less per nonzero, many pieces fill the machine: about this many warps are
// wanted, then pieces grow up to where the cost of starting one no longer shows.
constexpr Offset kWantedWarps = 16384;
constexpr int kMinPieceEntries = 32, kMaxPieceEntries = 512;

constexpr int kPartsPerStream = 8;

constexpr int kRowEnd = static_cast<int>(0x80000000u);  // sign bit of an entry: last of its row
constexpr int kNoEntry = 0x7fffffff;                    // no column: there are at most 2^31 - 1

/// log2 of the lanes per group: as many as the columns need, unless a narrower slice of B would
/// stay in L2 where the wider does not. A third of L2 is left to A, C and what the hashing of
/// addresses makes uneven.
int lanes_log2_for(Index dense_cols, Index b_rows, int width, std::size_t value_bytes) {
  const auto l2_bytes = static_cast<Offset>(current_l2_bytes());
  const Offset vectors = (Offset{dense_cols} + width - 1) / width;
  const int widest = std::clamp(log2_ceiling(vectors), kMinLanesLog2, kMaxLanesLog2);
  for (int log2 = widest; log2 >= kMinLanesLog2; --log2) {
    const Offset columns = std::min(Offset{width} << log2, Offset{dense_cols});
    if (Offset{b_rows} * columns * static_cast<Offset>(value_bytes) <= l2_bytes / 3 * 2) {
      return log2;
    }
  }
  return widest;
}

int piece_entries_for(const SpmmSizes& sizes, int lanes_log2, int width) {
  const Offset slice = Offset{width} << lanes_log2;
  const Offset slices = (Offset{sizes.dense_cols} + slice - 1) / slice;
  const Offset groups = kWantedWarps * (kWarpLanes >> lanes_log2);
  int entries = kMinPieceEntries;
  while (entries < kMaxPieceEntries && sizes.nnz / groups * slices >= 2 * entries) entries *= 2;
  return entries;
}

template <class Types, int kWidth>
__global__ void __launch_bounds__(kThreads)
    multiply_pieces(DeviceCsrView<typename Types::Value> a, Pieces pieces,
                    DeviceDenseView<const typename Types::Value> b,
                    DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                    typename Types::Accumulate beta, AlgebraOf<Types> algebra,
                    typename Types::Accumulate* parts, int lanes_log2, Offset first_column) {
  using Number = typename Types::Accumulate;
  using Value = typename Types::Value;
  const int lanes = 1 << lanes_log2;
  const int member = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int leader = static_cast<int>(threadIdx.x) % kWarpLanes - member;
  const Offset unit = (Offset{blockIdx.x} * kThreads + threadIdx.x) >> lanes_log2;
  const Offset column = first_column + ((Offset{blockIdx.y} << lanes_log2) + member) * kWidth;
  const bool has_columns = column < c.cols;

  Sums<Types, kWidth> sums;
  sums.clear(algebra);
  Offset start = 0;
  int length = 0;
  Index rank = 0, row = 0;
  bool began_before = false, ends_later = false;
  if (unit < pieces.count) {
    start = pieces.starts[unit];
    length = static_cast<int>(pieces.starts[unit + 1] - start);
    rank = pieces.first_ranks[unit];
    began_before = rank < 0;
    if (began_before) rank = ~rank;
    row = pieces.rows != nullptr ? pieces.rows[rank] : rank;
    ends_later = !pieces.ends_row(start + length - 1);
  } else if (unit < pieces.count + pieces.empty_rows && has_columns) {
    const Index empty = pieces.rows[pieces.nonempty_rows + (unit - pieces.count)];
    sums.store(c.data + Offset{empty} * c.leading_dim + column, alpha, beta);
  }

  const Index* col_indices = a.col_indices + start;
  const Value* b_column = b.data + (has_columns ? column : 0);  // lanes beyond K read, and drop
  const auto load_entry = [&](int at, int& entry, Number& x) {
    entry = kNoEntry;
    x = 0;
    if (at < length) {
      entry = load_once(col_indices + at) | (pieces.ends_row(start + at) ? kRowEnd : 0);
      x = value_at<Types>(a, start + at);
    }
  };
  int next_entry;
  Number next_x;
  load_entry(member, next_entry, next_x);
  // All lanes of a warp stay together, as the shuffles demand: the longest piece sets the pace.
  const int longest = __reduce_max_sync(kAllLanes, length);
  for (int done = 0; done < longest; done += lanes) {
    const int my_entry = next_entry;
    const Number my_x = next_x;
    load_entry(done + lanes + member, next_entry, next_x);
    const int steps = min(lanes, longest - done);
    for (int step = 0; step < steps; step += kBatch) {
      int entry[kBatch];
      Pack<Value, kWidth> y[kBatch];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        entry[u] = __shfl_sync(kAllLanes, my_entry, leader + step + u);
        if (entry[u] != kNoEntry) {
          y[u] = load_kept<kWidth>(b_column + Offset{entry[u] & ~kRowEnd} * b.leading_dim);
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        const Number x = __shfl_sync(kAllLanes, my_x, leader + step + u);
        if (entry[u] != kNoEntry) sums.add_product(x, y[u]);
        if (entry[u] < 0) {
          if (began_before) {
            if (has_columns) store_part<Types>(parts + 2 * unit * c.cols + column, sums);
            began_before = false;
          } else if (has_columns) {
            sums.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
          }
          sums.clear(algebra);
          ++rank;
          // Asked for now, needed at the next row end only.
          row = rank;
          if (pieces.rows != nullptr && rank < pieces.nonempty_rows) row = pieces.rows[rank];
        }
      }
    }
  }
  if (ends_later && has_columns) {
    store_part<Types>(parts + (2 * unit + 1) * c.cols + column, sums);
  }
}

template <class Types>
class NnzSplit {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;

 public:
  explicit NnzSplit(const SpmmProblem& problem) : algebra_(problem.semiring) {}

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    const PieceMaker maker = maker_for(sizes);
    // Two parts per piece: what it begins with and what it ends with.
    return maker.workspace_bytes() + 2 * static_cast<std::uint64_t>(maker.max_pieces()) *
                                         static_cast<std::uint64_t>(sizes.dense_cols) *
                                         sizeof(Number);
  }

  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    return maker_for(sizes).workspace_bytes();
  }

  void adopt(const SpmmSizes& sizes, void* workspace) {
    maker_ = maker_for(sizes);
    parts_ =
        reinterpret_cast<Number*>(static_cast<std::byte*>(workspace) + maker_.workspace_bytes());
  }

  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    maker_.analyse(a.row_offsets, a.base, workspace, stream);
  }

  void finish_analysis(void* workspace, cudaStream_t stream) {
    cut_ = maker_.finish(workspace, stream);
  }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, Number alpha, Number beta, void*,
              cudaStream_t stream) const {
    with_width<Types>(widest_access(b, c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      const int lanes_log2 = lanes_log2_for(c.cols, b.rows, kWidth, sizeof(Value));
      const Offset slice = Offset{kWidth} << lanes_log2;
      const Offset slices = (Offset{c.cols} + slice - 1) / slice;
      const Offset units = cut_.pieces.count + cut_.pieces.empty_rows;
      const Offset blocks = ((units << lanes_log2) + kThreads - 1) / kThreads;
      for (Offset done = 0; done < slices; done += kMaxGridY) {
        const dim3 grid(static_cast<unsigned>(blocks),
                        static_cast<unsigned>(std::min(slices - done, kMaxGridY)));
        multiply_pieces<Types, kWidth><<<grid, kThreads, 0, stream>>>(
            a, cut_.pieces, b, c, alpha, beta, algebra_, parts_, lanes_log2, done * slice);
        CHECK_LAUNCH("multiply_pieces", stream);
      }
    });
    if (cut_.cut_row_count == 0) return;
    const int streams_log2 =
        log2_ceiling((cut_.most_pieces + kPartsPerStream - 1) / kPartsPerStream);
    const dim3 block(kWarpLanes, std::min(1u << std::min(streams_log2, 10), unsigned{kMaxStreams}));
    const Offset tiles = (Offset{c.cols} + kWarpLanes - 1) / kWarpLanes;
    const dim3 grid(static_cast<unsigned>(cut_.cut_row_count),
                    static_cast<unsigned>(std::min(tiles, kMaxGridY)));
    add_up_cut_rows<Types>
        <<<grid, block, 0, stream>>>(cut_.cut_rows, parts_, c, alpha, beta, algebra_);
    CHECK_LAUNCH("add_up_cut_rows", stream);
  }

  std::string choice() const {
    return counted(cut_.pieces.count, "piece") + ", " + counted(cut_.cut_row_count, "row") + " cut";
  }

 private:
  // At full width: how operands are aligned is not known before they are bound.
  static PieceMaker maker_for(const SpmmSizes& sizes) {
    const int width = compiled_width<Types>(16 / static_cast<int>(sizeof(Value)));
    const int lanes_log2 = lanes_log2_for(sizes.dense_cols, sizes.cols, width, sizeof(Value));
    return PieceMaker(sizes.rows, sizes.nnz, piece_entries_for(sizes, lanes_log2, width));
  }

  AlgebraOf<Types> algebra_;
  PieceMaker maker_;
  PieceMaker::Result cut_;
  Number* parts_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_nnz_split(const SpmmProblem& problem) {
  return typed_spmm<NnzSplit>(problem);
}

}  // namespace csrkit::gpu
