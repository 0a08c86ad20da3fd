// hyb: ELL for the typical part of a row, a list of entries for the exceptional rest.
// Owns     a thread makes a run of rows: first their part in ELL, then what the list adds to them
// Reads    columns and values of a row side by side, then the list in order, row by row
// Launch   rows in equal numbers; the list belongs to whoever has its rows
// Needs    rows times the typical length, and 8 bytes and a value for every entry of the list
// Against  ell: a long row costs its own entries and nobody else's. Source: Bell and Garland,
//          Implementing sparse matrix-vector multiplication (2009), whose rule says what is typical
#include <vector>

#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

/// The largest width that a third of the rows fill: there a place of ELL, padding included, costs
/// less than an entry of a list.
Offset typical_length(const CsrMatrix& a) {
  Offset longest = 0;
  for (Index i = 0; i < a.rows(); ++i) longest = std::max(longest, a.row_length(i));
  std::vector<Offset> rows_of_length(static_cast<std::size_t>(longest) + 1, 0);
  for (Index i = 0; i < a.rows(); ++i) ++rows_of_length[static_cast<std::size_t>(a.row_length(i))];
  Offset rows = 0, width = longest;
  for (; width > 0; --width) {
    rows += rows_of_length[static_cast<std::size_t>(width)];
    if (3 * rows >= a.rows()) break;
  }
  return width;
}

template <class Kinds>
class Hyb : public SpmmMethod {
 public:
  using A = typename Kinds::A;
  using Acc = typename Kinds::Acc;

  explicit Hyb(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), width_(typical_length(op_a_)) {
    const auto a = op_a_.view<A>();
    const Offset places = width_ * a.rows;
    Offset rest = 0;
    for (Index i = 0; i < a.rows; ++i) rest += std::max<Offset>(0, op_a_.row_length(i) - width_);
    stored_bytes_ = static_cast<std::uint64_t>(places) * (sizeof(Index) + value_bytes<A>()) +
                    static_cast<std::uint64_t>(rest) * (2 * sizeof(Index) + value_bytes<A>());
    input.budget.reserve(stored_bytes_, "hyb");
    cols_ = Buffer<Index>(places + rest);
    list_rows_ = Buffer<Index>(rest);
    if constexpr (kHasValues) values_ = Buffer<A>(places + rest);
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (Index i = 0; i < a.rows; ++i) {
      const Offset begin = a.row_offsets[i], length = a.row_offsets[i + 1] - begin;
      for (Offset k = 0; k < width_; ++k) {
        cols_[i * width_ + k] = k < length ? a.col_indices[begin + k] : -1;
        if constexpr (kHasValues) values_[i * width_ + k] = k < length ? a.values[begin + k] : A{};
      }
    }
    Offset at = 0;
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset from = a.row_offsets[i] + width_; from < a.row_offsets[i + 1]; ++from, ++at) {
        list_rows_[at] = i;
        cols_[places + at] = a.col_indices[from];
        if constexpr (kHasValues) values_[places + at] = a.values[from];
      }
    }
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> p(op_a_, call, team_);
    CsrView<A> entries;
    if constexpr (kHasValues) entries.values = values_.data();
    const auto product = [&](Offset at) {
      return entries.template value_as<Acc>(at) * load_as<Acc>(*p.b_row(cols_[at]));
    };
    const Index rows = op_a_.rows();
    const Offset places = width_ * rows;
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (int part = 0; part < team_.threads; ++part) {
      const auto begin = static_cast<Index>(Offset{rows} * part / team_.threads);
      const auto end = static_cast<Index>(Offset{rows} * (part + 1) / team_.threads);
      Offset next =
          std::lower_bound(list_rows_.begin(), list_rows_.end(), begin) - list_rows_.begin();
      for (Index i = begin; i < end; ++i) {
        Acc sum{0};
        for (Offset at = i * width_; at < (i + 1) * width_ && cols_[at] >= 0; ++at)
          sum += product(at);
        for (; next < list_rows_.size() && list_rows_[next] == i; ++next)
          sum += product(places + next);
        p.store(*p.c_row(i), sum);
      }
    }
  }

  std::string choice() const override {
    return "width " + std::to_string(width_) + " and a list of " +
           std::to_string(list_rows_.size()) + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(op_a_), op_a_.nnz());
  }
  std::uint64_t stored_bytes() const override { return stored_bytes_; }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  CsrMatrix op_a_;
  Team team_;
  Offset width_;
  Buffer<Index> cols_;       // ELL's places, then the list
  Buffer<Index> list_rows_;  // ascending
  Buffer<A> values_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_hyb(const MethodInput& input) { return make_format<Hyb>(input); }

}  // namespace csrkit::cpu::spmv
