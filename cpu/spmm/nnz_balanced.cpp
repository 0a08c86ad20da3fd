// nnz_balanced: work is cut into pieces of equal size, hubs included, and columns stay in
// registers.
// Owns     a piece is a run of whole rows, about as many nonzeros (plus rows) as any other, and one
//          thread makes it; a row longer than two pieces (a hub) is cut into stretches of one
//          piece, whose sums wait in a workspace until they are added in order
// Reads    as rows/row_kernels_body.inc says; a tile of columns at a time, from copies of B whose
//          rows begin on cache lines, rows with the same columns together, or some rows band after
//          band (rows/body/banded_rows.inc), if settings.h says so
// Launch   every thread has a run of neighbouring pieces and helps others when it is done, unless
//          the product is too small for that: then all runs have about as much work; where hubs are
//          cut depends on A alone and every element has one order of summation, so the bits are the
//          same for any number of threads
// Needs    4 to 8 bytes per dense column and stretch of a hub (at most 1/64 of the hubs' share of
//          A); the copies of B; a byte a row where rows are joined; a copy of A where it lies in
//          bands of columns, and up to a quarter of a core's own cache a thread for sums that wait,
//          or what the rows of one piece need
// Against  the ladder: no row is too long for one thread, the widest vectors of the machine at run
//          time, sums in registers, rows of B prefetched, C past the caches where they could not
//          keep it. Source of the cuts: row_cuts.h
#include <algorithm>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/huge_pages.h"
#include "cpu/common/alike_rows.h"
#include "cpu/common/caches.h"
#include "cpu/common/new_values.h"
#include "cpu/common/row_cuts.h"
#include "cpu/common/work_shares.h"
#include "cpu/spmm/choose_settings.h"
#include "cpu/spmm/reads_of_b.h"
#include "cpu/spmm/rows/banded_rows.h"
#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

namespace {

/// Below this many multiply-adds a second thread costs more than it brings (measured: about 5 us to
/// wake a team).
constexpr double kSerialWork = 1 << 15;
/// With fewer multiply-adds a thread, threads do not help each other: to look for work left, and to
/// bring it from another core's cache, takes longer than to wait (16 cores: 2 of 8 us, 7 of 22).
constexpr double kWorthHelping = 3e5;
/// Columns that one task of the second phase adds up.
constexpr Index kReduceColumns = 256;
/// Up to this many sums of cut rows, one thread adds them up faster than a team meets at a barrier.
constexpr Offset kSumsForOne = 1 << 11;

/// With fewer columns there are no tiles: narrow rows are summed in chains, whose number a tile
/// must not change.
constexpr Index kFewestTiled = 64;
/// One to three columns are scalars, not vectors.
constexpr Index kNarrowCols = 3;

/// With very wide B, a round of work is several tiles, so that the shares stay small.
constexpr Index kMostRounds = 64;

template <class Kinds>
class NnzBalanced : public SpmmMethod, public ReadsValuesInPlace {
 public:
  using Acc = typename Kinds::Acc;
  using B = typename Kinds::B;
  static constexpr bool kHasBands = sizeof(B) >= 4;

  NnzBalanced(const MethodInput& input, Isa isa)
      : op_a_(input.op_a),
        team_(input.team),
        isa_(isa),
        kernels_(row_kernels<Kinds>(isa, input.problem.semiring)),
        settings_(settings_for(input)),
        tile_cols_(settings_.tile_cols > 0 && input.problem.dense_cols >= kFewestTiled
                       ? settings_.tile_cols
                       : input.problem.dense_cols),
        tiles_((input.problem.dense_cols - 1) / tile_cols_ + 1),
        rounds_(std::min(tiles_, kMostRounds)),
        are_helped_(work_of(input.problem.dense_cols) > kWorthHelping * team_.threads),
        shares_(team_.threads, rounds_) {
    settings_.rows.foresees_ends = foresees_row_ends(op_a_);
    PieceSizes sizes;
    const bool is_parallel = work_of(input.problem.dense_cols) > kSerialWork;
    if (is_parallel && !are_helped_) sizes.shares = team_.threads;
    input.budget.reserve(row_cuts_bytes(op_a_, sizes) + shares_.size_bytes(), "the list of pieces");
    cuts_ = cut_rows(op_a_, sizes);
    const Offset sums = cuts_.stretches * input.problem.dense_cols;
    input.budget.reserve(static_cast<std::uint64_t>(sums) * sizeof(Acc), "the sums of cut rows");
    sums_ = Buffer<Acc>(sums);
    copy_in_bands(input);  // after what no product can do without
    if (!are_helped_) even_shares_ = EvenShares(op_a_, cuts_);
    if (settings_.packs_b) {
      packed_pitch_ = whole_lines(tile_cols_);
      const Offset packed = Offset{op_a_.cols()} * packed_pitch_ * tiles_;
      const std::uint64_t bytes = static_cast<std::uint64_t>(packed) * sizeof(B);
      if (input.variant.empty() && !input.budget.fits(bytes)) {
        settings_.packs_b = false;
        why_ += ", but there is no memory for copies of B";
        return;
      }
      input.budget.reserve(bytes, "the slices of B");
      packed_b_ = Buffer<B>(packed);
      advise_huge_pages(packed_b_.data(), packed_b_.size_bytes());
    }
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    const Index column_blocks = (x.dense_cols - 1) / kReduceColumns + 1;
    const bool adds_up_alone = cuts_.stretches * x.dense_cols <= kSumsForOne;
    const auto hubs = static_cast<Offset>(adds_up_alone ? 0 : cuts_.hubs.size());
    const Offset reductions = hubs * column_blocks;
    const bool is_parallel = work_of(x.dense_cols) > kSerialWork;
    if (are_helped_) shares_.deal(static_cast<Offset>(cuts_.tasks.size()));
#pragma omp parallel num_threads(team_.threads) if (is_parallel)
    {
      const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
      const WorkShares::Run own{even_shares_.first_task(thread, threads),
                                even_shares_.first_task(thread + 1, threads)};
      if (settings_.packs_b) {
        pack_b(x);
#pragma omp barrier
      }
      for (Index round = 0; round < rounds_; ++round) {
        if (!are_helped_) {
          run_all(x, own, round);
          continue;
        }
        for (auto run = shares_.next_run(round, thread); run.first < run.last;
             run = shares_.next_run(round, thread)) {
          run_all(x, run, round);
        }
      }
      if (reductions > 0) {
#pragma omp barrier
#pragma omp for schedule(static)
        for (Offset task = 0; task < reductions; ++task) {
          finish_hub(x, cuts_.hubs[static_cast<std::size_t>(task / column_blocks)],
                     static_cast<Index>(task % column_blocks) * kReduceColumns);
        }
      }
    }
    if (!adds_up_alone) return;
    for (const Hub& hub : cuts_.hubs) {
      for (Index j = 0; j < x.dense_cols; j += kReduceColumns) finish_hub(x, hub, j);
    }
  }

  void take_values(const CsrMatrix& a) override {
    op_a_ = a;
    if (settings_.bands > 1) banded_.take_values(a);
  }

  std::uint64_t stored_bytes() const override {
    return settings_.bands > 1 ? banded_.size_bytes() : 0;
  }

  std::string choice() const override {
    return std::string(name_of(isa_)) + ", " + counted(cuts_.tasks.size(), "piece") + ", " +
           counted(cuts_.hubs.size(), "cut row") + ", " + text_of(settings_) + " (" + why_ + ")";
  }

 private:
  /// Multiply-adds, and as many for a row as for an entry.
  double work_of(Index dense_cols) const {
    return static_cast<double>(op_a_.nnz() + op_a_.rows()) * static_cast<double>(dense_cols);
  }

  /// The next multiple of a cache line, in columns.
  static Offset whole_lines(Index cols) {
    constexpr Offset kLine = kCacheLineBytes / Offset{sizeof(B)};
    return (cols + kLine - 1) / kLine * kLine;
  }

  /// As asked, or chosen; and which rows are alike, if they are joined.
  Settings settings_for(const MethodInput& input) {
    const SpmmProblem& problem = input.problem;
    const bool is_asked = !input.variant.empty();
    const auto choose = [&](bool may_band) {
      return default_settings(op_a_, problem, team_.threads, cache_sizes(), may_band, &why_);
    };
    Settings settings = is_asked ? parse_settings(input.variant) : choose(true);
    const Offset waiting = room_of_waiting() * team_.threads;
    if (!is_asked && settings.bands > 1 &&
        !input.budget.fits(bands_bytes(settings.bands, waiting))) {
      settings = choose(false);
      why_ += ", as there is no memory for a copy of A in bands and its sums";
    }
    const auto bytes = static_cast<std::uint64_t>(op_a_.rows());
    if (is_asked) {
      why_ = "as asked";
      settings.joins_rows = settings.joins_rows && problem.semiring == Semiring::plus_times &&
                            problem.dense_cols > kNarrowCols;
      if (settings.joins_rows) alike_ = find_alike_rows(op_a_, team_.threads);
    } else if (may_pay_joining(op_a_, problem) && input.budget.fits(bytes)) {
      alike_ = find_alike_rows(op_a_, team_.threads);
      if (pays_joining(alike_, op_a_, problem, settings.bands > 1)) {
        if (settings.bands > 1) settings = choose(false);
        settings.joins_rows = true;
        why_ += ", rows with the same columns are made together";
      } else {
        alike_ = {};
      }
    }
    if (settings.joins_rows) input.budget.reserve(bytes, "the rows that are alike");
    return settings;
  }

  /// Sums of a thread that a part of its own cache holds.
  static Offset room_of_waiting() {
    return static_cast<Offset>(cache_sizes().private_bytes / 4 / sizeof(Acc));
  }

  /// Of a copy of A in bands, and of so many sums that wait between two bands.
  std::uint64_t bands_bytes(Index bands, Offset waiting) const {
    return BandedCopy::most_bytes(op_a_, bands) + static_cast<std::uint64_t>(waiting) * sizeof(Acc);
  }

  /// Copies A in bands of columns, if settings say so. Tasks are larger then: while a thread is at
  /// one it reads a band's rows of B again and again.
  void copy_in_bands(const MethodInput& input) {
    const bool may_band = may_have_bands(input.problem) && !settings_.joins_rows;
    settings_.bands = may_band ? std::min(settings_.bands, op_a_.cols()) : 1;
    if (settings_.bands <= 1) return;
    const Offset sums_of_row = most_waiting<Acc>(input.problem.dense_cols, tile_cols_);
    std::vector<Task> blocks =
        merged(cuts_.tasks, std::max<Offset>(room_of_waiting() / sums_of_row, 1));
    Offset most_rows = 0;
    for (const Task& block : blocks) {
      if (block.stretch < 0) most_rows = std::max(most_rows, block.last - block.first);
    }
    waiting_of_thread_ = most_rows * sums_of_row;
    const Offset waiting = waiting_of_thread_ * team_.threads;
    const std::uint64_t bytes = bands_bytes(settings_.bands, waiting);
    if (input.variant.empty() && !input.budget.fits(bytes)) {
      settings_.bands = 1;
      why_ += ", but there is no memory for a copy of A in bands and its sums";
      return;
    }
    input.budget.reserve(bytes, "a copy of A in bands");
    cuts_.tasks = std::move(blocks);
    if constexpr (kHasBands) banded_loop_ = banded_loop<Kinds>(isa_);
    banded_ = BandedCopy(op_a_, cuts_.tasks, settings_.bands, team_.threads);
    waiting_ = Buffer<Acc>(waiting);
    settings_.rows.stages_c = false;
  }

  /// Neighbouring tasks together, a few for each thread, of at most so many rows if they are not
  /// larger already.
  std::vector<Task> merged(const std::vector<Task>& tasks, Offset most_rows) const {
    constexpr int kOfThread = 4;
    const Offset* const offsets = op_a_.row_offsets();
    const Offset most = op_a_.nnz() / (Offset{kOfThread} * team_.threads);
    std::vector<Task> blocks;
    for (const Task& task : tasks) {
      Task* const before = blocks.empty() ? nullptr : &blocks.back();
      const bool joins = before != nullptr && before->stretch < 0 && task.stretch < 0 &&
                         before->last == task.first && task.last - before->first <= most_rows &&
                         offsets[task.last] - offsets[before->first] <= most;
      if (joins) {
        before->last = task.last;
      } else {
        blocks.push_back(task);
      }
    }
    return blocks;
  }

  /// Copies B slice by slice, called by every thread of the team.
  void pack_b(const Operands<Kinds>& x) {
    const Offset rows = op_a_.cols();
#pragma omp for schedule(static) collapse(2) nowait
    for (Index tile = 0; tile < tiles_; ++tile) {
      for (Offset row = 0; row < rows; ++row) {
        const Index col = tile * tile_cols_;
        const Index cols = std::min(tile_cols_, x.dense_cols - col);
        std::memcpy(packed_b_.data() + (tile * rows + row) * packed_pitch_,
                    x.b + row * x.b_leading_dim + col, static_cast<std::size_t>(cols) * sizeof(B));
      }
    }
  }

  /// The operands as a tile's loops see them: column `tile * tile_cols_` of B begins its slice.
  Operands<Kinds> seen_by(const Operands<Kinds>& x, Index tile) const {
    Operands<Kinds> seen = x;
    if (settings_.packs_b) {
      seen.b =
          packed_b_.data() + Offset{tile} * (Offset{op_a_.cols()} * packed_pitch_ - tile_cols_);
      seen.b_leading_dim = packed_pitch_;
    }
    return seen;
  }

  /// Neighbouring tasks, rows as one piece up to the size of a large one: taken one by one, the
  /// pieces of a small matrix cost two threads a tenth of their time.
  void run_all(const Operands<Kinds>& x, const WorkShares::Run& tasks, Index round) {
    const Offset* const offsets = op_a_.row_offsets();
    if (settings_.bands > 1) {
      for (Offset n = tasks.first; n < tasks.last; ++n) {
        run(x, cuts_.tasks[static_cast<std::size_t>(n)], round, n);
      }
      return;
    }
    for (Offset n = tasks.first; n < tasks.last;) {
      Task piece = cuts_.tasks[static_cast<std::size_t>(n)];
      for (++n; n < tasks.last && piece.stretch < 0; ++n) {
        const Task& next = cuts_.tasks[static_cast<std::size_t>(n)];
        if (next.stretch >= 0 || next.first != piece.last) break;
        const Offset work = offsets[next.last] - offsets[piece.first] + next.last - piece.first;
        if (work > PieceSizes().largest) break;
        piece.last = next.last;
      }
      run(x, piece, round);
    }
  }

  /// The tiles of one round, for one task; `block`: its number in the copy of A, if there is one.
  void run(const Operands<Kinds>& x, const Task& task, Index round, Offset block = 0) {
    const auto first = static_cast<Index>(Offset{tiles_} * round / rounds_);
    const auto last = static_cast<Index>(Offset{tiles_} * (round + 1) / rounds_);
    for (Index tile = first; tile < last; ++tile) {
      const Index col = tile * tile_cols_;
      const Index cols = std::min(tile_cols_, x.dense_cols - col);
      const Operands<Kinds> seen = seen_by(x, tile);
      if (task.stretch >= 0) {
        kernels_.stretch(seen, {task.first, task.last, col, cols, settings_.rows},
                         sums_.data() + task.stretch * x.dense_cols);
      } else if (settings_.bands > 1) {
        banded_loop_(in_bands(seen), {banded_.rows(block), col, cols, settings_.rows},
                     waiting_.data() + omp_get_thread_num() * waiting_of_thread_);
      } else {
        kernels_.rows(
            seen, {static_cast<Index>(task.first), static_cast<Index>(task.last), col, cols,
                   settings_.rows, settings_.joins_rows ? alike_.next_is_alike.data() : nullptr});
      }
    }
  }

  /// The operands with the entries of A's copy.
  Operands<Kinds> in_bands(Operands<Kinds> x) const {
    x.a.col_indices = banded_.col_indices();
    if constexpr (!std::is_same_v<typename Kinds::A, ImplicitOne>) {
      x.a.values = static_cast<const typename Kinds::A*>(banded_.values());
    }
    return x;
  }

  void finish_hub(const Operands<Kinds>& x, const Hub& hub, Index j) {
    const Index count = std::min(kReduceColumns, x.dense_cols - j);
    Acc* total = sums_.data() + hub.first_stretch * x.dense_cols + j;
    for (Offset n = 1; n < hub.stretches; ++n) {
      kernels_.combine(total, total + n * x.dense_cols, count);
    }
    auto* c = x.c_row(hub.row) + j;
    for (Index k = 0; k < count; ++k) x.store(c[k], total[k]);
  }

  CsrMatrix op_a_;
  Team team_;
  Isa isa_;
  RowKernels<Kinds> kernels_;
  std::string why_;
  AlikeRows alike_;
  Settings settings_;
  Index tile_cols_;
  Index tiles_;
  Index rounds_;
  bool are_helped_;  // threads, by those that are done
  WorkShares shares_;
  RowCuts cuts_;
  EvenShares even_shares_;  // if not
  Buffer<Acc> sums_;
  Buffer<B> packed_b_;
  Offset packed_pitch_ = 0;
  BandedCopy banded_;
  BandedLoop<Kinds> banded_loop_ = nullptr;
  Buffer<Acc> waiting_;  // for the next band, thread after thread
  Offset waiting_of_thread_ = 0;
};

/// Rows of B that are shorter than two cache lines and end inside one are short loads. Measured on
/// a Zen 5 for sums of products: K = 4 to 12 and 24 in f32, 2 to 7 and 12 in f64 take 0.77 to 0.92
/// of the time.
Isa isa_for(const SpmmProblem& problem) {
  const auto value_bytes = static_cast<Offset>(size_of(problem.b));
  const Offset row_bytes = problem.dense_cols * value_bytes;
  const bool is_measured = value_bytes >= 4 && problem.semiring == Semiring::plus_times;
  return is_measured && row_bytes < 2 * kCacheLineBytes && row_bytes % kCacheLineBytes != 0
             ? chosen_isa_for_short_loads()
             : chosen_isa();
}

}  // namespace

std::unique_ptr<SpmmMethod> make_nnz_balanced(const MethodInput& input) {
  return with_row_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<NnzBalanced<decltype(kinds)>>(input, isa_for(input.problem));
  });
}

}  // namespace csrkit::cpu
