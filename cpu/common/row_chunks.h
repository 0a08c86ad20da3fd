// Rows cut into chunks of few lengths, chunks of a length together, so that no loop over a row has
// an end that has to be guessed. A copy of the entries in that order, batch of rows by batch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "core/base/huge_pages.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// The lengths of chunks: a row is cut into as many of 32 as fit, then of 8, and one of the rest.
constexpr int kChunkKinds = 10;
constexpr std::array<int, kChunkKinds> kChunkLengths{0, 1, 2, 3, 4, 5, 6, 7, 8, 32};
/// Of a chunk that begins its row's sum. The longer ones add to it.
constexpr int kMostOfFirstChunk = 7;

/// Rows in chunks, all chunks of a length together, in the order of kChunkLengths. Every row has
/// one of the first eight.
template <class A>
struct ChunkedRows {
  const std::uint16_t* counts;  // chunks of each length
  const std::uint16_t* rows;    // of every chunk, whose sum it belongs to
  const Index* cols;            // of the entries of all chunks, one after the other
  const A* values;              // likewise; not looked at for kind none
};

/// The chunks of all batches. A batch has fewer than 2^16 rows and chunks of a length.
template <class A>
class RowChunks {
 public:
  explicit RowChunks(Offset batches) : lists_(batches) {
    std::fill(lists_.begin(), lists_.end(), List{});
  }
  static std::uint64_t list_bytes(Offset batches) {
    return static_cast<std::uint64_t>(batches) * sizeof(List);
  }

  /// First: of every batch that is not to be empty, rows [first, last) of `a`.
  void count(const CsrMatrix& a, Offset batch, Index first, Index last) {
    List& list = lists_[batch];
    for (Index row = first; row < last; ++row) {
      const Cut cut(a.row_length(row));
      ++list.counts[cut.rest];
      list.counts[8] = static_cast<std::uint16_t>(list.counts[8] + cut.of_8);
      list.counts[9] = static_cast<std::uint16_t>(list.counts[9] + cut.of_32);
      list.chunk += cut.of_32 + cut.of_8 + 1;
    }
    list.entry = a.row_offsets()[last] - a.row_offsets()[first];
  }

  /// Second: how many there are, and what the copy will take.
  void place() {
    for (List& list : lists_) {
      const Offset chunks = list.chunk, entries = list.entry;
      list.chunk = chunks_;
      list.entry = entries_;
      chunks_ += chunks;
      entries_ += entries;
    }
  }
  Offset chunks() const { return chunks_; }
  Offset entries() const { return entries_; }
  std::uint64_t size_bytes() const {
    return static_cast<std::uint64_t>(entries_) * (sizeof(Index) + (kHasValues ? sizeof(A) : 0)) +
           static_cast<std::uint64_t>(chunks_) * sizeof(std::uint16_t);
  }

  /// Third.
  void allocate() {
    rows_ = Buffer<std::uint16_t>(chunks_);
    cols_ = Buffer<Index>(entries_);
    advise_huge_pages(cols_.data(), cols_.size_bytes());
    if constexpr (kHasValues) {
      values_ = Buffer<A>(entries_);
      advise_huge_pages(values_.data(), values_.size_bytes());
    }
  }

  /// Fourth, again of every batch, by the thread that will read it.
  void fill(const CsrView<A>& a, Offset batch, Index first, Index last) {
    const List& list = lists_[batch];
    std::array<Offset, kChunkKinds> chunk{}, entry{};  // where the next one of a kind goes
    Offset next_chunk = list.chunk, next_entry = list.entry;
    for (std::size_t kind = 0; kind < kChunkKinds; ++kind) {
      chunk[kind] = next_chunk;
      entry[kind] = next_entry;
      next_chunk += list.counts[kind];
      next_entry += Offset{list.counts[kind]} * kChunkLengths[kind];
    }
    for (Index row = first; row < last; ++row) {
      Offset from = a.row_offsets[row];
      const Cut cut(a.row_offsets[row + 1] - from);
      const auto put = [&](std::size_t kind) {
        rows_[chunk[kind]++] = static_cast<std::uint16_t>(row - first);
        for (int k = 0; k < kChunkLengths[kind]; ++k, ++from, ++entry[kind]) {
          cols_[entry[kind]] = a.col_indices[from];
          if constexpr (kHasValues) values_[entry[kind]] = a.values[from];
        }
      };
      for (Offset n = 0; n < cut.of_32; ++n) put(9);
      for (Offset n = 0; n < cut.of_8; ++n) put(8);
      put(cut.rest);
    }
  }

  ChunkedRows<A> of(Offset batch) const {
    const List& list = lists_[batch];
    return {list.counts.data(), rows_.data() + list.chunk, cols_.data() + list.entry,
            values_.data() + (kHasValues ? list.entry : 0)};
  }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  /// How a row of `length` entries is cut: chunks of each kind of kChunkLengths.
  struct Cut {
    Offset of_32, of_8;
    std::size_t rest;  // the kind of the last chunk, and its length

    explicit Cut(Offset length)
        : of_32(length / 32), of_8(length % 32 / 8), rest(static_cast<std::size_t>(length % 8)) {}
  };

  /// The chunks of a batch.
  struct List {
    Offset chunk = 0, entry = 0;  // where the first one is (until place(): how many)
    std::array<std::uint16_t, kChunkKinds> counts{};
  };

  Buffer<List> lists_;
  Buffer<std::uint16_t> rows_;  // of every chunk, counted from its batch's first
  Buffer<Index> cols_;
  Buffer<A> values_;
  Offset chunks_ = 0, entries_ = 0;
};

}  // namespace csrkit::cpu
