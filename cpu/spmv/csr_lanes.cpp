// csr_lanes: rows side by side, each in a lane of a vector; where a row has no entry its lane is
// masked.
// Owns     of every batch of at most 512 rows two parts. Runs: a slice of neighbouring rows, as
//          many as two vectors have lanes, and the diagonals on which enough of them have an entry.
//          Pieces: what is left of the rows, at most 64 entries each, sorted by falling length, so
//          that neighbours end together
// Reads    both parts in a stream, no row offsets; x by loads for runs, by gathers for pieces
// Launch   as csr_balanced, but a row longer than one piece is a hub, and a slice of long rows is
//          cut between them; a batch is filled, so its pages first touched, by the thread that
//          reads it
// Needs    a copy of A's values, a whole vector for every diagonal and step of pieces; 4 bytes of
//          columns for an entry of a piece, 6 for a diagonal; 2 bytes a row. Padding is stored, so
//          that vectors begin on their boundaries, but x is not read for it
// Against  csr_chunks: no sums across a vector, and vectors that are full for rows of any length;
//          sell: no rest of longer rows that is left to CSR, and loads for rows that are alike but
//          not the same. Lengths that are sorted end together but for 64 steps a batch. Source:
//          SELL-C-sigma as in sell.cpp, diagonals as in compressed.cpp; pieces and masks are our
//          own
#include <vector>

#include "core/base/huge_pages.h"
#include "cpu/spmv/row_rests.h"
#include "cpu/spmv/row_sums.h"
#include "cpu/spmv/slice_diagonals.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Kinds>
class CsrLanes : public RowSums<Kinds> {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;
  using typename Base::Batch;

  explicit CsrLanes(const MethodInput& input)
      : Base(input, is_worth_slices(input.op_a) ? rows_of_slice() : 1, true),
        a_(input.op_a.view<A>()),
        lanes_(this->loops_.lane_width),
        rows_(rows_of_slice()) {
    const std::uint64_t list_bytes = static_cast<std::uint64_t>(this->batches()) * sizeof(List);
    this->reserve(list_bytes, "the lists of lanes");
    lists_ = Buffer<List>(this->batches());
    may_have_runs_ = is_worth_slices(this->op_a_) && finds_runs();
    this->batches_by_owners(
        [&](const Batch& batch) { lists_[batch.number] = fill(batch, nullptr); });
    List end;
    for (List& list : lists_) {
      const List size = list;
      list.run_slice = end.run_slice;
      list.run = end.run;
      list.run_vector = end.run_vector;
      list.slice = end.slice;
      list.step = end.step;
      list.more = end.more;
      end.run_slice += size.run_slices;
      end.run += size.run;
      end.run_vector += size.run_vector;
      end.slice += size.slices;
      end.step += size.step;
      end.entries += size.entries;
      end.in_runs += size.in_runs;
      end.more += size.mores;
    }
    const auto bytes =
        static_cast<std::uint64_t>((end.run_vector + end.step) * lanes_) * value_bytes<A>() +
        static_cast<std::uint64_t>(end.run_slice * (kLaneParts + 1)) * sizeof(std::uint32_t) +
        static_cast<std::uint64_t>(end.run) * (sizeof(Index) + sizeof(std::uint16_t)) +
        static_cast<std::uint64_t>(end.slice) * sizeof(std::uint16_t) +
        static_cast<std::uint64_t>(end.step) +
        static_cast<std::uint64_t>(end.step * lanes_) * sizeof(Index) +
        static_cast<std::uint64_t>(a_.rows) * sizeof(Place) +
        static_cast<std::uint64_t>(end.more) * sizeof(More);
    this->reserve(bytes, "the lanes");
    run_steps_ = Buffer<std::uint32_t>(end.run_slice * (kLaneParts + 1));
    run_firsts_ = Buffer<Index>(end.run);
    run_masks_ = Buffer<std::uint16_t>(end.run);
    steps_ = Buffer<std::uint16_t>(end.slice);
    counts_ = Buffer<std::uint8_t>(end.step);
    cols_ = Buffer<Index>(end.step * lanes_);
    places_ = Buffer<Place>(a_.rows);
    mores_ = Buffer<More>(end.more);
    advise_huge_pages(cols_.data(), cols_.size_bytes());
    if constexpr (kHasValues) {
      run_values_ = Buffer<A>(end.run_vector * lanes_);
      values_ = Buffer<A>(end.step * lanes_);
      advise_huge_pages(run_values_.data(), run_values_.size_bytes());
      advise_huge_pages(values_.data(), values_.size_bytes());
    }
    this->batches_by_owners([&](const Batch& batch) { fill(batch, &lists_[batch.number]); });
    const auto in_place = static_cast<std::uint64_t>(a_.nnz() - end.entries);
    stored_bytes_ = list_bytes + bytes + in_place * (sizeof(Index) + value_bytes<A>());
    in_runs_ =
        static_cast<double>(end.in_runs) / static_cast<double>(std::max<Offset>(1, a_.nnz()));
  }

  std::uint64_t stored_bytes() const override { return stored_bytes_; }

  std::string choice() const override {
    char text[48];
    std::snprintf(text, sizeof text, ", %.0f %% of the entries in runs", 100 * in_runs_);
    return this->describe() + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(this->op_a_), a_.nnz()) + text;
  }

 private:
  static constexpr bool kHasValues = !std::is_same_v<A, ImplicitOne>;
  /// Of a batch: one a row, those of a task's entries, and those of the slice that it may end with
  /// (row_cuts.h).
  static constexpr Index kMostPieces = Base::kMostAtOnce + 3 * 16384 / 2 / kPieceEntries +
                                       kMostLaneRows * kMostPiecesOfRow + kMostLaneRows;
  static constexpr std::uint16_t kNowhere = 0xffff;

  static Index rows_of_slice() {
    return kLaneParts * inner_loops<A, Acc>(chosen_isa_for_short_loads()).lane_width;
  }

  /// Tasks begin at multiples of a slice, or where the matrix alone says, so that no number of
  /// threads changes which rows are together; a few long rows would be too few tasks. These have
  /// pieces alone.
  static bool is_worth_slices(const CsrMatrix& a) { return a.rows() >= 16 * kMostLaneRows; }

  using Place = std::uint16_t;  // of a piece, among those of its batch

  /// A piece of a row beyond its first: its sum is added to that of the first.
  struct More {
    Place first, piece;
  };

  /// The parts of a batch: where the first ones are (until that is known: how many).
  struct List {
    Offset run_slice = 0, run = 0, run_vector = 0, slice = 0, step = 0, more = 0;
    Offset entries = 0, in_runs = 0;
    std::int32_t run_slices = 0, slices = 0, mores = 0;
    bool is_in_order = false;  // the pieces are the rows, and fill their slices
  };

  SliceDiagonals diagonals() const {
    return SliceDiagonals(this->op_a_, this->cuts_.hub_length, lanes_);
  }

  /// Whether runs have a part of the entries, in a sample of slices: looking for them is most of
  /// what a graph's plan would take, and one thread looks. So few slices do where rows are long.
  bool finds_runs() const {
    constexpr Index kMostSlices = 128, kFewSlices = 8;
    constexpr Offset kMostEntries = 1 << 17;
    constexpr double kFew = 0.125;
    const Index slices = a_.rows / rows_;
    const Offset of_slice = std::max<Offset>(a_.nnz() / slices, 1);
    const auto most =
        static_cast<Index>(std::clamp<Offset>(kMostEntries / of_slice, kFewSlices, kMostSlices));
    const Index step = std::max<Index>(1, slices / most);
    SliceDiagonals sampled = diagonals();
    Offset in_runs = 0, all = 0;
    for (Index slice = 0; slice < slices; slice += step) {
      sampled.go_to(slice * rows_, (slice + 1) * rows_);
      sampled.for_runs(
          [&](int, Index, unsigned, const OnDiagonal*, Index count) { in_runs += count; },
          [](const OnDiagonal&) {});
      all += sampled.entries();
    }
    return static_cast<double>(in_runs) > kFew * static_cast<double>(all);
  }

  /// Fills in a batch, or, where `to` is null, returns how much of everything it has.
  List fill(const Batch& batch, const List* to) {
    List size;
    RowRests rests = room_for_rests(batch);
    if (may_have_runs_) {
      fill_runs(batch, to, &size, &rests);
    } else {
      take_all(batch, &rests);
    }
    fill_pieces(batch, rests, to, &size);
    return size;
  }

  /// With room for every entry of the batch, and none in it.
  RowRests room_for_rests(const Batch& batch) const {
    RowRests rests;
    rests.begins.push_back(0);
    for (Index row = batch.first; row < batch.last; ++row) {
      rests.begins.push_back(rests.begins.back() +
                             (this->is_hub(row) ? 0 : this->op_a_.row_length(row)));
    }
    rests.entries.resize(static_cast<std::size_t>(rests.begins.back()));
    rests.lengths.resize(static_cast<std::size_t>(batch.last - batch.first));
    return rests;
  }

  void take_all(const Batch& batch, RowRests* rests) const {
    for (Index row = batch.first; row < batch.last; ++row) {
      if (this->is_hub(row)) continue;
      for (Offset at = a_.row_offsets[row]; at < a_.row_offsets[row + 1]; ++at) {
        rests->push_back(row - batch.first, at);
      }
    }
  }

  /// What is in no run goes to `rests`.
  void fill_runs(const Batch& batch, const List* to, List* size, RowRests* rests) {
    const int parts = kLaneParts;
    SliceDiagonals slice = diagonals();
    for (Index first = batch.first, n = 0; first < batch.last; first += rows_, ++n) {
      std::uint32_t* const steps = to == nullptr || to->run_slices == 0
                                       ? nullptr
                                       : run_steps_.data() + (to->run_slice + n) * (parts + 1);
      if (steps != nullptr) std::fill(steps, steps + parts + 1, std::uint32_t{0});
      slice.go_to(first, std::min(first + rows_, batch.last));
      const auto place_of = [&](const OnDiagonal& entry) {
        return a_.row_offsets[first + entry.lane()] + entry.in_row();
      };
      slice.for_runs(
          [&](int part, Index diagonal, unsigned mask, const OnDiagonal* its, Index count) {
            if (to != nullptr) {
              run_firsts_[to->run + size->run] = diagonal;
              run_masks_[to->run + size->run] = static_cast<std::uint16_t>(mask);
              ++steps[part];
              if constexpr (kHasValues) {
                const Index lanes = part == 0 ? rows_ : lanes_;
                A* const values = run_values_.data() + (to->run_vector + size->run_vector) * lanes_;
                std::fill(values, values + lanes, A{});
                for (Index k = 0; k < count; ++k) {
                  values[its[k].lane() % lanes] = a_.values[place_of(its[k])];
                }
              }
            }
            ++size->run;
            size->run_vector += part == 0 ? parts : 1;
            size->entries += count;
            size->in_runs += count;
          },
          [&](const OnDiagonal& entry) {
            rests->push_back(first - batch.first + entry.lane(), place_of(entry));
          });
    }
    if (size->run > 0) size->run_slices = (batch.last - batch.first + rows_ - 1) / rows_;
  }

  void fill_pieces(const Batch& batch, const RowRests& rests, const List* to, List* size) {
    const std::vector<RowPiece> pieces = sorted_pieces(rests);
    const auto lanes = static_cast<std::size_t>(lanes_);
    // Whole slices, because what comes behind the last row may be another batch's.
    size->is_in_order = pieces.size() == rests.lengths.size() && pieces.size() % lanes == 0;
    for (std::size_t begin = 0; begin < pieces.size(); begin += lanes, ++size->slices) {
      const std::size_t end = std::min(begin + lanes, pieces.size());
      if (to != nullptr) {
        steps_[to->slice + size->slices] = static_cast<std::uint16_t>(pieces[begin].length);
      }
      for (Offset k = 0; k < pieces[begin].length; ++k, ++size->step) {
        std::uint8_t count = 0;
        const Offset slot = to == nullptr ? 0 : (to->step + size->step) * lanes_;
        if (to != nullptr) {
          std::fill_n(cols_.data() + slot, lanes_, Index{0});
          if constexpr (kHasValues) std::fill_n(values_.data() + slot, lanes_, A{});
        }
        for (std::size_t n = begin; n < end && pieces[n].length > k;
             ++n, ++count, ++size->entries) {
          if (to == nullptr) continue;
          const RowPiece& piece = pieces[n];
          const Offset from = rests.entries[static_cast<std::size_t>(piece.begin + k)];
          cols_[slot + count] = a_.col_indices[from];
          if constexpr (kHasValues) values_[slot + count] = a_.values[from];
        }
        if (to != nullptr) counts_[to->step + size->step] = count;
      }
    }
    // The pieces of a row need not follow each other: the first in this order takes the others in.
    // Rows without a piece take the sum behind the last one, which is 0.
    std::vector<Place> places(rests.lengths.size(), kNowhere);
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      if (pieces[n].row != static_cast<Index>(n)) size->is_in_order = false;
      Place& place = places[static_cast<std::size_t>(pieces[n].row)];
      if (place == kNowhere) {
        place = static_cast<Place>(n);
      } else {
        if (to != nullptr) mores_[to->more + size->mores] = {place, static_cast<Place>(n)};
        ++size->mores;
      }
    }
    if (to == nullptr) return;
    for (std::size_t row = 0; row < rests.lengths.size(); ++row) {
      places_[batch.first + static_cast<Index>(row)] =
          places[row] == kNowhere ? static_cast<Place>(size->slices * lanes_) : places[row];
    }
  }

  void sum_rows(const Acc* x, const Batch& batch, Acc* sums) const override {
    const List& list = lists_[batch.number];
    const bool has_runs = list.run_slices > 0;
    if (has_runs) {
      this->loops_.runs({run_steps_.data() + list.run_slice * (kLaneParts + 1), list.run_slices,
                         run_firsts_.data() + list.run, run_masks_.data() + list.run,
                         run_values_.data() + (kHasValues ? list.run_vector * lanes_ : 0)},
                        x, sums);
      if (list.slices == 0) return;
    }
    const LanePieces<A> pieces{steps_.data() + list.slice, list.slices, counts_.data() + list.step,
                               cols_.data() + list.step * lanes_,
                               values_.data() + (kHasValues ? list.step * lanes_ : 0)};
    if (!has_runs && list.is_in_order) return this->loops_.pieces(pieces, x, sums);
    alignas(64) Acc of_pieces[kMostPieces];
    this->loops_.pieces(pieces, x, of_pieces);
    of_pieces[list.slices * lanes_] = 0;
    const More* const mores = mores_.data() + list.more;
    for (std::int32_t n = 0; n < list.mores; ++n) {
      of_pieces[mores[n].first] += of_pieces[mores[n].piece];
    }
    this->loops_.pick(of_pieces, places_.data() + batch.first, batch.last - batch.first, has_runs,
                      sums);
  }

  CsrView<A> a_;
  Index lanes_, rows_;  // of a vector, of a slice of runs
  Buffer<List> lists_;
  Buffer<std::uint32_t> run_steps_;
  Buffer<Index> run_firsts_;
  Buffer<std::uint16_t> run_masks_;
  Buffer<A> run_values_;
  Buffer<std::uint16_t> steps_;
  Buffer<std::uint8_t> counts_;
  Buffer<Index> cols_;
  Buffer<A> values_;
  Buffer<Place> places_;  // of every row's first piece
  Buffer<More> mores_;
  std::uint64_t stored_bytes_ = 0;
  double in_runs_ = 0;
  bool may_have_runs_ = false;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_csr_lanes(const MethodInput& input) {
  return make_format<CsrLanes>(input);
}

}  // namespace csrkit::cpu::spmv
