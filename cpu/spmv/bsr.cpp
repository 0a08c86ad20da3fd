// bsr: dense blocks of 2 x 2 to 8 x 8, found and not asked for, and CSR for what is in none.
// Owns     a thread makes whole rows of blocks; only blocks whose every entry is stored are blocks,
//          so nothing is padded and no 0 is multiplied that the matrix does not have
// Reads    one column number for a block; x in runs as long as a block
// Launch   as csr_balanced, hubs included; blocks are filled, so their pages first touched, by the
//          thread that reads them
// Needs    a value for every entry, 4 bytes for a block and for an entry in none
// Against  csr_balanced: fewer bytes of columns, and the sums of a block do not wait for each
//          other. Source: Im, Yelick, Vuduc, SPARSITY (2004); leaving incomplete blocks to CSR
//          instead of padding them is our own
#include "cpu/spmv/bsr.h"

#include <array>

#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

constexpr std::array<int, 5> kSizes{2, 3, 4, 6, 8};
constexpr int kLargest = 8;

/// Calls visit(block column, where its entries begin in each row) for every block in rows
/// [first, first + size).
template <class Visit>
void for_blocks(const CsrMatrix& a, Index first, int size, const Visit& visit) {
  const Index* cols = a.col_indices();
  const Offset* ends = a.row_offsets() + first + 1;
  std::array<Offset, kLargest> at{};
  const auto begins = [&](int row, Offset place, Index column) {
    return place + size <= ends[row] && cols[place] == column &&
           cols[place + size - 1] == column + size - 1;  // columns ascend: the others lie between
  };
  for (int row = 0; row < size; ++row)
    at[static_cast<std::size_t>(row)] = a.row_offsets()[first + row];
  for (Offset& lead = at[0]; lead < ends[0];) {
    const Index column = cols[lead];
    bool is_block = column % size == 0 && begins(0, lead, column);
    for (int row = 1; row < size && is_block; ++row) {
      Offset& place = at[static_cast<std::size_t>(row)];
      while (place < ends[row] && cols[place] < column) ++place;
      is_block = begins(row, place, column);
    }
    if (is_block) visit(column / size, at);
    lead += is_block ? size : 1;
  }
}

template <class Kinds>
class Bsr : public RowSums<Kinds> {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;

  Bsr(const MethodInput& input, int size)
      : Base(input, size), a_(input.op_a.view<A>()), size_(size) {
    const Index rows_of_blocks = a_.rows / size + (a_.rows % size != 0);
    this->reserve(
        (static_cast<std::uint64_t>(rows_of_blocks) + static_cast<std::uint64_t>(a_.rows) + 2) *
            sizeof(Offset),
        "the rows of bsr");
    block_offsets_ = Buffer<Offset>(Offset{rows_of_blocks} + 1);
    rest_offsets_ = Buffer<Offset>(Offset{a_.rows} + 1);
    block_offsets_[0] = rest_offsets_[0] = 0;
    this->by_owners([&](Index begin, Index end) {
      for (Index first = begin; first < end; first += size) count(first);
    });
    for (Index n = 0; n < rows_of_blocks; ++n) block_offsets_[n + 1] += block_offsets_[n];
    for (Index i = 0; i < a_.rows; ++i) rest_offsets_[i + 1] += rest_offsets_[i];
    const Offset blocks = block_offsets_[rows_of_blocks], rest = rest_offsets_[a_.rows];
    const auto block_bytes =
        static_cast<std::uint64_t>(size * size) * value_bytes<A>() + sizeof(Index);
    const std::uint64_t entry_bytes = value_bytes<A>() + sizeof(Index);
    const std::uint64_t bytes = static_cast<std::uint64_t>(blocks) * block_bytes +
                                static_cast<std::uint64_t>(rest) * entry_bytes;
    this->reserve(bytes, "the blocks");
    block_cols_ = Buffer<Index>(blocks);
    rest_cols_ = Buffer<Index>(rest);
    if constexpr (kHasValues) {
      block_values_ = Buffer<A>(blocks * size * size);
      rest_values_ = Buffer<A>(rest);
    }
    this->by_owners([&](Index begin, Index end) {
      for (Index first = begin; first < end; first += size) fill(first);
    });
    stored_bytes_ =
        bytes + block_offsets_.size_bytes() + (rest > 0 ? rest_offsets_.size_bytes() : 0);
  }

  std::uint64_t stored_bytes() const override { return stored_bytes_; }

  std::string choice() const override {
    const auto in_blocks = static_cast<double>(block_cols_.size()) * size_ * size_;
    const double part = in_blocks / static_cast<double>(std::max<Offset>(1, this->op_a_.nnz()));
    return this->describe() + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(this->op_a_), this->op_a_.nnz()) + ", " +
           std::to_string(static_cast<int>(100 * part)) + " % of the entries in blocks of " +
           std::to_string(size_) + " x " + std::to_string(size_);
  }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  /// Whether the rows that begin at `first` may have blocks: all are there, and none is a hub.
  bool may_have_blocks(Index first) const {
    if (a_.rows - first < size_) return false;
    for (Index row = first; row < first + size_; ++row) {
      if (this->is_hub(row)) return false;
    }
    return true;
  }

  void count(Index first) {
    Offset blocks = 0;
    if (may_have_blocks(first)) {
      for_blocks(this->op_a_, first, size_, [&](Index, const auto&) { ++blocks; });
    }
    block_offsets_[first / size_ + 1] = blocks;
    for (Index row = first; row < std::min(a_.rows - first, size_) + first; ++row) {
      const Offset rest = this->op_a_.row_length(row) - blocks * size_;
      rest_offsets_[row + 1] = this->is_hub(row) ? 0 : rest;
    }
  }

  void fill(Index first) {
    const Offset begin = block_offsets_[first / size_];
    Offset block = begin;
    if (may_have_blocks(first)) {
      for_blocks(this->op_a_, first, size_, [&](Index column, [[maybe_unused]] const auto& at) {
        block_cols_[block] = column;
        if constexpr (kHasValues) {
          for (int j = 0; j < size_; ++j) {
            for (int i = 0; i < size_; ++i) {
              block_values_[(block * size_ + j) * size_ + i] =
                  a_.values[at[static_cast<std::size_t>(i)] + j];
            }
          }
        }
        ++block;
      });
    }
    for (Index row = first; row < std::min(a_.rows - first, size_) + first; ++row) {
      if (!this->is_hub(row)) fill_rest(row, begin, block);
    }
  }

  /// The row's entries that are in none of the blocks [block, end).
  void fill_rest(Index row, Offset block, Offset end) {
    Offset to = rest_offsets_[row];
    for (Offset at = a_.row_offsets[row]; at < a_.row_offsets[row + 1]; ++at) {
      const Index column = a_.col_indices[at] / size_;
      while (block < end && block_cols_[block] < column) ++block;
      if (block < end && block_cols_[block] == column) continue;
      rest_cols_[to] = a_.col_indices[at];
      if constexpr (kHasValues) rest_values_[to] = a_.values[at];
      ++to;
    }
  }

  void sum_rows(const Acc* x, const typename Base::Batch& batch, Acc* sums) const override {
    const Index first = batch.first, last = batch.last;
    std::fill(sums, sums + (last - first), Acc{0});
    if (rest_cols_.size() > 0) {
      CsrView<A> rest;
      rest.rows = a_.rows;
      rest.cols = a_.cols;
      rest.row_offsets = rest_offsets_.data();
      rest.col_indices = rest_cols_.data();
      if constexpr (kHasValues) rest.values = rest_values_.data();
      this->loops_.rows(rest, x, first, last, sums);
    }
    for (Index row = first; row < last; row += size_) {
      const Offset begin = block_offsets_[row / size_], end = block_offsets_[row / size_ + 1];
      if (begin == end) continue;
      const A* values = kHasValues ? block_values_.data() + begin * size_ * size_ : nullptr;
      this->loops_.blocks(size_, values, block_cols_.data() + begin, end - begin, x,
                          sums + (row - first));
    }
  }

  CsrView<A> a_;
  Index size_;
  Buffer<Offset> block_offsets_;  // for every row of blocks
  Buffer<Index> block_cols_;
  Buffer<A> block_values_;       // of a block column by column
  Buffer<Offset> rest_offsets_;  // what is in no block, as CSR
  Buffer<Index> rest_cols_;
  Buffer<A> rest_values_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

BlocksFound find_blocks(const CsrMatrix& a) {
  constexpr Offset kMostEntries = 1 << 20;
  constexpr Index kUnit = 24;  // rows of a sample: a multiple of every size
  const Index units = a.rows() / kUnit;
  const auto step = static_cast<Index>(std::clamp<Offset>(a.nnz() / kMostEntries, 1, kMaxIndex));
  BlocksFound best;
  double best_saving = 0;
  for (const int size : kSizes) {
    Offset in_blocks = 0, entries = 0;
    for (Offset unit = 0; unit < units; unit += step) {
      const auto begin = static_cast<Index>(unit * kUnit);
      entries += a.row_offsets()[begin + kUnit] - a.row_offsets()[begin];
      for (Index first = begin; first < begin + kUnit; first += size) {
        for_blocks(a, first, size, [&](Index, const auto&) { in_blocks += Offset{size} * size; });
      }
    }
    const double part =
        static_cast<double>(in_blocks) / static_cast<double>(std::max<Offset>(1, entries));
    const double saving = part * (1 - 1.0 / (size * size));  // of the bytes of columns
    if (saving > best_saving) {
      best_saving = saving;
      best = {size, part};
    }
  }
  return best;
}

std::uint64_t expected_bsr_bytes(const CsrMatrix& a, const BlocksFound& found) {
  const double columns = 4.0 * (1 - found.part + found.part / (found.size * found.size));
  const double values = a.value_kind() == ValueKind::none ? 0 : size_of(a.value_kind());
  return static_cast<std::uint64_t>(static_cast<double>(a.nnz()) * (columns + values) +
                                    8.0 * a.rows() * (1.0 / found.size + (found.part < 1 ? 1 : 0)));
}

std::unique_ptr<SpmmMethod> make_bsr(const MethodInput& input) {
  const int size = find_blocks(input.op_a).size;
  return with_spmm_kinds<true>(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<Bsr<decltype(kinds)>>(input, size);
  });
}

}  // namespace csrkit::cpu::spmv
