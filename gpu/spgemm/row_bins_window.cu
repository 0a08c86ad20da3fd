// Rows of C by windows of bits, in row_bins.
// Owns     a warp or a block: one row, or a part of its columns
// Reads    A's row; B's columns twice, the second time with values, in order. In shared memory, for
//          every 32 columns between the row's first and last: which of them C has, and how many come
//          before; then one sum per entry. Bits are set by atomics, sums need none (row_walks.cuh)
// Launch   4 warps of a row each; blocks of 256 or 512 threads for wide or long rows. Sums that do not fit stand in C itself, which the block alone writes
// Needs    columns of C in ascending words, so they come out sorted
// Against  hashing: no probes, no sort, and a sum costs 8 bytes where its column is known by its bit;
//          but all words of the window are cleared and scanned, so only rows with about as many
//          products as words come here

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/row_bins_launch.cuh"
#include "gpu/spgemm/row_bins_make.h"
#include "gpu/spgemm/row_columns.cuh"
#include "gpu/spgemm/row_sums.cuh"

namespace csrkit::gpu {

namespace {

struct Word {
  std::uint32_t bits;
  std::uint32_t before;  // entries of the row, or the part, in lower words
};
static_assert(sizeof(Word) == kTableEntryBytes);

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
                            const Columns& columns, int count, std::byte* bytes,
                            Sources<kLanes, Value>& sources, std::uint32_t* bids, int* scratch) {
  using G = Group<kLanes>;
  const bool is_packed = suits_packing<kLanes>(
      op.profile.products[window.row], op.a.row_end(window.row) - op.a.row_begin(window.row));
  auto turns = Turns<kLanes>::make(bids);
  Word* words = reinterpret_cast<Word*>(bytes);
  const Offset first_col = Offset{window.first_word} << kWordLog2;
  const bool is_full =
      count == min(Offset{op.b.cols} - first_col, Offset{window.words} << kWordLog2);
  for (int i = G::rank(); i < window.words; i += kLanes) {
    words[i].bits = is_full ? possible_bits(window.first_word + i, op.b.cols) : 0;
  }
  G::sync();
  const auto mark = [&](Index word, std::uint32_t bits) {
    set_bits(&words[word - window.first_word].bits, bits);
  };
  if (is_full) {
    // Nothing to find out.
  } else if constexpr (kStructure == Structure::known) {
    for (int i = G::rank(); i < count; i += kLanes) {
      const Index col = op.c.col_indices[window.to + i];
      mark(col >> kWordLog2, 1u << (col & 31));
    }
  } else if constexpr (kLanes == 32) {
    // A column at a time is faster for one warp: it has nothing to share.
    walk_products<kLanes, ProductColumn>(op.a, op.b, true, window.row, columns, is_packed, &sources,
                                         [&](const ProductColumn(&entries)[kSegments], auto) {
#pragma unroll
                                           for (int u = 0; u < kSegments; ++u) {
                                             const Index col = entries[u].col;
                                             if (col >= 0) mark(col >> kWordLog2, 1u << (col & 31));
                                           }
                                         });
  } else {
    walk_columns<kLanes>(
        op.a, op.b, window.row, columns, sources,
        [&](const Index(&cols)[kChunk]) { by_words(cols, mark); }, [] { return false; });
  }
  G::sync();

  Value* const values = op.c.values + window.to;
  Value* const shared_sums = reinterpret_cast<Value*>(words + window.words);
  const bool fits =
      Offset{window.words} * kTableEntryBytes + Offset{count} * static_cast<int>(sizeof(Value)) <=
      window.room;
  // Through the memory of the sums, so that neighbours are written together.
  Index* const columns_out =
      fits ? reinterpret_cast<Index*>(shared_sums) : op.c.col_indices + window.to;
  int before = 0;
  for (int begin = 0; begin < window.words; begin += kLanes) {
    const int at = begin + G::rank();
    std::uint32_t bits = at < window.words ? words[at].bits : 0;
    int total = 0;
    int place = before + G::exclusive_sum(__popc(bits), total, scratch);
    before += total;
    if (at < window.words) words[at].before = static_cast<std::uint32_t>(place);
    if constexpr (kStructure == Structure::wanted) {
      const Index word_col = (window.first_word + at) << kWordLog2;
      for (; bits != 0; bits &= bits - 1) {
        columns_out[place++] = word_col + __ffs(static_cast<int>(bits)) - 1;
      }
    }
  }

  if (kStructure == Structure::wanted && fits) {
    G::sync();
    for (int i = G::rank(); i < count; i += kLanes) {
      op.c.col_indices[window.to + i] = columns_out[i];
    }
  }
  G::sync();
  const Value nothing = empty_sum<Value>(op.semiring);
  const auto add_up = [&](Value* sums) {
    for (int i = G::rank(); i < count; i += kLanes) sums[i] = nothing;
    G::sync();
    walk_products<kLanes, Product<Value>>(
        op.a, op.b, true, window.row, columns, is_packed, &sources,
        [&](const Product<Value>(&entries)[kSegments], auto way) {
          std::uint32_t places[kSegments];
#pragma unroll
          for (int u = 0; u < kSegments; ++u) {
            const Index col = entries[u].col;
            places[u] = col < 0   ? 0
                        : is_full ? static_cast<std::uint32_t>(col - first_col)
                                  : place_of(words, window.first_word, col);
          }
          add_products<kLanes>(entries, places, sums, op.semiring, way, turns);
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
    make_part_by_window(MakeRows<Value> op, BinRules rules, RowParts parts, int room) {
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ Sources<kThreads, Value> sources;
  __shared__ std::uint32_t bids[Turns<kThreads>::kBids];
  const Offset item = blockIdx.x;
  if (rules.most_sorted_to_make > 0 && parts.products[item] <= kMostSorted) return;  // sorted
  const PartOfRow part = part_of_row(op.profile, rules, parts, item);
  Window<Value> window = {};
  window.row = part.row;
  window.first_word = part.first_word;
  window.words = part.words;
  window.to = op.c.row_offsets[part.row] + parts.starts[item];
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
    case MakeBin::window_3k: return launch<32, 128>(structure, op, list, kWindow3k, stream);
    case MakeBin::window_6k: return launch<32, 128>(structure, op, list, kWindow6k, stream);
    case MakeBin::window_8k: return launch<32, 128>(structure, op, list, kWindow8k, stream);
    case MakeBin::window_10k: return launch<32, 128>(structure, op, list, kWindow10k, stream);
    case MakeBin::window_14k: return launch<32, 128>(structure, op, list, kWindow14k, stream);
    case MakeBin::window_block:
      return launch<256, 256>(structure, op, list, kBlockWindowBytes, stream);
    case MakeBin::window_whole:
      return launch<512, 512>(structure, op, list, whole_window_bytes, stream);
    default: throw std::logic_error("row_bins: a bin without windows");
  }
}

template <class Value>
void make_rows_in_parts(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                        const RowParts& parts, cudaStream_t stream) {
  constexpr int kThreads = 512;
  with_structure(structure, [&](auto known) {
    launch_rows<kThreads, kThreads>(make_part_by_window<Value, kThreads, decltype(known)::value>,
                                    "make_part_by_window", parts.count, rules.whole_window_bytes,
                                    stream, op, rules, parts, rules.whole_window_bytes);
  });
}

template void make_rows_by_window(MakeBin, Structure, const MakeRows<float>&, const RowList&, int,
                                  cudaStream_t);
template void make_rows_by_window(MakeBin, Structure, const MakeRows<double>&, const RowList&, int,
                                  cudaStream_t);
template void make_rows_in_parts(Structure, const MakeRows<float>&, const BinRules&,
                                 const RowParts&, cudaStream_t);
template void make_rows_in_parts(Structure, const MakeRows<double>&, const BinRules&,
                                 const RowParts&, cudaStream_t);

}  // namespace csrkit::gpu
