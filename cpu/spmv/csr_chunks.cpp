// csr_chunks: rows cut into chunks of 32, of 8 and of 0 to 7 entries, chunks of a length together,
// so that no loop over a row has an end that has to be guessed.
// Owns     of every batch of rows a list of chunks for each length, and a copy of the entries in
//          that order; hubs stay in CSR, cut into stretches
// Reads    the copy in a stream, no row offsets; x wherever columns point
// Launch   as csr_balanced; a batch is filled, so its pages first touched, by the thread that
//          reads it
// Needs    a copy of A's columns and values, 2 bytes a chunk; nothing is padded
// Against  csr_balanced: where A stays in the caches a row costs more for the wrong guess at its
//          end, 20 cycles, than for its entries. Source: our own; rows of one length together are
//          an old idea, which needs as many lists as there are lengths
#include "core/base/huge_pages.h"
#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

/// How a row of `length` entries is cut: chunks of each kind of kChunkLengths.
struct RowChunks {
  Offset of_32, of_8;
  std::size_t rest;  // the kind of the last chunk, and its length

  explicit RowChunks(Offset length)
      : of_32(length / 32), of_8(length % 32 / 8), rest(static_cast<std::size_t>(length % 8)) {}
  Offset count() const { return of_32 + of_8 + 1; }
};

template <class Kinds>
class CsrChunks : public RowSums<Kinds> {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;
  using typename Base::Batch;

  explicit CsrChunks(const MethodInput& input) : Base(input, 1), a_(input.op_a.view<A>()) {
    const std::uint64_t list_bytes = static_cast<std::uint64_t>(this->batches()) * sizeof(List);
    this->reserve(list_bytes, "the lists of chunks");
    lists_ = Buffer<List>(this->batches());
    this->batches_by_owners([&](const Batch& batch) { count(batch); });
    Offset chunks = 0, entries = 0;
    for (List& list : lists_) {
      const Offset count = list.chunk, size = list.entry;
      list.chunk = chunks;
      list.entry = entries;
      chunks += count;
      entries += size;
    }
    const std::uint64_t entry_bytes =
        static_cast<std::uint64_t>(entries) * (sizeof(Index) + value_bytes<A>());
    const std::uint64_t chunk_bytes = static_cast<std::uint64_t>(chunks) * sizeof(std::uint16_t);
    this->reserve(entry_bytes + chunk_bytes, "the chunks");
    rows_ = Buffer<std::uint16_t>(chunks);
    cols_ = Buffer<Index>(entries);
    advise_huge_pages(cols_.data(), cols_.size_bytes());
    if constexpr (kHasValues) {
      values_ = Buffer<A>(entries);
      advise_huge_pages(values_.data(), values_.size_bytes());
    }
    this->batches_by_owners([&](const Batch& batch) { fill(batch); });
    const auto in_place = static_cast<std::uint64_t>(a_.nnz() - entries);
    stored_bytes_ =
        list_bytes + entry_bytes + chunk_bytes + in_place * (sizeof(Index) + value_bytes<A>());
  }

  std::uint64_t stored_bytes() const override { return stored_bytes_; }

  std::string choice() const override {
    const double chunks = static_cast<double>(rows_.size());
    char text[48];
    std::snprintf(text, sizeof text, ", %.2f chunks a row",
                  chunks / static_cast<double>(std::max<Index>(1, a_.rows)));
    return this->describe() + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(this->op_a_), a_.nnz()) + text;
  }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  /// The chunks of a batch.
  struct List {
    Offset chunk = 0, entry = 0;  // where the first one is (until that is known: how many)
    std::array<std::uint16_t, kChunkKinds> counts{};
  };

  void count(const Batch& batch) {
    List& list = lists_[batch.number] = List{};
    for (Index row = batch.first; row < batch.last; ++row) {
      const RowChunks chunks(this->op_a_.row_length(row));
      ++list.counts[chunks.rest];
      list.counts[8] = static_cast<std::uint16_t>(list.counts[8] + chunks.of_8);
      list.counts[9] = static_cast<std::uint16_t>(list.counts[9] + chunks.of_32);
      list.chunk += chunks.count();
    }
    list.entry = a_.row_offsets[batch.last] - a_.row_offsets[batch.first];
  }

  void fill(const Batch& batch) {
    const List& list = lists_[batch.number];
    std::array<Offset, kChunkKinds> chunk{}, entry{};  // where the next one of a kind goes
    Offset next_chunk = list.chunk, next_entry = list.entry;
    for (std::size_t kind = 0; kind < kChunkKinds; ++kind) {
      chunk[kind] = next_chunk;
      entry[kind] = next_entry;
      next_chunk += list.counts[kind];
      next_entry += Offset{list.counts[kind]} * kChunkLengths[kind];
    }
    for (Index row = batch.first; row < batch.last; ++row) {
      const RowChunks chunks(this->op_a_.row_length(row));
      Offset from = a_.row_offsets[row];
      const auto put = [&](std::size_t kind) {
        rows_[chunk[kind]++] = static_cast<std::uint16_t>(row - batch.first);
        for (int k = 0; k < kChunkLengths[kind]; ++k, ++from, ++entry[kind]) {
          cols_[entry[kind]] = a_.col_indices[from];
          if constexpr (kHasValues) values_[entry[kind]] = a_.values[from];
        }
      };
      for (Offset n = 0; n < chunks.of_32; ++n) put(9);
      for (Offset n = 0; n < chunks.of_8; ++n) put(8);
      put(chunks.rest);
    }
  }

  void sum_rows(const Acc* x, const Batch& batch, Acc* sums) const override {
    const List& list = lists_[batch.number];
    this->loops_.chunks({list.counts.data(), rows_.data() + list.chunk, cols_.data() + list.entry,
                         values_.data() + (kHasValues ? list.entry : 0)},
                        x, sums);
  }

  CsrView<A> a_;
  Buffer<List> lists_;
  Buffer<std::uint16_t> rows_;  // of every chunk, counted from its batch's first
  Buffer<Index> cols_;
  Buffer<A> values_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_csr_chunks(const MethodInput& input) {
  return make_format<CsrChunks>(input);
}

}  // namespace csrkit::cpu::spmv
