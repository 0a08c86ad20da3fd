// column_ranges: C = A^T * B straight from A; nothing of A's size is made.
// Owns     a thread makes a run of neighbouring rows of C, that is columns of A, with about as many
//          nonzeros as any other's; columns with more than 1/128 of all nonzeros (hubs) are summed
//          by everybody, in chunks of rows whose sums are added in order
// Reads    every thread walks all rows of A and finds its columns in them; a row of B once per
//          thread that has columns there; C's rows of a thread are read and written for every
//          nonzero
// Launch   one range per thread. Every element is summed in the order of A's rows, hubs in chunks
//          that depend on A alone: the same bits for any number of threads
// Needs    8 bytes per column while planning, 1 per column if there are hubs, 64 rows of sums per
//          hub; for C of 16 bits or beta other than 0, sums for 64 columns of C
// Against  transposing first: no second copy of A and no analysis to speak of, but the search costs
//          a few nanoseconds per row and thread, and C travels through the caches instead of
//          registers. For A as it is stored, this is nnz_balanced
#include <algorithm>
#include <vector>

#include "core/base/counted.h"
#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

std::unique_ptr<SpmmMethod> make_nnz_balanced(const MethodInput&);

namespace {

constexpr Offset kHubShare = 128;  // so there are fewer than 128 hubs, and a number fits a byte
constexpr Offset kFewestOfHub = 4096;
constexpr Index kChunks = 64;
constexpr Index kHubTile = 256;  // columns of B per pass over the hubs
constexpr Index kSumsTile = 64;  // columns of B per pass where C cannot hold the sums
constexpr Index kLinearSearch = 16;

/// The first entry of [begin, end) whose column is at least `column`.
Offset find_column(const Index* cols, Offset begin, Offset end, Index column) {
  if (end - begin <= kLinearSearch) {
    Offset below = 0;
    for (Offset at = begin; at < end; ++at) below += cols[at] < column ? 1 : 0;
    return begin + below;
  }
  return std::lower_bound(cols + begin, cols + end, column) - cols;
}

template <class Kinds>
class ColumnRanges : public SpmmMethod {
 public:
  using Acc = typename Kinds::Acc;

  ColumnRanges(const MethodInput& input, Isa isa)
      : a_(input.problem.a),
        team_(input.team),
        isa_(isa),
        kernels_(row_kernels<Kinds>(isa, input.problem.semiring)),
        budget_(input.budget) {
    const auto cols = static_cast<std::uint64_t>(a_.cols());
    input.budget.reserve(cols * sizeof(Offset), "the counts of the columns");
    find_hubs_and_ranges(input.budget);
    input.budget.release(cols * sizeof(Offset));
    cut_chunks();
    const Index dense_cols = input.problem.dense_cols;
    const Offset hub_sums =
        static_cast<Offset>(hubs_.size()) * kChunks * std::min(kHubTile, dense_cols);
    input.budget.reserve(static_cast<std::uint64_t>(hub_sums) * sizeof(Acc), "the sums of hubs");
    hub_sums_ = Buffer<Acc>(hub_sums);
    if (!kCHoldsSums) reserve_sums(input.budget, dense_cols);
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(a_, call, team_);
    if (kCHoldsSums && !x.reads_c) {
      multiply_into_c(x);
    } else {
      if (sums_.size() == 0) reserve_sums(budget_, x.dense_cols);
      for (Index col = 0; col < x.dense_cols; col += kSumsTile) {
        multiply_into_sums(x, col, std::min(kSumsTile, x.dense_cols - col));
      }
    }
    for (Index col = 0; !hubs_.empty() && col < x.dense_cols; col += kHubTile) {
      multiply_hubs(x, col, std::min(kHubTile, x.dense_cols - col));
    }
  }

  std::string choice() const override {
    return std::string(name_of(isa_)) + ", " + counted(hubs_.size(), "column") + " summed by all";
  }

 private:
  static constexpr bool kCHoldsSums = std::is_same_v<typename Kinds::C, Acc>;

  void reserve_sums(MemoryBudget& budget, Index dense_cols) {
    const Offset sums = Offset{a_.cols()} * std::min(kSumsTile, dense_cols);
    budget.reserve(static_cast<std::uint64_t>(sums) * sizeof(Acc), "the sums of C");
    sums_ = Buffer<Acc>(sums);
  }

  void find_hubs_and_ranges(MemoryBudget& budget) {
    Buffer<Offset> counts(a_.cols());
    std::fill(counts.begin(), counts.end(), Offset{0});
#pragma omp parallel for schedule(static) num_threads(team_.threads)
    for (Offset at = 0; at < a_.nnz(); ++at) {
      Offset& count = counts[a_.col_indices()[at]];
#pragma omp atomic
      ++count;
    }
    const Offset threshold = std::max(kFewestOfHub, a_.nnz() / kHubShare);
    Offset work = a_.cols();
    for (Index j = 0; j < a_.cols(); ++j) {
      if (counts[j] > threshold) {
        hubs_.push_back(j);
      } else {
        work += counts[j];
      }
    }
    if (!hubs_.empty()) {
      budget.reserve(static_cast<std::uint64_t>(a_.cols()), "the map of hubs");
      hub_of_column_ = Buffer<std::uint8_t>(a_.cols());
      std::fill(hub_of_column_.begin(), hub_of_column_.end(), std::uint8_t{0});
      for (std::size_t n = 0; n < hubs_.size(); ++n) {
        hub_of_column_[hubs_[n]] = static_cast<std::uint8_t>(n + 1);
      }
    }
    ranges_.assign(static_cast<std::size_t>(team_.threads) + 1, a_.cols());
    ranges_[0] = 0;
    Offset done = 0;
    int range = 1;
    for (Index j = 0; j < a_.cols(); ++j) {
      while (range < team_.threads && done >= work * range / team_.threads) {
        ranges_[static_cast<std::size_t>(range++)] = j;
      }
      done += 1 + (counts[j] > threshold ? 0 : counts[j]);
    }
  }

  /// Rows of about equally many nonzeros, for the hubs.
  void cut_chunks() {
    chunks_.assign(kChunks + 1, a_.rows());
    for (Index n = 0; n < kChunks; ++n) {
      const Offset goal = a_.nnz() / kChunks * n;
      chunks_[static_cast<std::size_t>(n)] = static_cast<Index>(
          std::lower_bound(a_.row_offsets(), a_.row_offsets() + a_.rows(), goal) -
          a_.row_offsets());
    }
  }

  bool is_hub(Index column) const { return !hubs_.empty() && hub_of_column_[column] != 0; }

  /// The thread's columns in every row, hubs left out: entry by entry where there are hubs.
  template <class Scatter>
  void walk_rows(Index first, Index last, Scatter&& scatter) const {
    const Index* cols = a_.col_indices();
    const Offset* offsets = a_.row_offsets();
    for (Index i = 0; i < a_.rows(); ++i) {
      const Offset begin = offsets[i], end = offsets[i + 1];
      if (begin == end || cols[begin] >= last || cols[end - 1] < first) continue;
      Offset at = find_column(cols, begin, end, first);
      const Offset stop = find_column(cols, at, end, last);
      while (at < stop) {
        while (at < stop && is_hub(cols[at])) ++at;
        Offset run = at;
        while (run < stop && !is_hub(cols[run])) ++run;
        if (at < run) scatter(i, at, run);
        at = run;
      }
    }
  }

  /// C's own memory holds the sums until alpha is applied.
  void multiply_into_c(const Operands<Kinds>& x) {
    if constexpr (kCHoldsSums) {
#pragma omp parallel num_threads(team_.threads)
#pragma omp for schedule(static, 1)
      for (int thread = 0; thread < team_.threads; ++thread) {
        const Index first = ranges_[static_cast<std::size_t>(thread)];
        const Index last = ranges_[static_cast<std::size_t>(thread) + 1];
        const Acc nothing = kernels_.empty_sum;
        for (Index j = first; j < last; ++j) std::fill_n(x.c_row(j), x.dense_cols, nothing);
        walk_rows(first, last, [&](Index i, Offset begin, Offset end) {
          kernels_.scatter(x, {i, begin, end, 0, x.dense_cols, 0}, x.c, x.c_leading_dim);
        });
        if (x.alpha == Acc{1}) continue;
        for (Index j = first; j < last; ++j) {
          for (Index k = 0; k < x.dense_cols; ++k) x.c_row(j)[k] *= x.alpha;
        }
      }
    }
  }

  void multiply_into_sums(const Operands<Kinds>& x, Index col, Index cols) {
#pragma omp parallel for schedule(static, 1) num_threads(team_.threads)
    for (int thread = 0; thread < team_.threads; ++thread) {
      const Index first = ranges_[static_cast<std::size_t>(thread)];
      const Index last = ranges_[static_cast<std::size_t>(thread) + 1];
      Acc* const sums = sums_.data();
      std::fill(sums + Offset{first} * cols, sums + Offset{last} * cols, kernels_.empty_sum);
      walk_rows(first, last, [&](Index i, Offset begin, Offset end) {
        kernels_.scatter(x, {i, begin, end, col, cols, 0}, sums, cols);
      });
      for (Index j = first; j < last; ++j) {
        if (is_hub(j)) continue;  // C is still needed
        for (Index k = 0; k < cols; ++k) x.store(x.c_row(j)[col + k], sums[Offset{j} * cols + k]);
      }
    }
  }

  void multiply_hubs(const Operands<Kinds>& x, Index col, Index cols) {
    const auto hubs = static_cast<Offset>(hubs_.size());
    std::fill(hub_sums_.begin(), hub_sums_.begin() + hubs * kChunks * cols, kernels_.empty_sum);
#pragma omp parallel num_threads(team_.threads)
    {
#pragma omp for schedule(dynamic, 1)
      for (Index chunk = 0; chunk < kChunks; ++chunk) {
        Acc* const sums = hub_sums_.data() + Offset{chunk} * hubs * cols;
        for (Index i = chunks_[static_cast<std::size_t>(chunk)];
             i < chunks_[static_cast<std::size_t>(chunk) + 1]; ++i) {
          for (Offset at = a_.row_offsets()[i]; at < a_.row_offsets()[i + 1]; ++at) {
            const Index column = a_.col_indices()[at];
            const Offset hub = hub_of_column_[column];
            if (hub == 0) continue;
            kernels_.scatter(x, {i, at, at + 1, col, cols, column - (hub - 1)}, sums, cols);
          }
        }
      }
#pragma omp for schedule(dynamic, 1)
      for (Offset hub = 0; hub < hubs; ++hub) {
        Acc* const total = hub_sums_.data() + hub * cols;
        for (Index chunk = 1; chunk < kChunks; ++chunk) {
          kernels_.combine(total, total + Offset{chunk} * hubs * cols, cols);
        }
        auto* c = x.c_row(hubs_[static_cast<std::size_t>(hub)]) + col;
        for (Index k = 0; k < cols; ++k) x.store(c[k], total[k]);
      }
    }
  }

  CsrMatrix a_;
  Team team_;
  Isa isa_;
  RowKernels<Kinds> kernels_;
  std::vector<Index> ranges_;  // thread t makes rows [ranges_[t], ranges_[t + 1]) of C
  std::vector<Index> hubs_;
  std::vector<Index> chunks_;
  Buffer<std::uint8_t> hub_of_column_;  // 1 + its number, 0 for all others
  Buffer<Acc> hub_sums_;
  Buffer<Acc> sums_;
  MemoryBudget& budget_;  // the plan's, for sums that only some multiplications need
};

}  // namespace

std::unique_ptr<SpmmMethod> make_column_ranges(const MethodInput& input) {
  if (!input.problem.transpose_a) return make_nnz_balanced(input);
  return with_row_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<ColumnRanges<decltype(kinds)>>(input, chosen_isa());
  });
}

}  // namespace csrkit::cpu
