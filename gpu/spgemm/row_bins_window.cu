// Rows of C by windows of bits, in row_bins.
// Owns     a warp or a block: one row, or a part of its columns
// Reads    A's row; B's columns twice, the second time with values, in order. In shared memory, for
//          every 32 columns between the row's first and last: which of them C has, and how many come
//          before; then one sum per entry. Bits are set by atomics, sums need none (row_groups.cuh)
// Launch   4 warps of a row each: blocks of 8 and 16 were slower, for a multiprocessor holds fewer of
//          them; blocks of 256 or 512 threads for wide or long rows. Sums that do not fit stand in C
//          itself, which the block alone writes
// Needs    columns of C in ascending words, so they come out sorted
// Against  hashing: no probes, no sort, and a sum costs 8 bytes where its column is known by its bit;
//          but all words of the window are cleared and scanned, so only rows with about as many
//          products as words come here

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/row_bins_launch.cuh"
#include "gpu/spgemm/row_bins_make.h"
#include "gpu/spgemm/row_groups.cuh"

namespace csrkit::gpu {

namespace {

struct Word {
  std::uint32_t bits;
  std::uint32_t before;  // entries of the row, or the part, in lower words
};
static_assert(sizeof(Word) == kTableEntryBytes);

__device__ void set_bit(Word* word, Index col) {
  const std::uint32_t bit = 1u << (col & 31);
  if ((*static_cast<volatile std::uint32_t*>(&word->bits) & bit) == 0) {
    atomicOr(&word->bits, bit);
  }
}

__device__ std::uint32_t place_of(const Word* words, Index first_word, Index col) {
  const Word word = words[(col >> kWordLog2) - first_word];
  return word.before + static_cast<std::uint32_t>(__popc(word.bits & ((1u << (col & 31)) - 1)));
}

/// One row or part, as its group sees it.
template <class Value>
struct Window {
  Index row;
  Index first_word;
  int words;
  Offset to;  // where its entries stand in C
  int room;   // bytes of shared memory
};

template <int kLanes, Structure kStructure, class Columns, class Value>
__device__ void make_window(const MakeRows<Value>& op, const Window<Value>& window,
                            const Columns& columns, int known_count, std::byte* bytes,
                            Sources<kLanes, Value>& sources, std::uint32_t* bids, int* scratch) {
  using G = Group<kLanes>;
  const bool is_packed = suits_packing<kLanes>(
      op.profile.products[window.row], op.a.row_end(window.row) - op.a.row_begin(window.row));
  auto turns = Turns<kLanes>::make(bids);
  Word* words = reinterpret_cast<Word*>(bytes);
  for (int i = G::rank(); i < window.words; i += kLanes) words[i].bits = 0;
  G::sync();
  if constexpr (kStructure == Structure::known) {
    for (int i = G::rank(); i < known_count; i += kLanes) {
      const Index col = op.c.col_indices[window.to + i];
      set_bit(words + ((col >> kWordLog2) - window.first_word), col);
    }
  } else {
    walk_products<kLanes, ProductColumn>(
        op.a, op.b, true, window.row, columns, is_packed, &sources,
        [&](const ProductColumn(&entries)[kSegments], auto) {
#pragma unroll
          for (int u = 0; u < kSegments; ++u) {
            const Index col = entries[u].col;
            if (col >= 0) set_bit(words + ((col >> kWordLog2) - window.first_word), col);
          }
        });
  }
  G::sync();

  int count = 0;
  for (int begin = 0; begin < window.words; begin += kLanes) {
    const int at = begin + G::rank();
    std::uint32_t bits = at < window.words ? words[at].bits : 0;
    int total = 0;
    int before = count + G::exclusive_sum(__popc(bits), total, scratch);
    count += total;
    if (at < window.words) words[at].before = static_cast<std::uint32_t>(before);
    if constexpr (kStructure == Structure::wanted) {
      const Index first_col = (window.first_word + at) << kWordLog2;
      for (; bits != 0; bits &= bits - 1) {
        op.c.col_indices[window.to + before++] = first_col + __ffs(static_cast<int>(bits)) - 1;
      }
    }
  }

  Value* const values = op.c.values + window.to;
  Value* const shared_sums = reinterpret_cast<Value*>(words + window.words);
  const bool fits =
      Offset{window.words} * kTableEntryBytes + Offset{count} * static_cast<int>(sizeof(Value)) <=
      window.room;
  const auto add_up = [&](Value* sums) {
    for (int i = G::rank(); i < count; i += kLanes) sums[i] = 0;
    G::sync();
    walk_products<kLanes, Product<Value>>(
        op.a, op.b, true, window.row, columns, is_packed, &sources,
        [&](const Product<Value>(&entries)[kSegments], auto way) {
          std::uint32_t places[kSegments];
#pragma unroll
          for (int u = 0; u < kSegments; ++u) {
            places[u] =
                entries[u].col >= 0 ? place_of(words, window.first_word, entries[u].col) : 0;
          }
          add_products<kLanes>(entries, places, sums, way, turns);
        });
  };
  if (fits) {
    add_up(shared_sums);
    for (int i = G::rank(); i < count; i += kLanes) values[i] = op.alpha * shared_sums[i];
  } else {
    add_up(values);
    if (op.alpha != Value{1}) {
      for (int i = G::rank(); i < count; i += kLanes) values[i] = op.alpha * values[i];
    }
  }
}

template <class Value, int kLanes, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads)
    make_by_window(MakeRows<Value> op, RowList list, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ Sources<kLanes, Value> sources[kThreads / kLanes];
  __shared__ std::uint32_t bids[Turns<kLanes>::kBids];
  const Offset item = Offset{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (item >= list.count) return;  // a whole group
  const Index row = list.rows[item];
  const Offset to = op.c.row_offsets[row];
  const int count = static_cast<int>(op.c.row_offsets[Offset{row} + 1] - to);
  const Window<Value> window = {row, op.profile.first_word[row], op.profile.words[row], to, room};
  make_window<kLanes, kStructure>(op, window, AllColumns{}, count,
                                  shared_bytes + threadIdx.x / kLanes * room,
                                  sources[threadIdx.x / kLanes], bids, scratch);
}

template <class Value, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads)
    make_part_by_window(MakeRows<Value> op, RowList list, RowParts parts, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ Sources<kThreads, Value> sources;
  __shared__ std::uint32_t bids[Turns<kThreads>::kBids];
  const Offset item = blockIdx.x;
  const int part = static_cast<int>(item % parts.per_row);
  const Offset skipped = Offset{part} * parts.words;
  const Index row = list.rows[item / parts.per_row];
  const Offset row_words = op.profile.words[row];
  if (skipped >= row_words) return;
  Window<Value> window = {};
  window.row = row;
  window.first_word = op.profile.first_word[row] + static_cast<Index>(skipped);
  window.words = static_cast<int>(min(row_words - skipped, Offset{parts.words}));
  window.to = op.c.row_offsets[row];
  for (int before = 0; before < part; ++before) window.to += parts.counts[item - part + before];
  window.room = room;
  const ColumnRange columns = {Offset{window.first_word} << kWordLog2,
                               (Offset{window.first_word} + window.words) << kWordLog2};
  make_window<kThreads, kStructure>(op, window, columns, static_cast<int>(parts.counts[item]),
                                    shared_bytes, sources, bids, scratch);
}

template <class F>
void with_structure(Structure structure, const F& launch) {
  if (structure == Structure::known) {
    launch(std::integral_constant<Structure, Structure::known>{});
  } else {
    launch(std::integral_constant<Structure, Structure::wanted>{});
  }
}

template <int kLanes, int kThreads, class Value>
void launch(Structure structure, const MakeRows<Value>& op, const RowList& list, int room,
            cudaStream_t stream) {
  with_structure(structure, [&](auto known) {
    launch_rows<kThreads, kLanes>(make_by_window<Value, kLanes, kThreads, decltype(known)::value>,
                                  "make_by_window", list.count, room, stream, op, list, room);
  });
}

}  // namespace

template <class Value>
void make_rows_by_window(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                         const RowList& list, int whole_window_bytes, cudaStream_t stream) {
  switch (bin) {
    case MakeBin::window_small:
      return launch<32, 128>(structure, op, list, kSmallWindowBytes, stream);
    case MakeBin::window_medium:
      return launch<32, 128>(structure, op, list, kMediumWindowBytes, stream);
    case MakeBin::window_large:
      return launch<32, 128>(structure, op, list, kLargeWindowBytes, stream);
    case MakeBin::window_block:
      return launch<256, 256>(structure, op, list, kBlockWindowBytes, stream);
    case MakeBin::window_whole:
      return launch<512, 512>(structure, op, list, whole_window_bytes, stream);
    default: throw std::logic_error("row_bins: a bin without windows");
  }
}

template <class Value>
void make_rows_in_parts(Structure structure, const MakeRows<Value>& op, const RowList& list,
                        const RowParts& parts, int whole_window_bytes, cudaStream_t stream) {
  constexpr int kThreads = 512;
  with_structure(structure, [&](auto known) {
    launch_rows<kThreads, kThreads>(make_part_by_window<Value, kThreads, decltype(known)::value>,
                                    "make_part_by_window", list.count * parts.per_row,
                                    whole_window_bytes, stream, op, list, parts,
                                    whole_window_bytes);
  });
}

template void make_rows_by_window(MakeBin, Structure, const MakeRows<float>&, const RowList&, int,
                                  cudaStream_t);
template void make_rows_by_window(MakeBin, Structure, const MakeRows<double>&, const RowList&, int,
                                  cudaStream_t);
template void make_rows_in_parts(Structure, const MakeRows<float>&, const RowList&, const RowParts&,
                                 int, cudaStream_t);
template void make_rows_in_parts(Structure, const MakeRows<double>&, const RowList&,
                                 const RowParts&, int, cudaStream_t);

}  // namespace csrkit::gpu
