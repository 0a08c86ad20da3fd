#include "cpu/spgemm/plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "core/base/team.h"
#include "cpu/common/caches.h"
#include "cpu/common/memory_budget.h"
#include "cpu/spgemm/one_pass/at_once.h"
#include "cpu/spgemm/one_pass/output_estimate.h"
#include "cpu/spgemm/output_block.h"

namespace csrkit::cpu {

namespace {

/// Bytes beside C that one pass may always take; more must be small compared with A, B and C.
constexpr std::uint64_t kOnePassBytes = 48u << 20;

constexpr std::uint64_t kHugePage = 2u << 20;

/// If C has at most so many entries, room for all of them is taken if the limit allows it: sampling
/// rows to learn how much is enough would take a good part of a small product's time.
constexpr Offset kRoomForAll = 1 << 22;

/// C is made in one of three ways, tried in this order: at once (small products: rows are made
/// without an analysis, and put in place when all are there), in one pass (into room for as many
/// entries as a sample of rows lets expect), in two (entries are counted, then made).
class CpuSpgemmPlan : public SpgemmPlan {
 public:
  CpuSpgemmPlan(const SpgemmProblem& problem, const PlanOptions& options,
                SpgemmMethodFactory make_method)
      : problem_(problem),
        threads_(team_size(options.where.threads)),
        operand_bytes_(operand_bytes(problem)),
        budget_(options.memory_limit_bytes, operand_bytes_, "raise --memory-limit") {
    const Stopwatch clock;
    if (!budget_.fits(0)) {
      refuse(operand_bytes_, "the operands of the product", "raise --memory-limit");
    }
    op_b_ =
        problem_.transpose_b ? transpose_within(budget_, problem_.b, "B", threads_) : problem_.b;
    derived_bytes_ = budget_.held_bytes() - operand_bytes_;
    method_ = make_method(SpgemmInput{problem_, op_b_, threads_});
    balance();
    phases_.analysis_seconds = clock.seconds();
  }

  void multiply(CsrSink& sink) override {
    memory_.give_back();
    if (OutputBlock block; make_at_once(&block) || make_once(&block)) {
      forget_one_pass();
      hand_over(std::move(block), sink);
      return;
    }
    count();
    const Stopwatch clock;
    double output_seconds = 0;
    make_blocks(sink.keeps_blocks(), [&](const CsrMatrix& block) {
      const Stopwatch output_clock;
      sink.append_rows(block);
      output_seconds += output_clock.seconds();
    });
    phases_.output_seconds = output_seconds;
    phases_.numeric_seconds = clock.seconds() - output_seconds;
  }

  void set_values(const CsrMatrix& a, const CsrMatrix& b) override {
    memory_.give_back();
    const bool b_is_a = problem_.b_is_a();
    require_same_structure(problem_, a, b);
    problem_.a = a;
    problem_.b = b_is_a ? a : b;
    if (problem_.transpose_b)
      budget_.note_peak(working_bytes() + derived_bytes_);  // old and new B^T
    op_b_ = problem_.transpose_b ? transpose(problem_.b, threads_) : problem_.b;
    method_->set_values(problem_.a, op_b_);
    if (problem_.drop_below > 0) is_counted_ = false;  // what is left depends on the values
  }

  double time_multiply() override {
    const Stopwatch clock;
    is_counted_ = false;
    OutputBlock once;
    if (!make_at_once(&once)) balance();
    if (OutputBlock block = std::move(once); is_counted_ || make_once(&block)) {
      const double seconds = clock.seconds();
      row_sums_ = std::move(block.row_offsets);
      memory_.keep(std::move(block));
      return seconds;
    }
    count();
    if (rows_that_fit(0) < problem_.output_rows()) {
      make_blocks(false, [](const CsrMatrix&) {});
      return clock.seconds();
    }
    // C goes to the memory of the product before: so repetitions need no new pages, as with the
    // memory pools of other libraries.
    OutputBlock block = allocate(0, problem_.output_rows());
    fill(block);
    const double seconds = clock.seconds();
    phases_.row_blocks = 1;
    memory_.keep(std::move(block));
    return seconds;
  }

  double time_numeric() override {
    if (!is_counted_) count();
    forget_one_pass();
    const Offset budget_rows = rows_that_fit(0);
    if (budget_rows < problem_.output_rows()) {
      const Stopwatch clock;  // C is never there as a whole: its allocation belongs to the time
      make_blocks(false, [](const CsrMatrix&) {});
      return clock.seconds();
    }
    memory_.give_back();
    OutputBlock block = allocate(0, problem_.output_rows());
    fill(block);  // touches C's pages
    const Stopwatch clock;
    fill(block);
    return clock.seconds();
  }

  void evict_caches() override { evictor_.evict(threads_); }

  SpgemmForecast forecast() const override {
    SpgemmForecast forecast;
    forecast.products = static_cast<double>(products_);
    forecast.output_nnz_bound = is_counted_ ? phases_.output_nnz : nnz_bound_;
    forecast.output_bytes_bound =
        csr_bytes(problem_.output_rows(), forecast.output_nnz_bound, problem_.c);
    // Once the structure is known, C is made in its place.
    forecast.whole_bytes = working_bytes() + forecast.output_bytes_bound +
                           (is_counted_ ? 0 : std::max(one_pass_bytes_, at_once_bytes()));
    forecast.peak_bytes =
        std::max(std::min(forecast.whole_bytes, budget_.limit_bytes()), budget_.peak_bytes());
    return forecast;
  }

  SpgemmPhases phases() const override {
    SpgemmPhases phases = phases_;
    phases.peak_bytes = budget_.peak_bytes();
    return phases;
  }
  std::string choice() const override {
    return method_->choice() + (passes_.empty() ? "" : "; ") + passes_;
  }
  std::string chosen_kernel() const override { return method_->chosen_kernel(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, const std::string& what, const char* advice) const {
    throw MemoryError("no room for " + what + " (" + counted(bytes, "byte") + "): the limit is " +
                      counted(budget_.limit_bytes(), "byte") + "; " + advice);
  }

  /// Bytes held while rows of C are made, C itself excluded.
  std::uint64_t working_bytes() const {
    return operand_bytes_ + derived_bytes_ +
           static_cast<std::uint64_t>(problem_.output_rows()) * sizeof(Index) +
           method_->scratch_bytes();
  }

  void balance() {
    const Index rows = problem_.output_rows();
    const std::uint64_t product_bytes = (static_cast<std::uint64_t>(rows) + 1) * sizeof(Offset);
    budget_.reserve(product_bytes, "the operands and the products of every row");
    if (row_sums_.size() != Offset{rows} + 1) row_sums_ = Buffer<Offset>(Offset{rows} + 1);
    RowWork work = find_row_work(problem_, op_b_, threads_, row_sums_.data());
    products_ = work.products;
    nnz_bound_ = work.nnz_bound;
    method_->balance(std::move(work));
    plan_one_pass(row_sums_.data());
    if (room_entries_ < 0) row_sums_ = Buffer<Offset>();
    budget_.release(product_bytes);
    is_counted_ = false;
    if (working_bytes() > budget_.limit_bytes()) {
      refuse(working_bytes(), "the product's operands and workspace",
             "raise --memory-limit or use fewer --threads");
    }
  }

  /// Decides whether C is made in one pass, and with how much room: what that takes beside A, B and
  /// C must fit the limit, and be small beside them or small at all.
  void plan_one_pass(const Offset* cost_sums) {
    room_entries_ = -1;
    one_pass_bytes_ = 0;
    OnePassRows* const rows = method_->one_pass();
    if (rows == nullptr) return;
    const auto c_bytes = [&](Offset entries) {
      return csr_bytes(problem_.output_rows(), entries, problem_.c);
    };
    const std::uint64_t waiting =
        one_pass_bytes(rows->pieces(), threads_, static_cast<int>(size_of(problem_.c)));
    const bool has_room_for_all =
        nnz_bound_ <= kRoomForAll &&
        working_bytes() + waiting + c_bytes(nnz_bound_) <= budget_.limit_bytes();
    const OutputEstimate estimate = has_room_for_all ? OutputEstimate{nnz_bound_, nnz_bound_}
                                                     : estimate_output(*rows, cost_sums, threads_);
    const Offset room = std::min(estimate.at_most, nnz_bound_);
    const std::uint64_t expected = c_bytes(std::min(estimate.nnz, room));
    // The rest of the huge page that holds the last entries is used, too, in each of two arrays.
    const std::uint64_t beside = waiting + std::min(2 * kHugePage, c_bytes(room) - expected);
    passes_ = "two passes";
    if (beside + c_bytes(room) - expected > most_beside(expected)) {
      passes_ += ": one would take too much memory beside C";
      return;
    }
    if (working_bytes() + beside + c_bytes(room) > budget_.limit_bytes()) {
      passes_ += ": one does not fit the memory limit";
      return;
    }
    passes_ = "one pass, room for " + counted(room, "entry");
    room_entries_ = room;
    one_pass_bytes_ = beside;
  }

  /// All of C in one pass, if that was decided and C's structure is not known yet; false if C has
  /// to be made in two. The block may have more room than entries.
  bool make_once(OutputBlock* block) {
    if (room_entries_ < 0 || is_counted_) return false;
    const Stopwatch clock;
    const Index rows = problem_.output_rows();
    if (row_nnz_.size() != rows) row_nnz_ = Buffer<Index>(rows);
    budget_.note_peak(working_bytes() + one_pass_bytes_ +
                      csr_bytes(rows, room_entries_, problem_.c));
    *block = memory_.take(0, rows, room_entries_, problem_.c);
    block->row_offsets = take_row_offsets();
    OutputRoom room = room_in(*block);
    room.is_streamed = !fits_caches(room_entries_);
    const std::optional<Offset> nnz =
        make_in_one_pass(*method_->one_pass(), threads_, room, waiting_);
    if (!nnz) {
      passes_ = "two passes: C had more entries than a sample of its rows let expect";
      room_entries_ = -1;
      one_pass_bytes_ = 0;
      *block = OutputBlock();
      return false;
    }
    note_made_once(*nnz, clock.seconds());
    return true;
  }

  /// The bytes that one pass may take beside a C of `c_bytes`.
  std::uint64_t most_beside(std::uint64_t c_bytes) const {
    return std::max(kOnePassBytes, (operand_bytes_ + c_bytes) / 3);
  }

  /// The bytes that make_at_once would take beside C; 0 if C is not small, if its structure is
  /// known, or if an analysis makes its rows faster.
  std::uint64_t at_once_bytes() const {
    const OnePassRows* const rows = method_->one_pass();
    if (is_counted_ || rows == nullptr ||
        !AtOnce::is_for(problem_.output_rows(), problem_.a.nnz(), products_, threads_) ||
        !rows->can_be_made_at_once()) {
      return 0;
    }
    const std::uint64_t bytes =
        AtOnce::bytes(products_, threads_, static_cast<int>(size_of(problem_.c)));
    const std::uint64_t c_bytes = csr_bytes(problem_.output_rows(), nnz_bound_, problem_.c);
    const bool fits =
        bytes <= most_beside(c_bytes) && working_bytes() + bytes + c_bytes <= budget_.limit_bytes();
    return fits ? bytes : 0;
  }

  /// Makes all of C without an analysis of its rows; false if that is no way to make it.
  bool make_at_once(OutputBlock* block) {
    const std::uint64_t bytes = at_once_bytes();
    if (bytes == 0) return false;
    const Stopwatch clock;
    const Index count = problem_.output_rows();
    budget_.note_peak(working_bytes() + bytes + csr_bytes(count, nnz_bound_, problem_.c));
    if (row_nnz_.size() != count) row_nnz_ = Buffer<Index>(count);
    *block = memory_.take_kept();
    // Room is made for entries only, and a C without any has rows and a kind, too.
    if (block->col_indices.size() == 0) *block = memory_.take(0, count, 0, problem_.c);
    block->row_offsets = take_row_offsets();
    const Offset nnz = at_once_.make(*method_->one_pass(), count, problem_.a.row_offsets(),
                                     threads_, room_in(*block), [&](Offset entries) {
                                       Buffer<Offset> row_offsets = std::move(block->row_offsets);
                                       *block = memory_.take(0, count, entries, problem_.c);
                                       block->row_offsets = std::move(row_offsets);
                                       return room_in(*block);
                                     });
    passes_ = "one pass, all at once";
    note_made_once(nnz, clock.seconds());
    return true;
  }

  /// All of C in block's memory, and the memory for what is known of its rows.
  OutputRoom room_in(OutputBlock& block) {
    OutputRoom room;
    room.entries = block.col_indices.size();
    room.col_indices = block.col_indices.data();
    room.values = block.values.data();
    room.value_bytes = static_cast<int>(size_of(problem_.c));
    room.row_nnz = row_nnz_.data();
    room.row_offsets = block.row_offsets.data();
    return room;
  }

  /// The memory of row_sums_, if it is there.
  Buffer<Offset> take_row_offsets() {
    Buffer<Offset> offsets = std::exchange(row_sums_, Buffer<Offset>());
    return offsets.size() > 0 ? std::move(offsets)
                              : Buffer<Offset>(Offset{problem_.output_rows()} + 1);
  }

  void note_made_once(Offset nnz, double seconds) {
    phases_.output_nnz = nnz;
    phases_.row_blocks = 1;
    is_counted_ = true;
    phases_.symbolic_seconds = 0;
    phases_.numeric_seconds = seconds;
  }

  /// Whether C would still be in the caches next to the cores when it is made.
  bool fits_caches(Offset entries) const {
    const std::uint64_t caches = cache_sizes().private_bytes * static_cast<std::uint64_t>(threads_);
    return csr_bytes(0, entries, problem_.c) <= 2 * caches;
  }

  void hand_over(OutputBlock block, CsrSink& sink) {
    const Stopwatch clock;
    sink.append_rows(block.release(problem_.output_cols(), phases_.output_nnz));
    phases_.output_seconds = clock.seconds();
  }

  /// Frees what one pass keeps for the next product: the forecast of two passes does not count it.
  void forget_one_pass() {
    row_sums_ = Buffer<Offset>();
    waiting_ = WaitingRoom();
    at_once_ = AtOnce();
  }

  void count() {
    phases_.symbolic_seconds = 0;
    forget_one_pass();
    if (is_counted_) return;
    const Stopwatch clock;
    const Index rows = problem_.output_rows();
    if (row_nnz_.size() != rows) row_nnz_ = Buffer<Index>(rows);
    budget_.note_peak(working_bytes());
    method_->count(row_nnz_.data());
    Offset nnz = 0;
    const int team = team_for(rows, threads_);
#pragma omp parallel for schedule(static) reduction(+ : nnz) num_threads(team)
    for (Index row = 0; row < rows; ++row) nnz += row_nnz_[row];
    phases_.output_nnz = nnz;
    is_counted_ = true;
    phases_.symbolic_seconds = clock.seconds();
  }

  /// How many rows from `first` on fit, as a block of C, beside what is held.
  Index rows_that_fit(Index first) const {
    const std::uint64_t limit = budget_.limit_bytes();
    const std::uint64_t budget = limit - std::min(limit, working_bytes());
    const Index rows = problem_.output_rows();
    if (csr_bytes(rows - first, phases_.output_nnz, problem_.c) <= budget) return rows - first;
    Offset nnz = 0;
    Index count = 0;
    for (Index row = first; row < rows; ++row, ++count) {
      nnz += row_nnz_[row];
      if (csr_bytes(count + 1, nnz, problem_.c) > budget) break;
    }
    return count;
  }

  void make_blocks(bool keeps_blocks, const std::function<void(const CsrMatrix&)>& hand_over) {
    const Index rows = problem_.output_rows();
    const std::uint64_t whole = csr_bytes(rows, phases_.output_nnz, problem_.c);
    if (keeps_blocks && working_bytes() + whole > budget_.limit_bytes()) {
      refuse(working_bytes() + whole, "the product with all of C in memory",
             "raise --memory-limit, or write C to a file, which takes it in blocks of rows");
    }
    phases_.row_blocks = 0;
    Index row = 0;
    do {
      const Index count = rows_that_fit(row);
      if (count == 0 && rows > 0) {
        refuse(working_bytes() + csr_bytes(1, row_nnz_[row], problem_.c),
               "row " + std::to_string(row) + " of C beside the operands", "raise --memory-limit");
      }
      OutputBlock block = allocate(row, row + count);
      fill(block);
      row += count;
      ++phases_.row_blocks;
      hand_over(block.release(problem_.output_cols(), block.col_indices.size()));
    } while (row < rows);
  }

  /// Memory for rows whose entries were counted.
  OutputBlock allocate(Index first, Index last) {
    Offset nnz = phases_.output_nnz;
    if (last - first < problem_.output_rows()) {
      nnz = 0;
      for (Index row = first; row < last; ++row) nnz += row_nnz_[row];
    }
    budget_.note_peak(working_bytes() + csr_bytes(last - first, nnz, problem_.c));
    OutputBlock block = memory_.take(first, last, nnz, problem_.c);
    block.set_offsets(row_nnz_.data(), threads_);
    return block;
  }

  void fill(OutputBlock& block) {
    method_->fill({block.first_row, block.last_row, block.row_offsets.data(),
                   block.col_indices.data(), block.values.data()});
  }

  SpgemmProblem problem_;
  int threads_;
  std::uint64_t operand_bytes_;
  MemoryBudget budget_;
  std::uint64_t derived_bytes_ = 0;  // op(B), if it is not B
  CsrMatrix op_b_;
  std::unique_ptr<SpgemmMethod> method_;
  Offset products_ = 0;
  Offset nnz_bound_ = 0;
  bool is_counted_ = false;
  Offset room_entries_ = -1;          // of C made in one pass; -1: C is made in two
  std::uint64_t one_pass_bytes_ = 0;  // beside C, then
  std::string passes_;                // how many, for reports
  Buffer<Index> row_nnz_;
  Buffer<Offset> row_sums_;  // of the rows' costs, then C's row offsets, made in one pass
  OutputMemory memory_;      // of time_multiply: all of C or nothing
  AtOnce at_once_;           // of time_multiply
  WaitingRoom waiting_;      // of time_multiply, too: kept from product to product
  SpgemmPhases phases_;
  CacheEvictor evictor_;
};

}  // namespace

std::unique_ptr<SpgemmPlan> make_cpu_spgemm_plan(const SpgemmProblem& problem,
                                                 const PlanOptions& options,
                                                 SpgemmMethodFactory make_method) {
  return std::make_unique<CpuSpgemmPlan>(problem, options, make_method);
}

}  // namespace csrkit::cpu
