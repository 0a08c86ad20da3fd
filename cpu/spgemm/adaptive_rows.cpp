// adaptive_rows: rows in pieces of equal work, each with the accumulator that suits it.
// Owns     a thread owns whole rows of C: it counts them, then fills them where they belong
// Reads    rows of B as A's columns come, neighbours with the same columns at once, first and last
//          column of each ahead of the rest; the sums stay in the second-level cache (range_sizes)
// Launch   pieces of rows of equal products, many per thread, heaviest first, taken as threads are
//          free. A row never depends on the piece, the thread or the block it is in.
// Needs    ascending columns in A, B and the mask
// Against  hash_rows: no insertion where columns are near each other or many, no comparison sort
//          anywhere, rows of one source copied, rows of grids made after the pattern of the row
//          before
#include "cpu/spgemm/adaptive_rows.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/team.h"
#include "cpu/common/alike_rows.h"
#include "cpu/spgemm/analysis/row_pieces.h"
#include "cpu/spgemm/analysis/shifted_rows.h"
#include "cpu/spgemm/rows/row_products.h"

namespace csrkit::cpu {

namespace {

/// If rows of B have fewer entries than this on average, no neighbours with the same columns are
/// searched for: the search costs time, and joining short rows gains little.
constexpr Offset kWorthJoining = 12;

template <class B, class Acc>
class AdaptiveRows : public SpgemmMethod, private OnePassRows {
 public:
  AdaptiveRows(const SpgemmInput& input, bool makes_rows_once, const Chosen& chosen)
      : makes_rows_once_(makes_rows_once),
        chosen_(chosen),
        problem_(input.problem),
        op_b_(input.op_b),
        threads_(input.threads),
        isa_(chosen_isa()),
        loops_(row_products<B, Acc>(isa_, problem_.semiring)),
        ranges_(range_sizes(sizeof(Acc))),
        scratch_(static_cast<std::size_t>(input.threads)) {
    // A range wider than C is never needed.
    const Index cols = std::max<Index>(problem_.output_cols(), 64);
    ranges_.sums = std::min(ranges_.sums, cols);
    ranges_.flags = std::min(ranges_.flags, cols);
  }

  void balance(RowWork work) override {
    pieces_ = std::move(work.pieces);
    products_ = work.products;
    shifted_ = Buffer<std::uint8_t>();
    marked_ = Buffer<std::uint8_t>();
    if (!problem_.mask && problem_.drop_below == 0 && !has_tiny_rows()) {
      shifted_ = find_shifted_rows(problem_.a, op_b_, team_for(problem_.a.rows(), threads_));
    }
    const std::uint64_t each = RowScratch<Acc>::bytes_for(
        ranges_, work.most_hashed, work.most_sources,
        problem_.sorts_rows ? 0 : work.most_made + kMetPadding,
        shifted_.size() > 0 ? kMostShifted : 0, problem_.drop_below > 0 ? work.most_made : 0);
    scratch_bytes_ = each * static_cast<std::uint64_t>(threads_) + pieces_.size_bytes() +
                     static_cast<std::uint64_t>(shifted_.size());
    joins_rows_of_b_ = false;
    alike_ = AlikeRows();
    if (problem_.mask || op_b_.nnz() < kWorthJoining * op_b_.rows()) return;
    alike_ = find_alike_rows(op_b_, team_for(op_b_.rows(), threads_));
    joins_rows_of_b_ = are_worth_joining(alike_, op_b_);
    scratch_bytes_ += static_cast<std::uint64_t>(alike_.next_is_alike.size());
  }

  std::uint64_t scratch_bytes() const override { return scratch_bytes_; }

  void count(Index* row_nnz) override {
    pieces_.for_each(0, problem_.a.rows(), threads_, [&](int thread, Index first, Index last) {
      count_rows(thread, first, last, row_nnz + first);
    });
  }

  void fill(const SpgemmRows& rows) override {
    const ProductJob<B, Acc> job = typed_job();
    auto* const values = static_cast<Acc*>(rows.values);
    pieces_.for_each(rows.first_row, rows.last_row, threads_,
                     [&](int thread, Index first, Index last) {
                       const Offset at = rows.row_offsets[first - rows.first_row];
                       loops_.make(job, first, last, ranges_, scratch_of(thread), nullptr,
                                   rows.col_indices + at, values + at);
                     });
  }

  OnePassRows* one_pass() override { return makes_rows_once_ ? this : nullptr; }

  void set_values(const CsrMatrix& a, const CsrMatrix& op_b) override {
    problem_.a = a;
    op_b_ = op_b;
  }

  std::string choice() const override {
    const std::string why =
        chosen_.kernel.empty() ? "" : chosen_.kernel + " (because " + chosen_.because + "): ";
    return why + name_of(isa_) + ", " + counted(pieces_.count(), "piece") + " for " +
           counted(threads_, "thread");
  }
  std::string chosen_kernel() const override { return chosen_.kernel; }

 private:
  ProductJob<B, Acc> typed_job() const {
    return ProductJob<B, Acc>(problem_, op_b_, next_is_alike(), next_is_shifted(), makes_batches());
  }
  const std::uint8_t* next_is_alike() const {
    return joins_rows_of_b_ ? alike_.next_is_alike.data() : nullptr;
  }
  const std::uint8_t* next_is_shifted() const {
    return shifted_.size() > 0 ? shifted_.data() : nullptr;
  }

  RowScratch<Acc>& scratch_of(int thread) { return scratch_[static_cast<std::size_t>(thread)]; }

  const RowPieces& pieces() const override { return pieces_; }

  Offset products(Index first, Index last) const override {
    const Offset* const lengths = op_b_.row_offsets();
    const Index* const cols = problem_.a.col_indices();
    const Offset end = problem_.a.row_offsets()[last];
    Offset products = 0;
    for (Offset at = problem_.a.row_offsets()[first]; at < end; ++at) {
      products += lengths[cols[at] + 1] - lengths[cols[at]];
    }
    return products;
  }

  bool can_be_made_at_once() const override {
    return !problem_.mask && problem_.drop_below == 0 &&
           op_b_.nnz() < kWorthJoining * op_b_.rows() && (b_is_a() || !may_be_a_grid());
  }

  bool begin_at_once() override {
    if (!may_be_a_grid()) {
      shifted_ = Buffer<std::uint8_t>();
      return false;
    }
    const Offset rows = problem_.a.rows();
    if (marked_.size() != rows) marked_ = Buffer<std::uint8_t>(rows);
    if (shifted_.size() != rows) shifted_ = Buffer<std::uint8_t>(rows);
    return true;
  }

  void look_at_rows(Index first, Index last) override {
    mark_shifted_rows(problem_.a, first, last, marked_.data());
  }

  void look_again(Index first, Index last) override {
    keep_shifted_products(problem_.a, first, last, marked_.data(), marked_.data(), shifted_.data());
  }

  bool b_is_a() const {
    return problem_.a.col_indices() == op_b_.col_indices() && problem_.a.rows() == op_b_.rows();
  }

  bool may_be_a_grid() const {
    return !has_tiny_rows() && may_have_shifted_rows(problem_.a, op_b_);
  }

  /// Whether the average row has so few products that it is made in registers, where no row goes on
  /// after the pattern of the one before.
  bool has_tiny_rows() const {
    const auto mean = [](const CsrMatrix& m) { return static_cast<double>(m.nnz()) / m.rows(); };
    return isa_ == Isa::avx512 && problem_.semiring == Semiring::plus_times &&
           (problem_.a.nnz() == 0 || op_b_.nnz() == 0 ||
            mean(problem_.a) * mean(op_b_) <= static_cast<double>(kTinyRow));
  }

  /// Whether rows are made many at a time. A few rows of A or B may have most of the products.
  bool makes_batches() const {
    return has_tiny_rows() && products_ <= kTinyRow * problem_.a.rows() && !problem_.mask &&
           problem_.drop_below == 0;
  }

  Offset most_entries(Index first, Index last) const override {
    if (!problem_.mask) return (Offset{last} - first) * problem_.output_cols();
    return problem_.mask->row_offsets()[last] - problem_.mask->row_offsets()[first];
  }

  void count_rows(int thread, Index first, Index last, Index* row_nnz) override {
    RowScratch<Acc>& scratch = scratch_of(thread);
    if (problem_.drop_below > 0) {
      return loops_.count_kept(typed_job(), first, last, ranges_, scratch, row_nnz);
    }
    const CsrView<ImplicitOne> b{op_b_.rows(), op_b_.cols(), op_b_.row_offsets(),
                                 op_b_.col_indices()};
    row_count(isa_)({problem_, b, next_is_alike(), next_is_shifted()}, first, last, ranges_,
                    scratch, row_nnz);
  }

  Offset make_rows(int thread, Index first, Index last, Index* row_nnz, Index* col_indices,
                   void* values) override {
    return loops_.make(typed_job(), first, last, ranges_, scratch_of(thread), row_nnz, col_indices,
                       static_cast<Acc*>(values));
  }

  bool makes_rows_once_;
  Chosen chosen_;
  SpgemmProblem problem_;
  CsrMatrix op_b_;
  int threads_;
  Isa isa_;
  RowProducts<B, Acc> loops_;
  RangeSizes ranges_;
  std::vector<RowScratch<Acc>> scratch_;
  AlikeRows alike_;
  bool joins_rows_of_b_ = false;
  Buffer<std::uint8_t> shifted_;
  Buffer<std::uint8_t> marked_;  // of a grid that is made at once
  RowPieces pieces_;
  Offset products_ = 0;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SpgemmMethod> make_adaptive(const SpgemmInput& input, bool makes_rows_once,
                                            const Chosen& chosen) {
  return with_spgemm_kinds(
      input.problem, [&](auto b_tag, auto acc_tag) -> std::unique_ptr<SpgemmMethod> {
        return std::make_unique<
            AdaptiveRows<typename decltype(b_tag)::type, typename decltype(acc_tag)::type>>(
            input, makes_rows_once, chosen);
      });
}

std::unique_ptr<SpgemmMethod> make_spgemm_adaptive_rows(const SpgemmInput& input) {
  return make_adaptive(input, false);
}

}  // namespace csrkit::cpu
