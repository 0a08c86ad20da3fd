// Rows of C by sorting in registers, in adaptive_rows.
// Owns     4 to 32 lanes: one row of at most 16 to 256 products; a block of 64 to 256: one of up to
//          4096, or a part of a longer one's columns. A lane has 4 to 16 products
// Reads    A's row, and the products' columns and values of B once, all loads of a lane in flight
//          before the first is used. In shared memory 16 bytes per product: first the row's
//          sources, then values by number, sorted keys and where the entries start among them
// Launch   128 threads for rows that a warp sorts, a block per row for the others
// Needs    the row's columns within 2^32 / (most products): the rules of the bins guarantee it
// Against  hashing: here are no probes, no atomics on a critical path and no second sort; merging
//          by one thread, whose loads depend on each other. A network for 64 keys in 8 lanes of 8
//          takes some 30 instructions a key. Sums are in the order of A's columns. Sources: Batcher
//          1968, with one half mirrored so that all comparisons have one direction; Winter 2019
//          (AC-SpGEMM) expands, sorts and compresses in one block
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/binning/short_rows.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/numeric/row_sort_make.cuh"
#include "gpu/spgemm/adaptive_rows/numeric/staged_rows.h"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"

namespace csrkit::gpu {

namespace sorting {

/// The rows of one launch; those of a whole warp or more may have twins.
template <class Value, bool kHasTwins>
struct SortedRows {
  template <class S>
  using Space = SortedRow<Value, S, (kHasTwins && S::kLanes >= 32)>;
};

template <class Value>
__device__ PlaceInC place_in_c(const MakeRows<Value>& op, const SortItem& item) {
  return {op.c.row_offsets, item.is_there ? op.c.row_offsets[item.row] : 0};
}

template <class Value, class S, bool kHasTwins>
__global__ void __launch_bounds__(S::kThreads)
    make_by_sorting(MakeRows<Value> op, Structure structure, RowList list) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  const SortItem item = item_of<S>(op.profile, list, blockIdx.x);
  make_sorted<S, PartKind::whole_row>(
      op, structure, item, place_in_c(op, item),
      *reinterpret_cast<SortedRow<Value, S, kHasTwins>*>(shared_bytes));
}

template <class Value, bool kHasTwins>
__global__ void __launch_bounds__(ShortRows::kThreads)
    make_short(MakeRows<Value> op, Structure structure, ShortRows rows) {
  using Rows = SortedRows<Value, kHasTwins>;
  constexpr std::size_t kBytes = kBytesOfShortRows<Rows::template Space>;
  __shared__ __align__(16) std::byte shared_bytes[kBytes];
  for_short_rows(op.profile, rows, [&](auto tag, const SortItem& item) {
    make_sorted<typename decltype(tag)::Shape, PartKind::whole_row>(
        op, structure, item, place_in_c(op, item),
        tag.template space<Rows::template Space>(shared_bytes));
  });
}

/// Places of rows among the staged ones. Notes them and the number of entries.
template <class S, bool kHasTwins, class Value>
struct StagedPlace {
  const RowProfile& profile;
  const StagedRows<Value>& staged;
  const SortItem& item;
  unsigned long long* of_block;  // in shared memory; only if the row is a block's

  /// By all lanes of the warp or block. -1: there is no room.
  __device__ Offset operator()(std::uint32_t entries) const {
    std::uint32_t wanted = item.is_there ? entries : 0;
    if constexpr (kHasTwins) {
      if (item.is_there) wanted *= TwinRows(profile, item.row).count();
    }
    const unsigned arena = blockIdx.x % StagedRows<Value>::kArenas;
    const unsigned long long at = reserve(wanted, staged.used + arena);
    const bool has_room = at + wanted <= staged.room;
    const std::uint32_t to = arena * staged.room + static_cast<std::uint32_t>(at);
    if (item.is_there && S::rank() == 0) {
      profile.counts[item.row] = entries;
      if (has_room) profile.staged[item.row] = to;
    }
    return item.is_there && has_room ? Offset{to} : -1;
  }
  __device__ Offset of_twin(Index row, int number, Offset to, std::uint32_t entries) const {
    const Offset at = to + number * Offset{entries};
    if (S::rank() == 0) profile.staged[row] = static_cast<std::uint32_t>(at);
    return at;
  }

 private:
  /// Adds `wanted` to `used`. Returns what it was before.
  __device__ unsigned long long reserve(std::uint32_t wanted, unsigned long long* used) const {
    if constexpr (S::kIsBlock) {
      if (threadIdx.x == 0) *of_block = atomicAdd(used, static_cast<unsigned long long>(wanted));
      __syncthreads();
      return *of_block;
    } else {
      // one atomic for all rows of the warp
      const int lane = static_cast<int>(threadIdx.x & 31);
      std::uint32_t sum = wanted;
#pragma unroll
      for (int distance = S::kLanes; distance < 32; distance *= 2) {
        const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, distance);
        if (lane >= distance) sum += other;
      }
      unsigned long long first = 0;
      if (lane == 31) first = atomicAdd(used, static_cast<unsigned long long>(sum));
      return __shfl_sync(kAllLanes, first, 31) + sum - wanted;
    }
  }
};

template <class Value, class S, bool kHasTwins>
__global__ void __launch_bounds__(S::kThreads)
    stage_by_sorting(MakeRows<Value> op, StagedRows<Value> staged, RowList list) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ unsigned long long of_block;
  const SortItem item = item_of<S>(op.profile, list, blockIdx.x);
  const StagedPlace<S, kHasTwins, Value> place = {op.profile, staged, item, &of_block};
  make_sorted<S, PartKind::whole_row>(
      op, Structure::wanted, item, place,
      *reinterpret_cast<SortedRow<Value, S, kHasTwins>*>(shared_bytes));
}

template <class Value, bool kHasTwins>
__global__ void __launch_bounds__(ShortRows::kThreads)
    stage_short(MakeRows<Value> op, StagedRows<Value> staged, ShortRows rows) {
  using Rows = SortedRows<Value, kHasTwins>;
  constexpr std::size_t kBytes = kBytesOfShortRows<Rows::template Space>;
  __shared__ __align__(16) std::byte shared_bytes[kBytes];
  for_short_rows(op.profile, rows, [&](auto tag, const SortItem& item) {
    using S = typename decltype(tag)::Shape;
    const StagedPlace<S, (kHasTwins && S::kLanes == 32), Value> place = {op.profile, staged, item,
                                                                         nullptr};
    make_sorted<S, PartKind::whole_row>(op, Structure::wanted, item, place,
                                        tag.template space<Rows::template Space>(shared_bytes));
  });
}

/// A block per part. Parts with more products, or few enough for half as many lanes, are left to
/// other launches.
template <class Value, class S, PartKind kPart>
__global__ void __launch_bounds__(S::kThreads)
    make_part_by_sorting(MakeRows<Value> op, Structure structure, BinRules rules, RowParts parts,
                         std::uint32_t fewest) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  const Offset number = blockIdx.x;
  const std::uint32_t products = parts.products[number];
  if (products > S::kMost || products < fewest) return;
  const PartOfRow part = part_of_row(op.profile, rules, parts, number);
  const Offset to = op.c.row_offsets[part.row] + parts.starts[number];
  const SortItem item = {true, part.row, part.first_word << kWordLog2,
                         (Offset{part.first_word} + part.words) << kWordLog2};
  make_sorted<S, kPart>(op, structure, item, PlaceInC{op.c.row_offsets, to},
                        *reinterpret_cast<SortedRow<Value, S>*>(shared_bytes));
}

/// Calls launch(tag, has_twins) with the shape of rows in `bin`, a CountBin or MakeBin from
/// sort_512 on. From 512 products on a lane has half as many: registers are short, and shared
/// memory bounds the number of blocks.
template <class Bin, class Launch>
void with_block_shape(Bin bin, bool has_twins, const Launch& launch) {
  const auto run = [&](auto tag) {
    if (has_twins) return launch(tag, std::true_type{});
    launch(tag, std::false_type{});
  };
  switch (bin) {
    case Bin::sort_512: return run(OwnShape<SortShape<64, 8>>{});
    case Bin::sort_1024: return run(OwnShape<SortShape<128, 8>>{});
    case Bin::sort_2048: return run(OwnShape<SortShape<256, 8>>{});
    case Bin::sort_4096: return run(OwnShape<SortShape<256, 16>>{});
    default: throw std::logic_error("adaptive_rows: a bin that is not sorted");
  }
}

template <class S, PartKind kPart, class Value>
void launch_parts(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                  const RowParts& parts, std::uint32_t fewest, cudaStream_t stream) {
  launch_rows<S::kThreads, S::kLanes>(make_part_by_sorting<Value, S, kPart>, "make_part_by_sorting",
                                      parts.count, static_cast<int>(sizeof(SortedRow<Value, S>)),
                                      stream, op, structure, rules, parts, fewest);
}

}  // namespace sorting

template <class Value>
void make_short_rows(Structure structure, const MakeRows<Value>& op, const ShortRows& rows,
                     unsigned blocks, cudaStream_t stream) {
  const auto kernel =
      op.has_twins ? sorting::make_short<Value, true> : sorting::make_short<Value, false>;
  kernel<<<blocks, ShortRows::kThreads, 0, stream>>>(op, structure, rows);
  CHECK_LAUNCH("make_short", stream);
}

template <class Value>
void make_rows_by_sorting(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                          const RowList& list, cudaStream_t stream) {
  sorting::with_block_shape(bin, op.has_twins, [&](auto tag, auto has_twins) {
    using S = typename decltype(tag)::Shape;
    launch_rows<S::kThreads, S::kLanes>(
        sorting::make_by_sorting<Value, S, has_twins>, "make_by_sorting", list.count,
        static_cast<int>(sizeof(SortedRow<Value, S, has_twins>)), stream, op, structure, list);
  });
}

template <class Value>
void stage_short_rows(const MakeRows<Value>& op, const StagedRows<Value>& staged,
                      const ShortRows& rows, cudaStream_t stream) {
  const auto kernel =
      op.has_twins ? sorting::stage_short<Value, true> : sorting::stage_short<Value, false>;
  kernel<<<rows.blocks(), ShortRows::kThreads, 0, stream>>>(op, staged, rows);
  CHECK_LAUNCH("stage_short", stream);
}

template <class Value>
void stage_rows_by_sorting(CountBin bin, const MakeRows<Value>& op, const StagedRows<Value>& staged,
                           const RowList& list, cudaStream_t stream) {
  sorting::with_block_shape(bin, op.has_twins, [&](auto tag, auto has_twins) {
    using S = typename decltype(tag)::Shape;
    launch_rows<S::kThreads, S::kLanes>(
        sorting::stage_by_sorting<Value, S, has_twins>, "stage_by_sorting", list.count,
        static_cast<int>(sizeof(SortedRow<Value, S, has_twins>)), stream, op, staged, list);
  });
}

template <class Value>
void make_parts_by_sorting(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                           const RowParts& parts, cudaStream_t stream) {
  const auto launch_by_size = [&](auto part) {
    constexpr PartKind kPart = decltype(part)::value;
    // Many lanes also for few products: all of them search the part's sources.
    sorting::launch_parts<SortShape<256, 16>, kPart>(structure, op, rules, parts, 2049, stream);
    sorting::launch_parts<SortShape<256, 8>, kPart>(structure, op, rules, parts, 1025, stream);
    sorting::launch_parts<SortShape<256, 4>, kPart>(structure, op, rules, parts, 1, stream);
  };
  constexpr Offset kOfOneLaunch = kFewParts / 2;  // then one launch is faster than three
  if (parts.count <= kOfOneLaunch) {
    sorting::launch_parts<SortShape<256, 16>, PartKind::one_of_few>(structure, op, rules, parts, 1,
                                                                    stream);
  } else if (parts.count <= kFewParts) {
    launch_by_size(std::integral_constant<PartKind, PartKind::one_of_few>{});
  } else {
    launch_by_size(std::integral_constant<PartKind, PartKind::one_of_many>{});
  }
}

}  // namespace csrkit::gpu
