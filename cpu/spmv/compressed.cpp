// compressed: every 32 rows in the form that takes the fewest bytes, and the same numbers to the
// bit.
// Owns     a slice of 32 rows is kept by diagonals (no columns, plain loads of x), or row by row
//          with columns of 8 or 16 bits, or is left in CSR; values once for each diagonal, as 8-bit
//          codes of at most 256 values, or as they are
// Reads    the slices in a stream; values that are not repeated, and hubs, from CSR
// Launch   as csr_balanced; a slice is filled, so its pages first touched, by the thread that
//          reads it
// Needs    at most what CSR takes, in most cases a part of it
// Against  csr_balanced, where memory is the limit: fewer bytes are less time. Sources: diagonals
//          are DIA's of every textbook, for 32 rows instead of all; columns as short distances
//          follow Willcock and Lumsdaine, Accelerating sparse matrix computations via data
//          compression (2006), codes of values Kourtis, Goumas, Koziris, Optimizing SpMV using
//          index and value compression (2008)
#include "cpu/spmv/compressed.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/huge_pages.h"
#include "cpu/spmv/slice_analysis.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Kinds>
class Compressed : public RowSums<Kinds> {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;

  Compressed(const MethodInput& input, const CompressedLimits& limits)
      : Base(input, kCompressedRows), a_(input.op_a.view<A>()) {
    const Offset slices = (Offset{a_.rows} + kCompressedRows - 1) / kCompressedRows;
    this->reserve(static_cast<std::uint64_t>(slices) * sizeof(SliceHead), "the slices");
    heads_ = Buffer<SliceHead>(slices);
    find_values();
    find_forms();
    constexpr double kNearlyAll = 0.95;
    const double by_diagonals =
        static_cast<double>(kept_by_diagonals()) / std::max(static_cast<double>(slices), 1.0);
    const bool is_small =
        stored_bytes_ <= limits.most_bytes ||
        (by_diagonals >= kNearlyAll && stored_bytes_ <= limits.most_bytes_of_diagonals);
    is_within_ = is_small && by_diagonals >= limits.least_by_diagonals;
    if (is_within_) fill();
  }

  bool is_within_limits() const { return is_within_; }
  std::uint64_t stored_bytes() const override { return stored_bytes_; }

  std::string choice() const override {
    Offset narrow = 0;
    for (const SliceHead& head : heads_) {
      if (head.columns == ColumnForm::bytes || head.columns == ColumnForm::words) ++narrow;
    }
    const std::string values =
        has_table_ ? ", " + std::to_string(table_.size()) + " distinct values" : "";
    return this->describe() + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(this->op_a_), a_.nnz()) + ", " +
           counted(heads_.size(), "slice") + ", " + std::to_string(kept_by_diagonals()) +
           " by diagonals, " + std::to_string(narrow) + " with short columns" + values;
  }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  Index end_of(Index first) const { return std::min(a_.rows - first, kCompressedRows) + first; }

  void find_values() {
    if constexpr (kHasValues) {
      std::atomic<bool> are_few{true};
      this->by_owners([&](Index first, Index last) {
        if (!are_few) return;
        ValueTable mine;
        for (Offset at = a_.row_offsets[first]; at < a_.row_offsets[last]; ++at) {
          if (!mine.insert(bits_of(a_.values[at]))) break;
        }
#pragma omp critical(csrkit_spmv_value_table)
        table_.merge(mine);
        if (!mine.is_small()) are_few = false;
      });
      has_table_ = table_.is_small();
      for (int code = 0; has_table_ && code < table_.size(); ++code) {
        A value;
        const std::uint64_t bits = table_.pattern(code);
        std::memcpy(&value, &bits, sizeof value);
        numbers_[static_cast<std::size_t>(code)] = load_as<Acc>(value);
        if (std::isfinite(load_as<double>(value))) padding_code_ = code;
      }
    }
  }

  Offset kept_by_diagonals() const {
    return std::count_if(heads_.begin(), heads_.end(), [](const SliceHead& head) {
      return head.columns == ColumnForm::diagonals;
    });
  }

  bool holds_hub(Index first) const {
    for (Index row = first; row < end_of(first); ++row) {
      if (this->is_hub(row)) return true;
    }
    return false;
  }

  void find_forms() {
    std::atomic<std::uint64_t> bytes{0};
    this->by_owners([&](Index begin, Index end) {
      Diagonals<A> diagonals;
      std::uint64_t read = 0;
      for (Index first = begin; first < end; first += kCompressedRows) {
        SliceCost cost;
        SliceHead& head = heads_[first / kCompressedRows];
        if (holds_hub(first)) {  // it stays in CSR
          head = SliceHead{};
          cost.in_place =
              static_cast<std::uint64_t>(a_.row_offsets[end_of(first)] - a_.row_offsets[first]) *
              (sizeof(Index) + value_bytes<A>());
        } else {
          head = cheapest_form(a_, first, end_of(first), has_table_ ? &table_ : nullptr,
                               padding_code_ >= 0, &diagonals, &cost);
        }
        head.at = cost.own;  // its size, until places are known
        read += cost.read() + sizeof(SliceHead);
      }
      bytes += read;
    });
    stored_bytes_ = bytes;
    for (SliceHead& head : heads_) {
      const std::uint64_t own = head.at;
      head.at = own_bytes_;
      own_bytes_ += own;
    }
  }

  void fill() {
    this->reserve(own_bytes_, "the slices");
    bytes_ = Buffer<unsigned char>(static_cast<Offset>(own_bytes_));
    advise_huge_pages(bytes_.data(), bytes_.size_bytes());
    this->by_owners([&](Index begin, Index end) {
      Diagonals<A> diagonals;
      for (Index first = begin; first < end; first += kCompressedRows) {
        const SliceHead& head = heads_[first / kCompressedRows];
        if (head.columns == ColumnForm::diagonals) {
          diagonals.find(a_, first, end_of(first), head.steps);
          fill_diagonals(head, first, diagonals);
        } else if (head.columns == ColumnForm::bytes) {
          fill_narrow<std::uint8_t>(head, first);
        } else if (head.columns == ColumnForm::words) {
          fill_narrow<std::uint16_t>(head, first);
        }
      }
    });
  }

  void fill_diagonals(const SliceHead& head, Index first, const Diagonals<A>& found) {
    const auto steps = static_cast<std::size_t>(head.steps);
    unsigned char* const at = bytes_.data() + head.at;
    std::memcpy(at, found.offsets.data(), steps * 4);
    std::memcpy(at + steps * 4, found.masks.data(), steps * 4);
    if constexpr (kHasValues) {
      A* const values = reinterpret_cast<A*>(at + steps * 8);
      unsigned char* const codes = at + steps * 8;
      if (head.values == ValueForm::uniform) {
        for (std::size_t step = 0; step < steps; ++step)
          values[step] = a_.values[found.firsts[step]];
        return;
      }
      if (head.values == ValueForm::coded) {
        std::memset(codes, padding_code_, steps * kCompressedRows);
      } else {
        std::memset(codes, 0, steps * kCompressedRows * sizeof(A));
      }
      for (Index row = first; row < end_of(first); ++row) {
        std::size_t step = 0;
        for (Offset n = a_.row_offsets[row]; n < a_.row_offsets[row + 1]; ++n) {
          while (found.offsets[step] < a_.col_indices[n] - row) ++step;
          const std::size_t to = step * kCompressedRows + static_cast<std::size_t>(row - first);
          if (head.values == ValueForm::coded) {
            codes[to] = table_.code_of(bits_of(a_.values[n]));
          } else {
            values[to] = a_.values[n];
          }
        }
      }
    }
  }

  template <class Column>
  void fill_narrow(const SliceHead& head, Index first) {
    const Narrow at = narrow_at<Column>(head, first);
    const Offset begin = a_.row_offsets[first], end = a_.row_offsets[end_of(first)];
    auto* const starts = reinterpret_cast<std::uint16_t*>(bytes_.data() + head.at);
    for (Index row = first; row <= end_of(first); ++row) {
      starts[row - first] = static_cast<std::uint16_t>(a_.row_offsets[row] - begin);
    }
    auto* const cols = reinterpret_cast<Column*>(bytes_.data() + at.cols);
    for (Offset n = begin; n < end; ++n) {
      cols[n - begin] = static_cast<Column>(a_.col_indices[n] - head.first_col);
      if constexpr (kHasValues) {
        if (head.values == ValueForm::coded) {
          bytes_[static_cast<Offset>(at.codes) + n - begin] = table_.code_of(bits_of(a_.values[n]));
        }
      }
    }
  }

  /// Where the parts of a slice row by row are. Its number of entries is the last of its starts.
  struct Narrow {
    std::uint64_t cols, codes;
  };
  template <class Column>
  Narrow narrow_at(const SliceHead& head, Index first) const {
    const auto rows = static_cast<std::uint64_t>(end_of(first) - first);
    const auto count =
        static_cast<std::uint64_t>(a_.row_offsets[end_of(first)] - a_.row_offsets[first]);
    const std::uint64_t cols = head.at + padded((rows + 1) * 2);
    return {cols, cols + padded(count * sizeof(Column))};
  }

  void sum_rows(const Acc* x, const typename Base::Batch& batch, Acc* sums) const override {
    const Index begin = batch.first, end = batch.last;
    for (Index first = begin; first < end; first += kCompressedRows) {
      sum_slice(x, first, sums + (first - begin));
    }
  }

  void sum_slice(const Acc* x, Index first, Acc* sums) const {
    const SliceHead& head = heads_[first / kCompressedRows];
    const unsigned char* const at = bytes_.data() + head.at;
    const std::size_t steps = head.steps;
    if (head.columns == ColumnForm::diagonals) {
      this->loops_.diagonals({reinterpret_cast<const std::int32_t*>(at),
                              reinterpret_cast<const std::uint32_t*>(at + steps * 4), head.steps,
                              head.values, at + steps * 8, numbers_.data()},
                             x + first, sums);
      return;
    }
    if (head.columns == ColumnForm::in_place) {
      for (Index row = first; row < end_of(first); ++row) {
        if (!this->is_hub(row)) this->loops_.rows(a_, x, row, row + 1, sums + (row - first));
      }
      return;
    }
    const auto* const starts = reinterpret_cast<const std::uint16_t*>(at);
    const std::int32_t rows = end_of(first) - first;
    const unsigned char* const cols = at + padded((static_cast<std::uint64_t>(rows) + 1) * 2);
    const std::uint64_t column_bytes = head.columns == ColumnForm::bytes ? 1 : 2;
    const void* values = cols + padded(starts[rows] * column_bytes);
    if constexpr (kHasValues) {
      if (head.values == ValueForm::raw) values = a_.values + a_.row_offsets[first];
    }
    this->loops_.narrow({starts, rows, head.columns, cols, head.values, values, numbers_.data()},
                        x + head.first_col, sums);
  }

  CsrView<A> a_;
  Buffer<SliceHead> heads_;
  Buffer<unsigned char> bytes_;
  ValueTable table_;
  std::array<Acc, ValueTable::kMost> numbers_{};
  bool has_table_ = false;
  int padding_code_ = -1;  // of a finite value, if there is one
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t own_bytes_ = 0;
  bool is_within_ = false;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_compressed_within(const MethodInput& input,
                                                   const CompressedLimits& limits) {
  return with_spmm_kinds<true>(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    auto method = std::make_unique<Compressed<decltype(kinds)>>(input, limits);
    if (!method->is_within_limits()) return nullptr;
    return method;
  });
}

std::unique_ptr<SpmmMethod> make_compressed(const MethodInput& input) {
  return make_compressed_within(input, {std::numeric_limits<std::uint64_t>::max()});
}

}  // namespace csrkit::cpu::spmv
