// row_panels: neighbouring rows share their loads of Y, in tiles of four rows and four columns.
// Owns     a lane: some of the K columns of all inner products of its group's tile; a group of 8 or
//          16 lanes: a piece of four tiles, one after the other; a block: 256 lanes
// Reads    a row of X and a row of Y once for each four of a tile's 16 places, from L1, 16 bytes a
//          lane (8 in 16 bits) where K, the leading dimensions and the addresses allow it, else
//          fewer. Places without an entry are computed and dropped
// Launch   as many groups as pieces
// Needs    21 bytes for every column of a panel (one of them for pieces): about 5 an entry where
//          all four rows have the same columns
// Against  row_groups, which reads a row of Y for every entry, and cusparseSDDMM. Every entry has
//          one order of summation, which depends on K, the width of the loads, whether rows lie
//          4 GiB apart, and, unless sums are f64, on whether there are 4,096 pieces or more

#include <string>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/sddmm/row_panels/row_panels.h"
#include "gpu/sddmm/rows.cuh"
#include "gpu/sddmm/typed.cuh"

namespace csrkit::gpu::sddmm {

namespace {

constexpr int kThreads = 256;

/// Every lane has kSums partial sums. Afterwards each lane has the totals of kSums / kLanes of
/// them, in order. All totals are added in the same order.
template <int kLanes, int kSums, class Sum>
__device__ void add_all_lanes(Sum (&sum)[kSums], int lane) {
  int left = kSums;
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    left /= 2;
    const bool is_upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < kSums / 2; ++i) {
      if (i >= left) break;
      const Sum own = is_upper ? sum[i + left] : sum[i];
      const Sum other = is_upper ? sum[i] : sum[i + left];
      sum[i] = own + __shfl_xor_sync(kAllLanes, other, distance);
    }
  }
}

/// A loaded word, widened to the type of the sums.
template <class T, int kWidth>
struct Factors {
  SumOf<T> item[kWidth];

  template <class Word>
  __device__ explicit Factors(const Word& word) {
    Pack<T, kWidth> pack;
    static_assert(sizeof pack == sizeof word);
    memcpy(&pack, &word, sizeof word);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) item[i] = widen<SumOf<T>>(pack.item[i]);
  }
};

/// Columns of a tile, and the entries that a lane stores; loaded one tile ahead.
template <int kOwn>
struct TilePlaces {
  int4 cols;
  Index entries[kOwn];

  __device__ void load(const TileListsView& lists, Offset tile, int lane) {
    cols = __ldg(reinterpret_cast<const int4*>(lists.cols) + tile);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      entries[i] = __ldg(lists.entries + tile * kTilePlaces + lane * kOwn + i);
    }
  }
};

/// Adds the products of a tile, kWidth elements a load. `col` is the lane's first column; its loads
/// are kStride columns apart.
template <class T, class Bytes, int kWidth, int kStride>
__device__ void add_tile(SumOf<T> (&sum)[kTilePlaces], const Rows<T, Bytes>& x,
                         const Rows<T, Bytes>& y, const PanelPiece& piece, const int4& tile_cols,
                         Index col, Index cols) {
  using Load = typename detail::Word<sizeof(T) * kWidth>::type;
  const Index y_rows[kTileCols] = {tile_cols.x, tile_cols.y, tile_cols.z, tile_cols.w};
#pragma unroll 1
  for (Index first = 0; first < cols; first += kStride, col += kStride) {
    const bool is_there = col < cols;
    Load of_x[kPanelRows], of_y[kTileCols];
#pragma unroll
    for (int c = 0; c < kTileCols; ++c) {
      of_y[c] = is_there ? load_word<Load>(y.at(y_rows[c], col)) : Load{};
    }
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      const Index x_row = piece.first_row + min(r, piece.rows - 1);
      of_x[r] = is_there ? load_word<Load>(x.at(x_row, col)) : Load{};
    }
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      const Factors<T, kWidth> x_factors(of_x[r]);
#pragma unroll
      for (int c = 0; c < kTileCols; ++c) {
        const Factors<T, kWidth> y_factors(of_y[c]);
        SumOf<T>& of_place = sum[r * kTileCols + c];
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          of_place = fma(x_factors.item[i], y_factors.item[i], of_place);
        }
      }
    }
  }
  __syncwarp();
}

template <class T, class Bytes, int kLanes, int kWidth>
__global__ void __launch_bounds__(kThreads, sizeof(SumOf<T>) == 4 ? 3 : 2)
    dots_of_panels(DeviceCsrView<void> a, Rows<T, Bytes> x, Rows<T, Bytes> y, Index cols,
                   TileListsView lists, Ends ends) {
  constexpr int kOwn = kTilePlaces / kLanes;  // places whose sums a lane gets
  const Offset group = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool has_piece = group < lists.count;
  if (__all_sync(kAllLanes, !has_piece)) return;
  const Index number = has_piece ? static_cast<Index>(group) : lists.count - 1;
  const int4 word = __ldg(reinterpret_cast<const int4*>(lists.pieces) + number);
  const PanelPiece piece{word.x, word.y, word.z, word.w};
  const Index own_row = piece.first_row + min(lane * kOwn / kTileCols, piece.rows - 1);
  const Offset own_begin = a.row_begin(own_row);
  TilePlaces<kOwn> next;
  next.load(lists, piece.first_tile, lane);
  // All groups of a warp make the same number of turns: they exchange sums with full-warp shuffles.
  const int turns = __reduce_max_sync(kAllLanes, piece.tiles);
  for (int turn = 0; turn < turns; ++turn) {
    const TilePlaces<kOwn> here = next;
    next.load(lists, piece.first_tile + min(turn + 1, piece.tiles - 1), lane);
    SumOf<T> sum[kTilePlaces] = {};
    add_tile<T, Bytes, kWidth, kLanes * kWidth>(sum, x, y, piece, here.cols, lane * kWidth, cols);
    add_all_lanes<kLanes>(sum, lane);
    if (!has_piece || turn >= piece.tiles) continue;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (here.entries[i] >= 0) store_entry(ends, own_begin + here.entries[i], sum[i]);
    }
  }
}

template <class T>
class RowPanels final : public TypedSddmm {
 public:
  RowPanels(const SddmmProblem& problem, TileLists&& lists)
      : TypedSddmm(problem), lists_(std::move(lists)) {}

  void explore(const DeviceCsrView<void>& a, DeviceMemory& memory) override {
    if (!TileLists::can_number(a.rows, a.nnz)) {
      throw UsageError("row_panels takes at most " + std::to_string(TileLists::kMost) +
                       " rows, and as many entries; A has " + counted(a.rows, "row") + " and " +
                       counted(a.nnz, "entry") + "; use auto or row_groups");
    }
    lists_.count(a, memory);
    lists_.make(a, memory);
  }

  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void*,
              cudaStream_t stream) override {
    const Launch given{a, call, stream};
    if (Rows<T>::are_far(call.x) || Rows<T>::are_far(call.y)) {
      return launch_panels<std::uint64_t, 16, 1>(given);
    }
    constexpr int kWidest = 16 / static_cast<int>(sizeof(SumOf<T>));
    const auto fits = [&](int width) {
      return has_loads_of(call.x, width) && has_loads_of(call.y, width);
    };
    if (fits(kWidest)) return with_width<kWidest>(given);
    if constexpr (kWidest > 2) {
      if (fits(2)) return with_width<2>(given);
    }
    with_width<1>(given);
  }

 private:
  struct Launch {
    const DeviceCsrView<void>& a;
    const DeviceCall& call;
    cudaStream_t stream;
  };

  template <int kWidth>
  void with_width(const Launch& given) const {
    // With 8 lanes there are fewer shuffles than with 16, but few pieces leave more of the device
    // idle.
    constexpr Index kManyPieces = 4096;
    const bool is_many = sizeof(SumOf<T>) == 4 && lists_.view().count >= kManyPieces;
    if (is_many || given.call.x.cols <= 8 * kWidth) {
      return launch_panels<std::uint32_t, 8, kWidth>(given);
    }
    launch_panels<std::uint32_t, 16, kWidth>(given);
  }

  template <class Bytes, int kLanes, int kWidth>
  void launch_panels(const Launch& given) const {
    const DeviceCall& call = given.call;
    constexpr Offset kGroups = kThreads / kLanes;
    const TileListsView lists = lists_.view();
    const unsigned blocks = blocks_of(lists.count, kGroups);
    dots_of_panels<T, Bytes, kLanes, kWidth><<<blocks, kThreads, 0, given.stream>>>(
        given.a, Rows<T, Bytes>(call.x), Rows<T, Bytes>(call.y), call.x.cols, lists,
        ends_of(given.a, call));
    CHECK_LAUNCH("dots_of_panels", given.stream);
  }

  TileLists lists_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_row_panels(const SddmmProblem& problem, TileLists&& lists) {
  return make_typed<RowPanels>(problem, std::move(lists));
}

std::unique_ptr<DeviceSddmm> make_device_row_panels(const SddmmProblem& problem) {
  return make_row_panels(problem, {});
}

}  // namespace csrkit::gpu::sddmm
