// chunked_rows: rows cut into chunks of 32, of 8 and of 0 to 7 entries, chunks of a length
// together, for a few columns.
// Owns     a piece is a run of whole rows, about as many nonzeros (plus rows) as any other, made in
//          batches; a row that would weigh in a thread's share (a hub) stays in CSR, cut into
//          stretches, which are chunks as they lie, and whose sums are added in order
// Reads    a copy of A in a stream, no row offsets; of B, for every entry, a stretch of one row,
//          a cache line of columns at a time
// Launch   as nnz_balanced; a piece is filled, so its pages first touched, by the thread that reads
//          it
// Needs    a copy of A's columns and values, 2 bytes a chunk; nothing is padded
// Against  nnz_balanced: with a few columns a short row costs more for the wrong guess at its end
//          than for its entries. Source: csr_chunks of SpMV, with vectors of columns
#include "core/base/counted.h"
#include "cpu/common/operator_plan.h"
#include "cpu/common/team_tasks.h"
#include "cpu/spmm/chunk_loops.h"

namespace csrkit::cpu {

namespace {

/// Below this many nonzeros and rows, times vectors of a cache line, a second thread costs more
/// than it brings.
constexpr Offset kSerialWork = 1 << 12;

/// Of a piece, in nonzeros and rows, and of the stretch of a hub.
constexpr Offset kLargest = 16384;

template <class Kinds>
class ChunkedRowsMethod : public SpmmMethod {
 public:
  using A = typename Kinds::A;
  using Acc = typename Kinds::Acc;

  explicit ChunkedRowsMethod(const MethodInput& input)
      : op_a_(input.op_a),
        team_(input.team),
        isa_(chosen_isa()),
        loop_(chunk_loop<A, Acc>(isa_)),
        tasks_(team_.threads),
        cuts_(cuts(input)),
        sums_(reserved_sums(input)),
        first_batches_(first_batches()),
        chunks_(reserved_lists(input)) {
    tasks_.take(op_a_, cuts_);
    const CsrView<A> a = op_a_.view<A>();
    by_owners([&](Offset n, Index first, Index last) { chunks_.count(op_a_, n, first, last); });
    chunks_.place();
    input.budget.reserve(chunks_.size_bytes(), "the chunks");
    chunks_.allocate();
    by_owners([&](Offset n, Index first, Index last) { chunks_.fill(a, n, first, last); });
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    const Offset vectors = (x.dense_cols - 1) / kChunkCols<Acc> + 1;
    const int threads = (op_a_.nnz() + op_a_.rows()) * vectors > kSerialWork ? team_.threads : 1;
    tasks_.run(threads, [this, x](Offset number) { run(x, number); });
    for (const Hub& hub : cuts_.hubs) finish_hub(x, hub);
  }

  std::uint64_t stored_bytes() const override {
    return chunks_.size_bytes() + RowChunks<A>::list_bytes(first_batches_.back());
  }

  std::string choice() const override {
    return std::string(name_of(isa_)) + ", " + counted(cuts_.tasks.size(), "piece") + ", " +
           counted(cuts_.hubs.size(), "cut row");
  }

 private:
  /// A few columns of an entry are a nanosecond: pieces are larger than those of nnz_balanced.
  RowCuts cuts(const MethodInput& input) const {
    PieceSizes sizes;
    sizes.smallest = 4096;
    sizes.usual = 4096;
    sizes.largest = kLargest;
    sizes.shares = team_.threads;
    sizes.shortest_hub = 1024;
    input.budget.reserve(row_cuts_bytes(op_a_, sizes) + tasks_.size_bytes(), "the list of pieces");
    return cut_rows(op_a_, sizes);
  }
  Buffer<Acc> reserved_sums(const MethodInput& input) const {
    const Offset sums = cuts_.stretches * input.problem.dense_cols;
    input.budget.reserve(static_cast<std::uint64_t>(sums) * sizeof(Acc), "the sums of cut rows");
    return Buffer<Acc>(sums);
  }
  Offset reserved_lists(const MethodInput& input) const {
    const Offset batches = first_batches_.back();
    input.budget.reserve(RowChunks<A>::list_bytes(batches), "the lists of chunks");
    return batches;
  }

  std::vector<Offset> first_batches() const {
    std::vector<Offset> first{0};
    for (const Task& task : cuts_.tasks) {
      const Offset rows = task.stretch < 0 ? task.last - task.first : 0;
      first.push_back(first.back() + (rows + kMostChunkedRows - 1) / kMostChunkedRows);
    }
    return first;
  }

  /// Calls body(number, first, last) for the batches of a task.
  template <class Body>
  void for_batches(Offset number, const Body& body) const {
    const auto n = static_cast<std::size_t>(number);
    auto first = static_cast<Index>(cuts_.tasks[n].first);
    const auto end = static_cast<Index>(cuts_.tasks[n].last);
    for (Offset batch = first_batches_[n]; batch < first_batches_[n + 1]; ++batch) {
      const Index last = first + std::min(end - first, kMostChunkedRows);
      body(batch, first, last);
      first = last;
    }
  }

  /// The same for all batches, by the thread that will read them.
  template <class Fill>
  void by_owners(const Fill& fill) const {
    tasks_.by_owners([&](Offset number) { for_batches(number, fill); });
  }

  void run(const Operands<Kinds>& x, Offset number) {
    const Task& task = cuts_.tasks[static_cast<std::size_t>(number)];
    if (task.stretch >= 0) return sum_stretch(x, task);
    for_batches(number, [&](Offset batch, Index first, Index last) {
      for (Index j = 0; j < x.dense_cols; j += kChunkCols<Acc>) {
        loop_(chunks_.of(batch),
              {x.b + j, x.b_leading_dim, x.c_row(first) + j, x.c_leading_dim, last - first, x.alpha,
               x.beta, x.reads_c, Acc{0}},
              std::min(kChunkCols<Acc>, x.dense_cols - j));
      }
    });
  }

  /// The chunks of one row in their order are the entries as they lie, if the one of the rest is
  /// cut first. The sums grow on the stack: lines of sums_ belong to several stretches, and to
  /// several threads.
  void sum_stretch(const Operands<Kinds>& x, const Task& task) {
    static constexpr std::array<std::uint16_t, kLargest / 32 + 4> kOneRow{};
    const Offset entries = task.last - task.first;
    std::array<std::uint16_t, kChunkKinds> counts{};
    counts[static_cast<std::size_t>(entries % 8)] = 1;
    counts[8] = static_cast<std::uint16_t>(entries % 32 / 8);
    counts[9] = static_cast<std::uint16_t>(entries / 32);
    ChunkedRows<A> chunks{counts.data(), kOneRow.data(), x.a.col_indices + task.first, nullptr};
    if constexpr (!std::is_same_v<A, ImplicitOne>) chunks.values = x.a.values + task.first;
    alignas(64) std::array<Acc, kChunkCols<Acc>> sums;
    Acc* const to = sums_.data() + task.stretch * x.dense_cols;
    for (Index j = 0; j < x.dense_cols; j += kChunkCols<Acc>) {
      const Index cols = std::min(kChunkCols<Acc>, x.dense_cols - j);
      loop_(chunks, {x.b + j, x.b_leading_dim, sums.data(), cols, 1, 1, 0, false, Acc{0}}, cols);
      std::copy_n(sums.data(), cols, to + j);
    }
  }

  void finish_hub(const Operands<Kinds>& x, const Hub& hub) {
    Acc* const total = sums_.data() + hub.first_stretch * x.dense_cols;
    for (Offset n = 1; n < hub.stretches; ++n) {
      for (Index k = 0; k < x.dense_cols; ++k) total[k] += total[n * x.dense_cols + k];
    }
    auto* const c = x.c_row(hub.row);
    for (Index k = 0; k < x.dense_cols; ++k) x.store(c[k], total[k]);
  }

  CsrMatrix op_a_;
  Team team_;
  Isa isa_;
  ChunkLoop<A, Acc> loop_;
  TeamTasks tasks_;
  RowCuts cuts_;
  Buffer<Acc> sums_;
  std::vector<Offset> first_batches_;  // of every task, and their number
  RowChunks<A> chunks_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_chunked_rows(const MethodInput& input) {
  const bool is_implicit = input.problem.a.value_kind() == ValueKind::none;
  const auto make = [&](auto tag) -> std::unique_ptr<SpmmMethod> {
    using T = typename decltype(tag)::type;
    if (is_implicit) {
      return std::make_unique<ChunkedRowsMethod<SpmmKinds<ImplicitOne, T, T, T>>>(input);
    }
    return std::make_unique<ChunkedRowsMethod<SpmmKinds<T, T, T, T>>>(input);
  };
  return input.problem.b == ValueKind::f64 ? make(TypeTag<double>{}) : make(TypeTag<float>{});
}

}  // namespace csrkit::cpu
