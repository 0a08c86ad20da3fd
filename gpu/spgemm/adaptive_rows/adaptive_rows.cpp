// adaptive_rows: rows of C sorted into bins by size and shape, with a kernel for each kind of row.
// Owns     the order of work: profile of all rows -> bins -> counting -> offsets and bins again,
//          now by the entries of C -> columns and values. The host waits twice, for the sizes of
//          the bins; if A is small, the device works on short rows meanwhile
// Reads    A three times, the row ends of B once, B's columns two or three times, its values once
// Launch   one kernel per bin that has rows, long rows first, one for all rows that a warp sorts,
//          and two for many rows of at most 16 products; see rules/rules.h. Some sorted rows are
//          made while they are counted (numeric/staged_rows.h), and copied at the end. Where nearly
//          all rows have at most 16 products, one kernel counts and makes these
//          (numeric/rows_in_order.h)
// Needs    operands on the device; a workspace of about 60 bytes per row, the bits that counting
//          keeps, at most half a byte per product, and a buffer for rows made early, at most 1 GiB;
//          for rows in order a C with room for every product
// Against  one kernel for all rows: rows of 3 and of 30,000 entries need different memory. The
//          order of sums depends only on A and B, so every run gives the same bits. Sources: the
//          literature on hashing (Nagasaka 2017), dense accumulators and bins (spECK, Parger 2020)
//          and multiple bin kernels (OpSparse, Du 2022)

#include "gpu/spgemm/adaptive_rows/adaptive_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/binning/choose_make_bins.h"
#include "gpu/spgemm/adaptive_rows/binning/told.h"
#include "gpu/spgemm/adaptive_rows/forecast.h"
#include "gpu/spgemm/adaptive_rows/listed_values.h"
#include "gpu/spgemm/adaptive_rows/numeric/rows_in_order.h"
#include "gpu/spgemm/adaptive_rows/numeric_phase.h"
#include "gpu/spgemm/adaptive_rows/one_pass.h"
#include "gpu/spgemm/adaptive_rows/symbolic_memory.h"
#include "gpu/spgemm/adaptive_rows/symbolic_phase.h"

namespace csrkit::gpu {

namespace {

template <class Value>
class AdaptiveRows final : public DeviceSpgemm {
 public:
  AdaptiveRows(Semiring semiring, const BinRules& changes)
      : semiring_(semiring), changes_(changes) {}

  std::uint64_t forecast_bytes(const SpgemmSizes& sizes) const override {
    return RowsForecast(changes_, kValueKindOf<Value>).product_bytes(sizes);
  }

  void multiply(const SpgemmOperands& op, DeviceMemory& memory, DeviceProduct& c,
                PhaseMarks* marks) override {
    const auto begin = [&](SpgemmPhase phase) {
      if (marks != nullptr) marks->begin(phase);
    };
    if (one_pass_.may_be_enough(op, changes_)) {
      begin(SpgemmPhase::numeric);
      if (one_pass_.make<Value>(op, semiring_, memory, c)) {
        choice_ = "small: " + counted(c.rows, "row") + " sorted in one pass";
        return;
      }
    }
    begin(SpgemmPhase::analysis);
    RowsWork<Value> work;
    work.may_stage = !comes_in_ranges_;
    work.may_be_in_order = may_be_in_order(op);
    profile(op, memory, work);
    if (work.may_be_in_order && make_in_order(op, memory, work, c, begin)) return;
    begin(SpgemmPhase::symbolic);
    count_all(op, memory, work);
    const NewOffsets offsets = allocate_offsets(work, memory, c);
    choose(work, offsets, memory.stream());
    begin(SpgemmPhase::numeric);
    const PhaseInputs in = inputs(op, memory.stream());
    const bool has_room = makes_short_rows_early(in, work);
    if (has_room) {
      c.allocate_entries(memory, work.products);
      make_short_rows_early(in, c, work);
    }
    c.nnz = wait_for_choice(work);
    if (!has_room) c.allocate_entries(memory, c.nnz);
    make_all_rows(in, Structure::wanted, work, c);
    // the next range may need less room for bits and more for C
    if (rows_in_bit_ranges_) bits_ = {};
  }

  void look_at_ranges(const std::vector<SpgemmOperands>& ranges, DeviceMemory& memory) override {
    comes_in_ranges_ = true;
    Index rows = 0;
    Offset a_nnz = 0;
    for (const SpgemmOperands& range : ranges) {
      rows += range.a.rows;
      a_nnz += range.a.nnz;
    }
    set_rules(rows, a_nnz, ranges.front().b.cols);
    bool is_settled = false;
    while (!is_settled) is_settled = !choose_long_rows(profile_ranges(ranges, memory));
  }

  bool can_reuse() const override { return true; }

  std::uint64_t values_bytes(const SpgemmSizes& sizes) const override {
    return RowsForecast(changes_, kValueKindOf<Value>).values_bytes(sizes);
  }

  void let_values_spend(bool may_spend) override { may_spend_ = may_spend; }

  void prepare_values(const SpgemmOperands& op, DeviceMemory& memory, DeviceProduct& c) override {
    forget_values();
    bits_ = {};
    if (are_twins_most_) {
      listed_.leave_out("most rows are twins");
    } else if (may_spend_) {
      if (listed_.make(op, c, changes_, memory)) return;
    } else if (changes_.most_listed > 0) {
      listed_.leave_out("memory for a list was not asked for or is short");
    }
    profile(op, memory, kept_);
    count_all(op, memory, kept_);
    choose(kept_, {}, memory.stream());
    wait_for_choice(kept_);
    bits_ = {};  // C's columns hold the same
  }

  void forget_values() override {
    kept_ = {};
    listed_ = {};
  }

  void multiply_values(const SpgemmOperands& op, DeviceMemory& memory, DeviceProduct& c) override {
    if (listed_.is_made()) {
      listed_.list().sum<Value>(op, semiring_, c, memory.stream());
    } else {
      if (kept_.hubs.products > 0) {
        renew_hub_rows(op.a.as<Value>(), op.b.as<Value>(), semiring_, kept_.hubs, memory.stream());
      }
      make_all_rows(inputs(op, memory.stream()), Structure::known, kept_, c);
    }
  }

  std::string choice() const override { return choice_ + listed_.choice(); }

 private:
  PhaseInputs inputs(const SpgemmOperands& op, cudaStream_t stream) const {
    return {op, semiring_, rules_, *side_streams_, stream};
  }

  /// Profiles all ranges by the rules so far. Returns the totals that decide on long rows.
  HostTotals profile_ranges(const std::vector<SpgemmOperands>& ranges, DeviceMemory& memory) {
    HostTotals all = {};
    BitRangeRows in_bit_ranges;
    for (const SpgemmOperands& range : ranges) {
      if (range.a.rows == 0) continue;
      RowsWork<Value> work;
      profile(range, memory, work);
      const HostTotals totals = host_->wait();
      work.learn(totals);
      const BitRangeRows of_range = work.rows_in_bit_ranges();
      in_bit_ranges.rows += of_range.rows;
      in_bit_ranges.products += of_range.products;
      in_bit_ranges.longest = std::max(in_bit_ranges.longest, of_range.longest);
      all.hub_entries += totals.hub_entries;
      all.hub_products += totals.hub_products;
      all.long_row_totals += totals.long_row_totals;
      all.longest_alone = std::max(all.longest_alone, totals.longest_alone);
      all.products += totals.products;
    }
    rows_in_bit_ranges_ = in_bit_ranges;
    return all;
  }

  bool may_be_in_order(const SpgemmOperands& op) const {
    return !comes_in_ranges_ && op.b.row_offsets.narrow != nullptr &&
           changes_.may_be_in_order(op.a.rows, op.b.cols, op.a.nnz, op.b.rows, op.b.nnz);
  }

  /// Waits for the profile. Returns false, with C unchanged, if too many rows are long; what
  /// list_bins decides on the device must agree.
  template <class Begin>
  bool make_in_order(const SpgemmOperands& op, DeviceMemory& memory, RowsWork<Value>& work,
                     DeviceProduct& c, const Begin& begin) {
    const HostTotals totals = host_->wait();
    Offset longer = 0;
    if (!BinRules::makes_in_order(totals.rows, totals.long_row_totals, op.a.rows, totals.products,
                                  longer)) {
      return false;
    }
    const PhaseInputs in = inputs(op, memory.stream());
    work.learn(totals);
    work.lists.leave_out_rows_in_order();
    if (longer > 0) {
      begin(SpgemmPhase::symbolic);
      count_all_rows(in, false, work);
    }
    begin(SpgemmPhase::numeric);
    const NewOffsets offsets = allocate_offsets(work, memory, c);
    c.allocate_entries(memory, work.products);
    make_rows_in_order(rows_to_make(in, work, c), offsets.narrow, work.space.states,
                       work.space.make_totals, host_->next(in.stream), in.stream);
    make_all_rows(in, Structure::wanted, work, c);
    c.nnz = static_cast<Offset>(host_->wait().nnz);
    choice_ = describe(work.lists, c.rows, false) + ", " + std::to_string(Offset{c.rows} - longer) +
              " in order";
    return true;
  }

  void set_rules(Index rows_of_a, Offset a_nnz, Index cols) {
    host_ = std::make_unique<Told<HostTotals>>();
    side_streams_ = std::make_unique<SideStreams>();
    rules_ = rules_for(changes_, sizeof(Value), rows_of_a, a_nnz, cols);
  }

  void profile(const SpgemmOperands& op, DeviceMemory& memory, RowsWork<Value>& work) {
    if (!host_) set_rules(op.a.rows, op.a.nnz, op.b.cols);
    const cudaStream_t stream = memory.stream();
    work.a = op.a;
    if (!has_short_twins_ && changes_.may_have_short_twins(op.a.rows, op.a.nnz)) {
      has_short_twins_ = has_twins_side_by_side(op.a, memory);
    }
    rules_.prefers_twins = changes_.may_have_twins(op.a.rows, op.a.nnz) || has_short_twins_ == true;
    rules_.most_of_a_lane = has_short_twins_ == true ? 8 : changes_.most_of_a_lane;
    work.space = Workspace(memory, op.a.rows, op.a.nnz, rules_.fewest_spread, rules_.prefers_twins);
    Workspace& space = work.space;
    if (op.a.rows == 0) return;
    if (work.may_stage && !inputs(op, stream).is_early() && may_repeat(op)) {
      sample_repeats(op.a, op.b, space.count_totals, stream);
    }
    profile_rows(op.a, op.b, rules_, space.profile, space.long_rows, space.count_totals, stream);
    list_bins(op.a.rows, space.profile, space.count_totals, static_cast<int>(CountBin::sort_16),
              space.count_totals, space.count_list, host_->next(stream), work.may_be_in_order,
              stream);
    side_streams_->mark(stream);
  }

  /// Whether rows of kFewestToStage products can be many, from average rows.
  static bool may_repeat(const SpgemmOperands& op) {
    constexpr double kHalf = 0.5 * kFewestToStage;
    return static_cast<double>(op.a.nnz) * static_cast<double>(op.b.nnz) >=
           kHalf * static_cast<double>(op.a.rows) * static_cast<double>(op.b.rows);
  }

  void count_all(const SpgemmOperands& op, DeviceMemory& memory, RowsWork<Value>& work) {
    if (op.a.rows == 0) return;
    const PhaseInputs in = inputs(op, memory.stream());
    const bool begins_early = in.is_early();
    if (begins_early) count_short_rows_early(in, work);
    const HostTotals totals = host_->wait();
    work.learn(totals);
    // Once is enough: the plan's matrices keep their structure. Ranges of rows were looked at
    // before, all together.
    if (!comes_in_ranges_ && choose_long_rows(totals)) {
      const bool may_stage = work.may_stage;
      work = {};
      work.may_stage = may_stage;
      profile(op, memory, work);
      return count_all(op, memory, work);
    }
    if (totals.long_rows == 0 && !comes_in_ranges_) rules_.fewest_spread = kBeyondEveryRow;
    make_room_for_counting(in, totals, memory, bits_, work);
    count_all_rows(in, begins_early, work);
  }

  /// Chooses hubs and cuts anew from the totals. Returns whether they differ from what the profile
  /// assumed.
  bool choose_long_rows(const HostTotals& totals) {
    const Offset before = rules_.hub_sources;
    const unsigned long long alone_before = rules_.most_alone;
    if (changes_.most_alone == 0) {
      rules_.most_alone = choose_cut(totals.longest_alone, static_cast<Offset>(totals.products));
    }
    if (changes_.hub_sources == 0) {
      rules_.hub_sources =
          choose_hub_sources(totals.long_row_totals, static_cast<Offset>(totals.products),
                             sizeof(Value), changes_.most_of_hubs);
    } else if (static_cast<Offset>(std::max(totals.hub_products, totals.hub_entries)) >
               changes_.most_of_hubs) {
      rules_.hub_sources = kNoHubs;
    }
    return rules_.hub_sources != before || rules_.most_alone != alone_before;
  }

  /// Whether short rows are made before the host knows how many there are. Then C needs room for
  /// every product.
  static bool makes_short_rows_early(const PhaseInputs& in, const RowsWork<Value>& work) {
    return in.is_early() && work.products > 0 && work.products <= most_made_early(sizeof(Value));
  }

  NewOffsets allocate_offsets(const RowsWork<Value>& work, DeviceMemory& memory, DeviceProduct& c) {
    const Offset count = Offset{c.rows} + 1;
    if (DeviceProduct::fits_narrow(work.products)) {
      c.narrow_offsets = DeviceBuffer<std::uint32_t>(memory, count, "the rows of C");
    } else {
      c.wide_offsets = DeviceBuffer<Offset>(memory, count, "the rows of C");
    }
    if (c.rows == 0) CHECK_CUDA(cudaMemsetAsync(c.narrow_offsets.data(), 0, 4, memory.stream()));
    return {c.narrow_offsets.data(), c.wide_offsets.data()};
  }

  /// Queues the lists of rows to make and, if `offsets` has an array, the offsets of C.
  void choose(const RowsWork<Value>& work, const NewOffsets& offsets, cudaStream_t stream) {
    const Index rows = work.a.rows;
    if (rows == 0) return;
    const Workspace& space = work.space;
    // A team adds up its warps' sums in another order than one warp does. So all ranges of A must
    // have teams, or none.
    const BitRangeRows in_bit_ranges =
        rows_in_bit_ranges_ ? *rows_in_bit_ranges_ : work.rows_in_bit_ranges();
    choose_make_bins(work.a, rules_.for_making(in_bit_ranges), space.profile, offsets, space.states,
                     space.make_totals, stream);
    list_bins(rows, space.profile, space.count_totals, static_cast<int>(MakeBin::sort_16),
              space.make_totals, space.make_list, host_->next(stream), false, stream);
  }

  /// Waits. Returns the number of entries of C, if its offsets were queued.
  Offset wait_for_choice(RowsWork<Value>& work) {
    if (work.a.rows == 0) return 0;
    const HostTotals totals = host_->wait();
    work.learn_choice(totals);
    are_twins_most_ = changes_.makes_twins_again(work.a.rows, work.lists.made(MakeBin::twin).count,
                                                 work.products, work.longest);
    choice_ = describe(work.lists, work.a.rows, work.stages());
    return static_cast<Offset>(totals.nnz);
  }

  Semiring semiring_;
  BinRules changes_;  // the caller's
  OnePass one_pass_;
  BinRules rules_;
  std::optional<BitRangeRows> rows_in_bit_ranges_;  // of all of A, if it comes in ranges
  std::unique_ptr<Told<HostTotals>> host_;
  std::optional<bool> has_short_twins_;  // unset: no need to know
  bool comes_in_ranges_ = false;         // A
  std::unique_ptr<SideStreams> side_streams_;
  DeviceBuffer<std::uint32_t> bits_;  // kept by counting for making
  RowsWork<Value> kept_;              // for new values, if they come row by row
  ListedValues listed_;
  bool may_spend_ = false;
  bool are_twins_most_ = false;  // then making them again is faster than a list
  std::string choice_;
};

}  // namespace

std::unique_ptr<DeviceSpgemm> make_adaptive_rows(const SpgemmProblem& problem,
                                                 const BinRules& rules) {
  if (problem.c == ValueKind::f64)
    return std::make_unique<AdaptiveRows<double>>(problem.semiring, rules);
  return std::make_unique<AdaptiveRows<float>>(problem.semiring, rules);
}

std::unique_ptr<DeviceSpgemm> make_device_adaptive_rows(const SpgemmProblem& problem) {
  return make_adaptive_rows(problem, {});
}

}  // namespace csrkit::gpu
