// long_rows_split: register_blocks, and rows of more than 2,048 nonzeros belong to all threads.
// Owns     a thread makes whole short rows of C; of a long row, the sums of stretches of 2,048
//          nonzeros, which are added in order when all are there
// Reads    as register_blocks
// Launch   stretches of long rows first, dynamically, then short rows by --schedule and --chunk
// Needs    one row of sums per stretch
// Against  register_blocks: no row keeps one thread busy while the others are done; equal numbers
//          of short rows are still unequal work, which is what nnz_balanced mends
#include <algorithm>
#include <vector>

#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

namespace {

constexpr Offset kLongRow = 2048;

struct Stretch {
  Index row;
  Offset begin;
  Offset end;
};

template <class Kinds>
class LongRowsSplit : public SpmmMethod {
 public:
  using Acc = typename Kinds::Acc;

  explicit LongRowsSplit(const MethodInput& input)
      : op_a_(input.op_a),
        team_(input.team),
        kernels_(row_kernels<Kinds>(chosen_isa(), Semiring::plus_times)) {
    input.budget.reserve(
        2 * static_cast<std::uint64_t>(op_a_.nnz() / kLongRow + 1) * sizeof(Stretch),
        "the list of stretches");
    for (Index i = 0; i < op_a_.rows(); ++i) {
      if (op_a_.row_length(i) <= kLongRow) continue;
      const Offset end = op_a_.row_offsets()[i + 1];
      for (Offset at = op_a_.row_offsets()[i]; at < end; at += kLongRow) {
        stretches_.push_back({i, at, std::min(at + kLongRow, end)});
      }
    }
    const Offset sums = static_cast<Offset>(stretches_.size()) * input.problem.dense_cols;
    input.budget.reserve(static_cast<std::uint64_t>(sums) * sizeof(Acc), "the sums of stretches");
    sums_ = Buffer<Acc>(sums);
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    const ScopedSchedule schedule(team_);
    const auto stretches = static_cast<Offset>(stretches_.size());
#pragma omp parallel num_threads(team_.threads)
    {
#pragma omp for schedule(dynamic, 1) nowait
      for (Offset n = 0; n < stretches; ++n) {
        const Stretch& stretch = stretches_[static_cast<std::size_t>(n)];
        kernels_.stretch(x, {stretch.begin, stretch.end, 0, x.dense_cols, RowSettings{}},
                         sums_.data() + n * x.dense_cols);
      }
#pragma omp for schedule(runtime)
      for (Index i = 0; i < x.a.rows; ++i) {
        if (x.a.row_offsets[i + 1] - x.a.row_offsets[i] > kLongRow) continue;
        kernels_.rows(x, {i, i + 1, 0, x.dense_cols, RowSettings{}});
      }
    }
    for (Offset n = 0; n < stretches;) n = finish_row(x, n);
  }

 private:
  /// Adds up the stretches of one row, from the n-th on; the first one that is of another row.
  Offset finish_row(const Operands<Kinds>& x, Offset n) {
    const Index row = stretches_[static_cast<std::size_t>(n)].row;
    Acc* total = sums_.data() + n * x.dense_cols;
    for (++n; n < static_cast<Offset>(stretches_.size()) &&
              stretches_[static_cast<std::size_t>(n)].row == row;
         ++n) {
      kernels_.combine(total, sums_.data() + n * x.dense_cols, x.dense_cols);
    }
    for (Index k = 0; k < x.dense_cols; ++k) x.store(x.c_row(row)[k], total[k]);
    return n;
  }

  CsrMatrix op_a_;
  Team team_;
  RowKernels<Kinds> kernels_;
  std::vector<Stretch> stretches_;
  Buffer<Acc> sums_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_long_rows_split(const MethodInput& input) {
  return with_spmm_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<LongRowsSplit<decltype(kinds)>>(input);
  });
}

}  // namespace csrkit::cpu
