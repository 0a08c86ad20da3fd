// ell: every row as long as the longest, so that all rows do the same work.
// Owns     a thread makes a run of rows, whose entries it was the first to touch
// Reads    columns and values of a row side by side; a column of -1 is padding and ends the row
// Launch   rows in equal numbers
// Needs    rows times the longest row: refused where that is more than four times CSR
// Against  csr_rows: no row offsets, places are computed; one long row makes all rows long. Source:
//          ELLPACK (1985); Bell and Garland, Implementing sparse matrix-vector multiplication
//          (2009)
#include "cpu/spmv/ladder/padding.h"
#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Kinds>
class Ell : public SpmmMethod {
 public:
  using A = typename Kinds::A;
  using Acc = typename Kinds::Acc;

  explicit Ell(const MethodInput& input) : op_a_(input.op_a), team_(input.team) {
    const auto a = op_a_.view<A>();
    for (Index i = 0; i < a.rows; ++i) width_ = std::max(width_, op_a_.row_length(i));
    const Offset places = width_ * a.rows;
    stored_bytes_ = static_cast<std::uint64_t>(places) * (sizeof(Index) + value_bytes<A>());
    reserve_padded(input.budget, op_a_, stored_bytes_, "ell");
    cols_ = Buffer<Index>(places);
    if constexpr (kHasValues) values_ = Buffer<A>(places);
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (Index i = 0; i < a.rows; ++i) {
      const Offset begin = a.row_offsets[i], length = a.row_offsets[i + 1] - begin;
      for (Offset k = 0; k < width_; ++k) {
        cols_[i * width_ + k] = k < length ? a.col_indices[begin + k] : -1;
        if constexpr (kHasValues) {
          values_[i * width_ + k] = k < length ? a.values[begin + k] : A{};
        }
      }
    }
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> p(op_a_, call, team_);
    const CsrView<A> entries = view();
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (Index i = 0; i < op_a_.rows(); ++i) {
      Acc sum{0};
      for (Offset at = i * width_; at < (i + 1) * width_ && cols_[at] >= 0; ++at) {
        sum += entries.template value_as<Acc>(at) * load_as<Acc>(*p.b_row(cols_[at]));
      }
      p.store(*p.c_row(i), sum);
    }
  }

  std::string choice() const override {
    return "width " + std::to_string(width_) + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(op_a_), op_a_.nnz());
  }
  std::uint64_t stored_bytes() const override { return stored_bytes_; }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  /// The values, in the form that knows what kind none means.
  CsrView<A> view() const {
    CsrView<A> view;
    if constexpr (kHasValues) view.values = values_.data();
    return view;
  }

  CsrMatrix op_a_;
  Team team_;
  Offset width_ = 0;
  Buffer<Index> cols_;
  Buffer<A> values_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_ell(const MethodInput& input) { return make_format<Ell>(input); }

}  // namespace csrkit::cpu::spmv
