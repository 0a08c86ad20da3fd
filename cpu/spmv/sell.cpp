// sell: SELL-16-128, slices of 16 rows whose entries lie side by side, so that a vector has one
// entry of each row.
// Owns     within every 128 rows the rows are sorted by length; 16 neighbours of that order are a
//          slice, as wide as its shortest row; what longer rows have more is read from CSR, and so
//          is a hub, cut into stretches: nothing is padded, so no matrix makes the format explode
// Reads    a slice in a stream; x by gathers, wherever columns point, or by loads where the entries
//          side by side have columns that follow each other: these have one column together
// Launch   as csr_balanced; a slice is filled, so its pages first touched, by the thread that
//          reads it
// Needs    at most 4 bytes and a value per entry of the slices, 3 bytes a row
// Against  csr_balanced: short rows fill vectors. Source: Kreutzer, Hager, Wellein, Fehske, Bishop,
//          A unified sparse matrix data format (2014); cutting a slice at its shortest row instead
//          of padding it is our own
#include <algorithm>
#include <array>

#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

constexpr Index kWindow = 128;
constexpr Index kSlices = kWindow / kSellRows;  // of a window
constexpr std::uint8_t kNoRow = 255;

struct Head {
  Offset at = 0;      // of the slice's first value
  Offset col_at = 0;  // and of its first column (until that is known: how many columns it has)
  Index width = 0;
  bool is_ragged = false;    // rows have entries beyond `width`
  bool is_in_order = false;  // all rows are there, follow each other, and have no more entries
};

template <class Kinds>
class Sell : public RowSums<Kinds> {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;

  explicit Sell(const MethodInput& input) : Base(input, kWindow), a_(input.op_a.view<A>()) {
    const Offset windows = (Offset{a_.rows} + kWindow - 1) / kWindow;
    const Offset slices = windows * kSlices;
    const std::uint64_t head_bytes =
        static_cast<std::uint64_t>(slices) * (sizeof(Head) + kSellRows);
    this->reserve(head_bytes, "the slices of sell");
    heads_ = Buffer<Head>(slices);
    rows_ = Buffer<std::uint8_t>(slices * kSellRows);
    std::atomic<std::uint64_t> bytes_in_place{0};
    this->by_owners([&](Index first, Index last) {
      std::uint64_t bytes = 0;
      for (Index row = first; row < last; row += kWindow) bytes += sort_window(row);
      bytes_in_place += bytes;
    });
    Offset entries = 0, columns = 0;
    for (Head& head : heads_) {
      const Offset count = head.col_at;
      head.at = entries;
      head.col_at = columns;
      entries += Offset{head.width} * kSellRows;
      columns += count;
    }
    const std::uint64_t slice_bytes = static_cast<std::uint64_t>(entries) * value_bytes<A>() +
                                      static_cast<std::uint64_t>(columns) * sizeof(Index);
    this->reserve(slice_bytes, "the slices of sell");
    cols_ = Buffer<Index>(columns);
    if constexpr (kHasValues) values_ = Buffer<A>(entries);
    this->by_owners([&](Index first, Index last) {
      for (Index row = first; row < last; row += kWindow) fill_window(row);
    });
    stored_bytes_ = head_bytes + slice_bytes + bytes_in_place;
    regular_ = entries;
  }

  std::string choice() const override {
    const double part =
        static_cast<double>(regular_) / static_cast<double>(std::max<Offset>(1, a_.nnz()));
    return this->describe() + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(this->op_a_), a_.nnz()) + ", " +
           std::to_string(static_cast<int>(100 * part)) + " % of the entries in slices";
  }
  std::uint64_t stored_bytes() const override { return stored_bytes_; }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  Offset length(Index row) const { return a_.row_offsets[row + 1] - a_.row_offsets[row]; }

  /// The first slice of the window that begins at `row`.
  static Offset slice_of(Index row) { return Offset{row} / kWindow * kSlices; }

  /// Sorts the window's rows by falling length, and decides how wide its slices are. Returns the
  /// bytes that will be read from CSR.
  std::uint64_t sort_window(Index first) {
    std::array<std::uint8_t, kWindow> order;
    int count = 0;
    const Index rows = std::min(kWindow, a_.rows - first);
    for (Index l = 0; l < rows; ++l) {
      if (!this->is_hub(first + l))
        order[static_cast<std::size_t>(count++)] = static_cast<std::uint8_t>(l);
    }
    std::stable_sort(order.begin(), order.begin() + count,
                     [&](std::uint8_t one, std::uint8_t other) {
                       return length(first + one) > length(first + other);
                     });
    std::uint64_t bytes = 0;
    for (int k = 0; k < kSlices; ++k) {
      Head& head = heads_[slice_of(first) + k];
      head = Head{};
      const int begin = k * kSellRows, end = begin + kSellRows;
      if (end <= count)
        head.width = static_cast<Index>(length(first + order[static_cast<std::size_t>(end - 1)]));
      for (int l = begin; l < end; ++l) {
        const bool is_row = l < count;
        rows_[(slice_of(first) + k) * kSellRows + l - begin] =
            is_row ? order[static_cast<std::size_t>(l)] : kNoRow;
        if (!is_row) continue;
        const Offset more = length(first + order[static_cast<std::size_t>(l)]) - head.width;
        head.is_ragged = head.is_ragged || more > 0 || end > count;
        bytes += static_cast<std::uint64_t>(more) * (sizeof(Index) + value_bytes<A>());
      }
      if (head.is_ragged) bytes += kSellRows * sizeof(Offset);
      const Offset slice = slice_of(first) + k;
      const std::uint8_t* const lanes = rows_.data() + slice * kSellRows;
      head.is_in_order = !head.is_ragged && lanes[0] + kSellRows - 1 == lanes[kSellRows - 1];
      head.col_at = columns_of(slice, first);
    }
    return bytes;
  }

  /// Where the entries of a slice's rows begin.
  std::array<Offset, kSellRows> begins_of(Offset slice, Index first) const {
    std::array<Offset, kSellRows> begins{};
    for (int l = 0; l < kSellRows; ++l) {
      begins[static_cast<std::size_t>(l)] = a_.row_offsets[first + rows_[slice * kSellRows + l]];
    }
    return begins;
  }

  /// Whether entries k of the rows have columns that follow each other: then x is loaded, not
  /// gathered.
  bool is_run(const std::array<Offset, kSellRows>& begins, Offset k) const {
    const Index first = a_.col_indices[begins[0] + k];
    for (Index l = 1; l < kSellRows; ++l) {
      if (a_.col_indices[begins[static_cast<std::size_t>(l)] + k] != first + l) return false;
    }
    return true;
  }

  /// How many columns a slice stores.
  Offset columns_of(Offset slice, Index first) const {
    const Index width = heads_[slice].width;
    if (width == 0) return 0;
    const auto begins = begins_of(slice, first);
    Offset columns = 0;
    for (Offset k = 0; k < width; ++k) columns += is_run(begins, k) ? 1 : kSellRows;
    return columns;
  }

  void fill_window(Index first) {
    for (Offset slice = slice_of(first); slice < slice_of(first) + kSlices; ++slice) {
      const Head& head = heads_[slice];
      if (head.width == 0) continue;
      const auto begins = begins_of(slice, first);
      Offset to = head.col_at;
      for (Offset k = 0; k < head.width; ++k) {
        const bool is_one_run = is_run(begins, k);
        if (is_one_run) cols_[to++] = ~a_.col_indices[begins[0] + k];
        for (int l = 0; l < kSellRows; ++l) {
          const Offset from = begins[static_cast<std::size_t>(l)] + k;
          if (!is_one_run) cols_[to++] = a_.col_indices[from];
          if constexpr (kHasValues) values_[head.at + k * kSellRows + l] = a_.values[from];
        }
      }
    }
  }

  void sum_rows(const Acc* x, const typename Base::Batch& batch, Acc* sums) const override {
    const Index first = batch.first, last = batch.last;
    for (Index row = first; row < last; row += kWindow) sum_window(x, row, sums + (row - first));
  }

  void sum_window(const Acc* x, Index first, Acc* sums) const {
    alignas(64) Acc of_slice[kSellRows];
    for (Offset slice = slice_of(first); slice < slice_of(first) + kSlices; ++slice) {
      const Head& head = heads_[slice];
      const std::uint8_t* const rows = rows_.data() + slice * kSellRows;
      Acc* const to = head.is_in_order ? sums + rows[0] : of_slice;
      this->loops_.slice(values_.data() + (kHasValues ? head.at : 0), cols_.data() + head.col_at,
                         head.width, x, to);
      if (head.is_in_order) continue;
      for (int l = 0; l < kSellRows; ++l) {
        if (rows[l] == kNoRow) break;  // rows come first
        Acc sum = of_slice[l];
        if (head.is_ragged) {
          const Offset begin = a_.row_offsets[first + rows[l]] + head.width;
          const Offset end = a_.row_offsets[first + rows[l] + 1];
          if (begin < end) sum += this->loops_.stretch(a_, x, begin, end);
        }
        sums[rows[l]] = sum;
      }
    }
  }

  CsrView<A> a_;
  Buffer<Head> heads_;
  Buffer<std::uint8_t> rows_;  // which row of its window a lane is
  Buffer<Index> cols_;
  Buffer<A> values_;
  std::uint64_t stored_bytes_ = 0;
  Offset regular_ = 0;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_sell(const MethodInput& input) { return make_format<Sell>(input); }

}  // namespace csrkit::cpu::spmv
