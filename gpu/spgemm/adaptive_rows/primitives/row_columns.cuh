// Walks of warps and blocks over the columns of a row's products, without values and in any order:
// loads of 16 bytes a lane, and one access to shared memory for columns that share a word of bits.
#pragma once

#include "gpu/spgemm/adaptive_rows/primitives/row_walks.cuh"

namespace csrkit::gpu {

inline constexpr int kChunk = 4;          // neighbouring entries of B in one load
inline constexpr int kChunksPerLane = 2;  // in flight

/// The columns of a chunk of B that lie in [low, high); the others are -1.
inline __device__ void load_chunk(const Index* col_indices, Offset nnz, Offset chunk, int low,
                                  int high, bool is_aligned, Index (&cols)[kChunk]) {
  const Offset position = chunk * kChunk;
  if (is_aligned && position + kChunk <= nnz) {
    const int4 all = __ldg(reinterpret_cast<const int4*>(col_indices + position));
    cols[0] = all.x;
    cols[1] = all.y;
    cols[2] = all.z;
    cols[3] = all.w;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (i < low || i >= high) cols[i] = -1;
    }
  } else {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      cols[i] = i >= low && i < high ? __ldg(col_indices + position + i) : -1;
    }
  }
}

/// Calls `body` with the columns of a row's products, kChunk per call; these ascend, the calls have
/// no order. From time to time all lanes of the group call stop(), and the walk ends if it returns
/// true. Returns this lane's share of the number of products; after an early end one lane returns
/// 2^32.
template <int kLanes, class Value, class Columns, class Body, class Stop>
__device__ unsigned long long walk_columns(const DeviceCsrView<Value>& a,
                                           const DeviceCsrView<Value>& b, Index row,
                                           const Columns& columns, Sources<kLanes, Value>& list,
                                           const Body& body, const Stop& stop) {
  using G = Group<kLanes>;
  constexpr int kItersPerStop = 8;
  const int rank = G::rank();
  const bool is_aligned = (reinterpret_cast<std::uintptr_t>(b.col_indices) & 15) == 0;
  unsigned long long products = 0;
  const Offset end = a.row_end(row);
  for (Offset at = a.row_begin(row); at < end; at += kLanes) {
    SourceEntries entries;
    if (at + rank < end) {
      entries = entries_of_source(b, __ldg(a.col_indices + at + rank), columns);
    }
    const auto [first, last] = entries;
    products += static_cast<unsigned long long>(last - first);
    const Offset first_chunk = first / kChunk;
    const auto length =
        static_cast<std::uint32_t>(first < last ? (last + kChunk - 1) / kChunk - first_chunk : 0);
    unsigned long long total = 0;
    const unsigned long long before =
        G::exclusive_sum(length > 0 ? (1ull << 32) + length : 0ull, total, list.scratch);
    const auto sources = static_cast<int>(total >> 32);
    const auto chunks = static_cast<std::uint32_t>(total);
    G::sync();  // all lanes are done with the last batch
    if (length > 0) {
      const auto place = static_cast<int>(before >> 32);
      const auto start = static_cast<std::uint32_t>(before);
      list.starts[place] = start;
      // The source's first chunk; how many entries of it are not the source's; how many of its last
      // chunk are (0: all).
      list.shifts[place] = (first_chunk - start) * 16 + first % kChunk * 4 + last % kChunk;
    }
    if (rank == 0) list.starts[sources] = chunks;
    G::sync();
    int source = 0, iters = 0;
    for (std::uint32_t begin = 0; begin < chunks; begin += kLanes * kChunksPerLane) {
      Index cols[kChunksPerLane][kChunk];
#pragma unroll
      for (int u = 0; u < kChunksPerLane; ++u) {
        const std::uint32_t warp_begin =
            begin + static_cast<std::uint32_t>(u * kLanes + (rank & ~31));
        const std::uint32_t number = warp_begin + static_cast<std::uint32_t>(G::lane());
        const int mine = source_of_lane<kLanes>(list.starts, sources, warp_begin, chunks, source);
        if (number < chunks) {
          const Offset shift = list.shifts[mine];
          const int tail = static_cast<int>(shift & 3);
          const int low = number == list.starts[mine] ? static_cast<int>(shift >> 2 & 3) : 0;
          const int high = number + 1 == list.starts[mine + 1] && tail > 0 ? tail : kChunk;
          load_chunk(b.col_indices, b.nnz, (shift >> 4) + number, low, high, is_aligned, cols[u]);
        } else {
#pragma unroll
          for (int i = 0; i < kChunk; ++i) cols[u][i] = -1;
        }
      }
#pragma unroll
      for (int u = 0; u < kChunksPerLane; ++u) body(cols[u]);
      if (++iters % kItersPerStop == 0 && stop()) return rank == 0 ? 1ull << 32 : 0;
    }
  }
  return products;
}

/// For a part of a row with many short sources: calls `mark` with each column, in any order. Each
/// lane takes its own sources; a warp shares a source that has more than a few entries in the part.
/// Returns this lane's share of the number of products.
template <int kLanes, class Value, class Mark>
__device__ unsigned long long walk_many_sources(const DeviceCsrView<Value>& a,
                                                const DeviceCsrView<Value>& b, Index row,
                                                const ColumnRange& columns, const Mark& mark) {
  using G = Group<kLanes>;
  constexpr std::uint32_t kFew = 8;
  unsigned long long products = 0;
  const Offset end = a.row_end(row);
  for (Offset batch = a.row_begin(row); batch < end; batch += kLanes * kSourcesAtOnce) {
    Offset first[kSourcesAtOnce];
    std::uint32_t length[kSourcesAtOnce];
    find_in_part(a, b, batch + G::rank(), kLanes, end, columns, first, length);
#pragma unroll
    for (int u = 0; u < kSourcesAtOnce; ++u) {
      products += length[u];
      if (length[u] <= kFew) {
        for (std::uint32_t i = 0; i < length[u]; ++i) mark(__ldg(b.col_indices + first[u] + i));
      }
      unsigned longer = __ballot_sync(kAllLanes, length[u] > kFew);
      for (; longer != 0; longer &= longer - 1) {
        const int lane = __ffs(static_cast<int>(longer)) - 1;
        const Offset its_first = __shfl_sync(kAllLanes, first[u], lane);
        const std::uint32_t its_length = __shfl_sync(kAllLanes, length[u], lane);
        for (std::uint32_t i = threadIdx.x & 31; i < its_length; i += 32) {
          mark(__ldg(b.col_indices + its_first + i));
        }
      }
    }
  }
  return products;
}

/// Whether a row has many sources with few products each.
template <class Value>
__device__ bool has_many_short_sources(const DeviceCsrView<Value>& a, Index row,
                                       std::uint32_t products) {
  constexpr Offset kShort = 16;
  const Offset sources = a.row_end(row) - a.row_begin(row);
  return sources > kManySources && products < sources * kShort;
}

/// Calls flush(word, bit) for each column.
template <class Flush>
__device__ void by_columns(const ProductColumn (&entries)[kSegments], const Flush& flush) {
#pragma unroll
  for (int u = 0; u < kSegments; ++u) {
    const Index col = entries[u].col;
    if (col >= 0) flush(col >> kWordLog2, 1u << (col & 31));
  }
}

/// Collects the columns of a chunk by word: calls flush(word, bits) for each word.
template <class Flush>
__device__ void by_words(const Index (&cols)[kChunk], const Flush& flush) {
  Index word = -1;
  std::uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    if (cols[i] < 0) continue;
    const Index its_word = cols[i] >> 5;
    if (its_word != word) {
      if (bits != 0) flush(word, bits);
      word = its_word;
      bits = 0;
    }
    bits |= 1u << (cols[i] & 31);
  }
  if (bits != 0) flush(word, bits);
}

/// The bits of a word that stand for columns of a matrix of `cols` columns.
inline __device__ std::uint32_t possible_bits(Index word, Index cols) {
  const Offset left = cols - (Offset{word} << 5);
  return left < 32 ? (1u << left) - 1 : ~0u;
}

/// Sets bits of a word in shared memory, by an atomic only if they are not set yet.
inline __device__ void set_bits(std::uint32_t* word, std::uint32_t bits) {
  if ((*static_cast<volatile std::uint32_t*>(word) & bits) != bits) atomicOr(word, bits);
}

}  // namespace csrkit::gpu
