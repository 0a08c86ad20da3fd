// gather_mark: how fast B's rows can be had: every row of B that A names is read and added up.
// random_gather_mark: the same for as many rows of B drawn at random, so nothing is owed to A's
// order.
// Owns     a thread reads the rows of B of neighbouring pieces of 2,048 entries; nothing is written
// Reads    A's columns in a stream, values not at all; of B what a multiplication reads, all
//          columns at once or in slices of 64, asked for early or not: the fastest of the four,
//          found out when it is first called
// Launch   pieces shared out as in nnz_balanced
// Needs    nothing
// Against  nothing: it is the mark. A multiplication can pass it where rows share columns and sums
//          stay in registers longer than a piece
#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "core/base/counted.h"
#include "cpu/common/work_shares.h"
#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

namespace {

constexpr Offset kPiece = 2048;
constexpr Index kSlice = 64;
constexpr int kTrials = 5;

struct Way {
  Index slice;  // columns at a time
  Offset prefetch_bytes;
};

template <class Kinds>
class GatherMark : public SpmmMethod {
 public:
  using Acc = typename Kinds::Acc;

  GatherMark(const MethodInput& input, const CsrMatrix& op_a)
      : op_a_(op_a),
        team_(input.team),
        kernels_(row_kernels<Kinds>(chosen_isa(), Semiring::plus_times)),
        shares_(input.team.threads, 1) {
    // A line of its own for every thread, so that writing the sums costs nobody anything.
    const Offset sums = Offset{team_.threads} * kSumsPerThread;
    input.budget.reserve(static_cast<std::uint64_t>(sums) * sizeof(Acc), "the sums of the mark");
    sums_ = Buffer<Acc>(sums);
    const Index cols = input.problem.dense_cols;
    for (const Offset prefetch_bytes : {0, 4096}) {
      ways_.push_back({cols, prefetch_bytes});
      if (cols > kSlice) ways_.push_back({kSlice, prefetch_bytes});
    }
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    if (ways_.size() > 1) keep_fastest(x);
    gather(x, ways_.front());
  }

  std::string choice() const override {
    return "slices of " + counted(ways_.front().slice, "column") + ", " +
           (ways_.front().prefetch_bytes > 0 ? "asked for early" : "not asked for early");
  }

 private:
  static constexpr Offset kSumsPerThread = 256;

  void keep_fastest(const Operands<Kinds>& x) {
    using Clock = std::chrono::steady_clock;
    Way fastest = ways_.front();
    auto least = Clock::duration::max();
    for (const Way& way : ways_) {
      for (int trial = 0; trial < kTrials; ++trial) {
        const auto start = Clock::now();
        gather(x, way);
        const auto time = Clock::now() - start;
        if (time < least) {
          least = time;
          fastest = way;
        }
      }
    }
    ways_ = {fastest};
  }

  void gather(const Operands<Kinds>& x, const Way& way) {
    RowSettings settings;
    settings.prefetch_bytes = way.prefetch_bytes;
    const Offset pieces = (x.a.nnz() + kPiece - 1) / kPiece;
    const Offset slices = (x.dense_cols - 1) / way.slice + 1;
    shares_.deal(pieces * slices);
#pragma omp parallel num_threads(team_.threads)
    {
      const int thread = omp_get_thread_num();
      for (Offset task = shares_.next(0, thread); task >= 0; task = shares_.next(0, thread)) {
        // Slices outside: a thread goes through its pieces once per slice.
        const Offset begin = task % pieces * kPiece;
        const Offset end = std::min(begin + kPiece, x.a.nnz());
        const auto col = static_cast<Index>(task / pieces * way.slice);
        const Index cols = std::min(way.slice, x.dense_cols - col);
        kernels_.gather(x, {begin, end, col, cols, settings},
                        sums_.data() + Offset{thread} * kSumsPerThread);
      }
    }
  }

  CsrMatrix op_a_;
  Team team_;
  RowKernels<Kinds> kernels_;
  WorkShares shares_;
  Buffer<Acc> sums_;
  std::vector<Way> ways_;
};

/// A's entries with columns drawn anew, all of them equally likely; row lengths and values as they
/// are.
CsrMatrix with_random_columns(const MethodInput& input) {
  const CsrMatrix& a = input.op_a;
  input.budget.reserve(static_cast<std::uint64_t>(a.nnz()) * sizeof(Index), "random columns");
  struct Kept {
    CsrMatrix a;
    Buffer<Index> columns;
  };
  const auto kept = std::make_shared<Kept>(Kept{a, Buffer<Index>(a.nnz())});
  Index* const columns = kept->columns.data();
  const auto cols = static_cast<std::uint64_t>(a.cols());
#pragma omp parallel for schedule(static) num_threads(input.team.threads)
  for (Offset at = 0; at < a.nnz(); ++at) {
    // The counter, mixed as in splitmix64; the high half times the range is a number in the range.
    std::uint64_t mixed = (static_cast<std::uint64_t>(at) + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    columns[at] = static_cast<Index>((mixed >> 32) * cols >> 32);
  }
  return CsrMatrix(a.rows(), a.cols(), a.row_offsets(), columns, a.value_kind(), a.values(), kept);
}

std::unique_ptr<SpmmMethod> mark_over(const MethodInput& input, const CsrMatrix& op_a) {
  return with_spmm_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<GatherMark<decltype(kinds)>>(input, op_a);
  });
}

}  // namespace

std::unique_ptr<SpmmMethod> make_gather_mark(const MethodInput& input) {
  return mark_over(input, input.op_a);
}

std::unique_ptr<SpmmMethod> make_random_gather_mark(const MethodInput& input) {
  return mark_over(input, with_random_columns(input));
}

}  // namespace csrkit::cpu
