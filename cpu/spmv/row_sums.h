// What the production formats have alike. A format makes the sums of some rows; this class cuts
// rows into tasks, hands them to threads, brings x into the form that the inner loops read, and
// makes y of the sums.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/base/counted.h"
#include "cpu/common/operator_plan.h"
#include "cpu/common/team_tasks.h"
#include "cpu/spmv/inner_loops.h"

namespace csrkit::cpu::spmv {

/// One product is a fraction of a nanosecond: pieces are larger than those of SpMM, about a
/// microsecond each, and every thread has as many.
inline PieceSizes piece_sizes(Index rows_at_once, bool halves_units, int threads) {
  PieceSizes sizes;
  sizes.smallest = 4096;
  sizes.usual = 4096;
  sizes.largest = 16384;
  sizes.rows_at_once = rows_at_once;
  sizes.halves_units = halves_units;
  sizes.shares = threads;
  return sizes;
}

template <class Kinds>
class RowSums : public SpmmMethod {
 public:
  using A = typename Kinds::A;
  using B = typename Kinds::B;
  using Acc = typename Kinds::Acc;

  ~RowSums() override { budget_.release(reserved_bytes_); }
  RowSums(const RowSums&) = delete;
  RowSums& operator=(const RowSums&) = delete;

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> p(op_a_, call, team_);
    const bool packs = !std::is_same_v<B, Acc> || p.b_leading_dim != 1;
    if (packs) make_room_for_x();
    const Acc* const x = packs ? x_.data() : direct_x(p);
    const Offset work = op_a_.nnz() + op_a_.rows();
    const int threads = work > kSerialWork ? team_.threads : 1;
    if (packs) {
      in_team(threads, [&](int thread, int count) {
        const Index end = begin_of_share(op_a_.cols(), thread + 1, count);
        for (Index j = begin_of_share(op_a_.cols(), thread, count); j < end; ++j) {
          x_[j] = load_as<Acc>(*p.b_row(j));
        }
      });
    }
    tasks_.run(threads, [this, p, x](Offset number) { run(p, x, number); });
  }

 protected:
  /// Rows are cut at multiples of `rows_at_once`, at most kMostAtOnce; with `halves_units` anywhere
  /// in such rows, too, if they have far more entries than others.
  RowSums(const MethodInput& input, Index rows_at_once, bool halves_units = false)
      : op_a_(input.op_a),
        team_(input.team),
        isa_(chosen_isa_for_short_loads()),
        loops_(inner_loops<A, Acc>(isa_)),
        budget_(input.budget),
        rows_at_once_(rows_at_once),
        batch_(kMostAtOnce - kMostAtOnce % rows_at_once),
        tasks_(team_.threads) {
    const PieceSizes sizes = piece_sizes(rows_at_once, halves_units, team_.threads);
    reserve(row_cuts_bytes(op_a_, sizes) + tasks_.size_bytes(), "the list of pieces");
    cuts_ = cut_rows(op_a_, sizes);
    tasks_.take(op_a_, cuts_);
    reserve(static_cast<std::uint64_t>(cuts_.stretches) * sizeof(Acc), "the sums of cut rows");
    stretches_ = Buffer<Acc>(cuts_.stretches);
    open_stretches_ = std::vector<std::atomic<Offset>>(cuts_.hubs.size());
    for (std::size_t n = 0; n < cuts_.hubs.size(); ++n)
      open_stretches_[n] = cuts_.hubs[n].stretches;
    first_batches_.reserve(cuts_.tasks.size() + 1);
    Offset batches = 0;
    for (const Task& task : cuts_.tasks) {
      first_batches_.push_back(batches);
      if (task.stretch < 0) batches += (task.last - task.first + batch_ - 1) / batch_;
    }
    first_batches_.push_back(batches);
    if (!std::is_same_v<B, Acc>) make_room_for_x();
  }

  static constexpr Index kMostAtOnce = 512;

  /// Rows [first, last) of a task, at most kMostAtOnce.
  struct Batch {
    Index first, last;
    Offset number;  // among all batches, from top to bottom
  };

  /// sums[i - first] for the rows of a batch; for hubs anything. There is room for kCompressedRows
  /// sums more, but where the batch has a multiple of rows_at_once rows: then only for them.
  virtual void sum_rows(const Acc* x, const Batch& batch, Acc* sums) const = 0;

  /// The sum of a part of a hub, and how parts are added.
  virtual Acc sum_stretch(const Acc* x, Offset begin, Offset end) const {
    return loops_.stretch(op_a_.view<A>(), x, begin, end);
  }
  virtual Acc add(Acc sum, Acc more) const { return sum + more; }

  /// In the plan's budget, for as long as this lives.
  void reserve(std::uint64_t bytes, const char* what) {
    budget_.reserve(bytes, what);
    reserved_bytes_ += bytes;
  }

  bool is_hub(Index row) const { return op_a_.row_length(row) > cuts_.hub_length; }

  /// Calls fill(first, last) for the rows of every task, by the thread that will read them: a page
  /// belongs to the memory of the thread that touches it first. `fill` must not throw.
  template <class Fill>
  void by_owners(const Fill& fill) const {
    tasks_by_owners([&](Offset number) {
      const Task& task = cuts_.tasks[static_cast<std::size_t>(number)];
      fill(static_cast<Index>(task.first), static_cast<Index>(task.last));
    });
  }

  /// The same with fill(batch) for every batch.
  template <class Fill>
  void batches_by_owners(const Fill& fill) const {
    tasks_by_owners([&](Offset number) { for_batches(number, fill); });
  }

  Offset batches() const { return first_batches_.back(); }

  /// "avx512, 64 pieces, 2 cut rows"
  std::string describe() const {
    return std::string(name_of(isa_)) + ", " + counted(cuts_.tasks.size(), "piece") + ", " +
           counted(cuts_.hubs.size(), "cut row");
  }

  CsrMatrix op_a_;
  Team team_;
  Isa isa_;
  InnerLoops<A, Acc> loops_;
  RowCuts cuts_;

 private:
  /// Below this many nonzeros and rows a second thread costs more than it brings.
  static constexpr Offset kSerialWork = 1 << 12;

  static const Acc* direct_x(const Operands<Kinds>& p) {
    if constexpr (std::is_same_v<B, Acc>) {
      return p.b;
    } else {
      return nullptr;
    }
  }

  /// x is copied where its elements lie apart or are of 16 bits.
  void make_room_for_x() {
    if (x_.size() > 0 || op_a_.cols() == 0) return;
    reserve(static_cast<std::uint64_t>(op_a_.cols()) * sizeof(Acc), "a copy of x");
    x_ = Buffer<Acc>(op_a_.cols());
  }

  /// Calls body(batch) for the batches of a task of rows.
  template <class Body>
  void for_batches(Offset number, const Body& body) const {
    const Task& task = cuts_.tasks[static_cast<std::size_t>(number)];
    Batch batch{static_cast<Index>(task.first), 0,
                first_batches_[static_cast<std::size_t>(number)]};
    const auto end = static_cast<Index>(task.last);
    for (; batch.first < end; batch.first = batch.last, ++batch.number) {
      batch.last = std::min(end - batch.first, batch_) + batch.first;
      body(batch);
    }
  }

  void run(const Operands<Kinds>& p, const Acc* x, Offset number) {
    const Task& task = cuts_.tasks[static_cast<std::size_t>(number)];
    if (task.stretch >= 0) {
      stretches_[task.stretch] = sum_stretch(x, task.first, task.last);
      end_stretch(p, task.stretch);
      return;
    }
    alignas(64) Acc sums[kMostAtOnce + kCompressedRows];
    const bool is_plain = !task.holds_hub && p.c_leading_dim == 1 && p.alpha == 1 && !p.reads_c;
    for_batches(number, [&](const Batch& batch) {
      const auto [first, last, unused] = batch;
      if constexpr (std::is_same_v<typename Kinds::C, Acc>) {  // y is the sums
        if (is_plain && (last - first) % rows_at_once_ == 0) return sum_rows(x, batch, p.c + first);
      }
      sum_rows(x, batch, sums);
      if (task.holds_hub) {
        for (Index i = first; i < last; ++i) {
          if (!is_hub(i)) p.store(*p.c_row(i), sums[i - first]);
        }
      } else if (p.c_leading_dim == 1) {  // apart, because it is a vector loop
        auto* const y = p.c + first;
        for (Index i = 0; i < last - first; ++i) p.store(y[i], sums[i]);
      } else {
        for (Index i = first; i < last; ++i) p.store(*p.c_row(i), sums[i - first]);
      }
    });
  }

  /// Whoever ends the last stretch of a hub, in time, adds all of them, in their order.
  void end_stretch(const Operands<Kinds>& p, Offset stretch) {
    const auto after =
        std::upper_bound(cuts_.hubs.begin(), cuts_.hubs.end(), stretch,
                         [](Offset number, const Hub& hub) { return number < hub.first_stretch; });
    const Hub& hub = *std::prev(after);
    std::atomic<Offset>& open = open_stretches_[static_cast<std::size_t>(&hub - cuts_.hubs.data())];
    if (open.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    open.store(hub.stretches, std::memory_order_relaxed);  // for the next product
    Acc total = stretches_[hub.first_stretch];
    for (Offset n = 1; n < hub.stretches; ++n) {
      total = add(total, stretches_[hub.first_stretch + n]);
    }
    p.store(*p.c_row(hub.row), total);
  }

  template <class Fill>
  void tasks_by_owners(const Fill& fill) const {
    tasks_.by_owners([&](Offset number) {
      if (cuts_.tasks[static_cast<std::size_t>(number)].stretch < 0) fill(number);
    });
  }

  MemoryBudget& budget_;
  std::uint64_t reserved_bytes_ = 0;
  Index rows_at_once_;
  Index batch_;
  std::vector<Offset> first_batches_;  // of every task, and their number
  TeamTasks tasks_;
  Buffer<Acc> stretches_;
  std::vector<std::atomic<Offset>> open_stretches_;  // of every hub, in this product
  Buffer<Acc> x_;
};

/// make_<format>: Method<Kinds> for the problem's kinds.
template <template <class> class Method>
std::unique_ptr<SpmmMethod> make_format(const MethodInput& input) {
  return with_spmm_kinds<true>(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<Method<decltype(kinds)>>(input);
  });
}

/// Bytes of an entry's value, as a matrix of kind A stores it.
template <class A>
constexpr std::uint64_t value_bytes() {
  return std::is_same_v<A, ImplicitOne> ? 0 : sizeof(A);
}

/// What plain CSR reads of A: 64-bit row offsets, 32-bit columns, values.
template <class A>
std::uint64_t csr_bytes(const CsrMatrix& a) {
  return static_cast<std::uint64_t>(a.nnz()) * (sizeof(Index) + value_bytes<A>()) +
         (static_cast<std::uint64_t>(a.rows()) + 1) * sizeof(Offset);
}

/// "8.44 bytes a nonzero (CSR 12.57)"
std::string bytes_per_nonzero(std::uint64_t stored, std::uint64_t csr, Offset nnz);

}  // namespace csrkit::cpu::spmv
