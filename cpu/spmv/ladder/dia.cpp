// dia: values by diagonals and no columns at all.
// Owns     a thread makes a run of rows, diagonal by diagonal
// Reads    of every diagonal in use a value for each row, and a bit that says whether it is an
//          entry: padding may not be multiplied, because 0 times infinity is NaN
// Launch   rows in equal numbers
// Needs    diagonals times rows values: refused where that is more than four times CSR
// Against  csr_rows: x is read in order and columns are not read at all; one entry far from the
//          others is a diagonal of its own. Source: Saad, Iterative methods, section 3.4
#include <vector>

#include "cpu/spmv/ladder/padding.h"
#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

/// A diagonal: entries (row, row + offset), whose first row is `first`, at `begin` of the arrays.
struct Diagonal {
  Index offset, first, last;
  Offset begin;
};

template <class Kinds>
class Dia : public SpmmMethod {
 public:
  using A = typename Kinds::A;
  using Acc = typename Kinds::Acc;

  explicit Dia(const MethodInput& input) : op_a_(input.op_a), team_(input.team) {
    const auto a = op_a_.view<A>();
    const Offset most = Offset{a.rows} + a.cols;
    input.budget.reserve(static_cast<std::uint64_t>(most) * (sizeof(Index) + 1), "the diagonals");
    // Which diagonals there are, and then the place of each.
    std::vector<char> is_used(static_cast<std::size_t>(most), 0);
    Buffer<Index> place(most);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset at = a.row_offsets[i]; at < a.row_offsets[i + 1]; ++at) {
        is_used[static_cast<std::size_t>(Offset{a.col_indices[at]} - i + a.rows)] = 1;
      }
    }
    Offset places = 0;
    for (Offset n = 0; n < most; ++n) {
      if (is_used[static_cast<std::size_t>(n)] == 0) continue;
      const auto offset = static_cast<Index>(n - a.rows);
      const Index first = std::max<Index>(0, -offset);
      const auto last = static_cast<Index>(std::min<Offset>(a.rows, Offset{a.cols} - offset));
      place[n] = static_cast<Index>(diagonals_.size());
      diagonals_.push_back({offset, first, last, places});
      places += last - first;
    }
    stored_bytes_ = static_cast<std::uint64_t>(places) * (1 + value_bytes<A>());
    reserve_padded(input.budget, op_a_, stored_bytes_, "dia");
    is_entry_ = Buffer<char>(places);
    if constexpr (kHasValues) values_ = Buffer<A>(places);
    std::fill(is_entry_.begin(), is_entry_.end(), 0);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset at = a.row_offsets[i]; at < a.row_offsets[i + 1]; ++at) {
        const Index n = place[Offset{a.col_indices[at]} - i + a.rows];
        const Diagonal& diagonal = diagonals_[static_cast<std::size_t>(n)];
        const Offset to = diagonal.begin + i - diagonal.first;
        is_entry_[to] = 1;
        if constexpr (kHasValues) values_[to] = a.values[at];
      }
    }
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> p(op_a_, call, team_);
    CsrView<A> entries;
    if constexpr (kHasValues) entries.values = values_.data();
    constexpr Index kRows = 512;  // whose sums stay in the nearest cache
    const Index blocks = op_a_.rows() / kRows + (op_a_.rows() % kRows != 0);
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (Index block = 0; block < blocks; ++block) {
      const Index begin = block * kRows;
      const Index end = std::min(op_a_.rows() - begin, kRows) + begin;
      Acc sums[kRows] = {};
      for (const Diagonal& diagonal : diagonals_) {
        const Index last = std::min(end, diagonal.last);
        for (Index i = std::max(begin, diagonal.first); i < last; ++i) {
          const Offset at = diagonal.begin + i - diagonal.first;
          if (is_entry_[at] == 0) continue;
          sums[i - begin] +=
              entries.template value_as<Acc>(at) * load_as<Acc>(*p.b_row(i + diagonal.offset));
        }
      }
      for (Index i = begin; i < end; ++i) p.store(*p.c_row(i), sums[i - begin]);
    }
  }

  std::string choice() const override {
    return std::to_string(diagonals_.size()) + " diagonals, " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(op_a_), op_a_.nnz());
  }
  std::uint64_t stored_bytes() const override { return stored_bytes_; }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;

  CsrMatrix op_a_;
  Team team_;
  std::vector<Diagonal> diagonals_;
  Buffer<char> is_entry_;
  Buffer<A> values_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_dia(const MethodInput& input) { return make_format<Dia>(input); }

}  // namespace csrkit::cpu::spmv
