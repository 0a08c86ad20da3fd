// csr_lanes: rows side by side, each in a lane of a vector; where a row has no entry its lane is
// masked.
// Owns     of every batch of at most 512 rows two parts. Runs: a slice of neighbouring rows, as
//          many as a vector has lanes, and the diagonals on which enough of them have an entry.
//          Pieces: what is left of the rows, at most 64 entries each, sorted by falling length, so
//          that neighbours end together
// Reads    both parts in a stream, no row offsets; x by loads for runs, by gathers for pieces
// Launch   as csr_balanced; a batch is filled, so its pages first touched, by the thread that
//          reads it
// Needs    a copy of A's values, a whole vector for every diagonal and step of pieces; 4 bytes of
//          columns for an entry of a piece, 6 for a diagonal; 2 bytes a row. Padding is stored, so
//          that vectors begin on their boundaries, but x is not read for it
// Against  csr_chunks: no sums across a vector, and vectors that are full for rows of any length;
//          sell: no rest of longer rows that is left to CSR, and loads for rows that are alike but
//          not the same. Lengths that are sorted end together but for 64 steps a batch. Source:
//          SELL-C-sigma as in sell.cpp, diagonals as in compressed.cpp; pieces and masks are our
//          own
#include <array>
#include <vector>

#include "core/base/huge_pages.h"
#include "cpu/spmv/row_sums.h"

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
      : Base(input, is_worth_slices(input.op_a) ? kMostLaneRows : 1),
        a_(input.op_a.view<A>()),
        lanes_(this->loops_.lane_width),
        rows_(kLaneParts * lanes_) {
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
  /// Entries of a piece, but of a long row, which has at most so many pieces: others would leave
  /// lanes empty for too many steps.
  static constexpr Offset kPiece = 64;
  static constexpr Offset kMostPiecesOfRow = 32;
  /// Of a batch: one a row, those of a task's entries, and those of the slice that it may end with
  /// (row_cuts.h).
  static constexpr Index kMostPieces =
      Base::kMostAtOnce + 3 * 16384 / 2 / kPiece + kMostLaneRows * kMostPiecesOfRow + kMostLaneRows;
  static constexpr std::uint16_t kNowhere = 0xffff;

  /// Tasks begin at multiples of the widest slice, so that no number of threads changes which rows
  /// are together; a few long rows would be too few tasks. These have pieces alone.
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

  /// An entry of a slice as a number that sorts by diagonal, then by row: its column minus its row,
  /// its row (the lane), and which entry of the row it is.
  struct OnDiagonal {
    std::uint64_t bits;
    static OnDiagonal of(Index col, Index lane, Offset in_row) {
      return {static_cast<std::uint64_t>(Offset{col} - lane + kMostLaneRows) << 32 |
              static_cast<std::uint64_t>(lane) << kLaneShift | static_cast<std::uint64_t>(in_row)};
    }
    Index diagonal() const {
      return static_cast<Index>(static_cast<Offset>(bits >> 32) - kMostLaneRows);
    }
    Index lane() const { return static_cast<Index>(bits >> kLaneShift) & (kMostLaneRows - 1); }
    Offset in_row() const { return static_cast<Offset>(bits & ((1u << kLaneShift) - 1)); }
    static constexpr int kLaneShift = 27;  // rows are shorter than hubs
  };

  /// The entries of a batch that are in no run, by rows.
  struct Left {
    std::vector<Offset> entries;          // where they are in A
    std::vector<Offset> begins, lengths;  // of each row, in `entries`
    void push_back(Index row, Offset entry) {
      const auto l = static_cast<std::size_t>(row);
      entries[static_cast<std::size_t>(begins[l] + lengths[l]++)] = entry;
    }
  };

  struct Piece {
    Index row;             // counted from the batch's first
    Offset begin, length;  // in Left::entries
  };

  /// From so many lanes on a masked load costs less than gathers: a run takes about three cycles, a
  /// gathered entry half a cycle in f32 and two thirds of one in f64.
  Index least_run() const { return lanes_ > 8 ? 6 : std::min<Index>(5, lanes_); }

  /// The entries of rows [first, last) that are not hubs in the order of their diagonals: the rows
  /// are merged by two, by four, ...
  void sort_diagonals(Index first, Index last, std::vector<OnDiagonal>* entries,
                      std::vector<OnDiagonal>* other) const {
    entries->clear();
    std::array<std::size_t, kMostLaneRows + 1> ends{};
    for (Index row = first; row < last; ++row) {
      const Offset length = this->is_hub(row) ? 0 : this->op_a_.row_length(row);
      const Index* const cols = a_.col_indices + a_.row_offsets[row];
      for (Offset k = 0; k < length; ++k) {
        entries->push_back(OnDiagonal::of(cols[k], row - first, k));
      }
      ends[static_cast<std::size_t>(row - first) + 1] = entries->size();
    }
    const auto rows = static_cast<std::size_t>(last - first);
    other->resize(entries->size());
    for (std::size_t width = 1; width < rows; width *= 2) {
      for (std::size_t begin = 0; begin < rows; begin += 2 * width) {
        const auto at = [&](std::size_t n) { return entries->data() + ends[std::min(n, rows)]; };
        merge(at(begin), at(begin + width), at(begin + 2 * width),
              other->data() + (at(begin) - entries->data()));
      }
      entries->swap(*other);
    }
  }

  /// Merges [begin, middle) and [middle, end) without a jump that a processor could guess wrongly.
  static void merge(const OnDiagonal* begin, const OnDiagonal* middle, const OnDiagonal* end,
                    OnDiagonal* to) {
    const OnDiagonal* one = begin;
    const OnDiagonal* other = middle;
    while (one < middle && other < end) {
      const bool takes_other = other->bits < one->bits;
      *to++ = takes_other ? *other : *one;
      other += takes_other ? 1 : 0;
      one += takes_other ? 0 : 1;
    }
    to = std::copy(one, middle, to);
    std::copy(other, end, to);
  }

  /// Calls run(part, first column, mask, entries, count) for every diagonal that is a run of the
  /// slice of rows [first, last), those of all rows first (part 0), then those of part 1, 2, ...;
  /// and rest(entry) for the other entries, those of a row in their order. `sorted` is
  /// sort_diagonals'.
  template <class Run, class Rest>
  void for_slice(const std::vector<OnDiagonal>& sorted, const Run& run, const Rest& rest) const {
    const auto for_diagonals = [&](const auto& visit) {
      const OnDiagonal* const all_end = sorted.data() + sorted.size();
      for (const OnDiagonal *begin = sorted.data(), *end = begin; begin < all_end; begin = end) {
        const std::uint64_t diagonal = begin->bits >> 32;
        while (end < all_end && end->bits >> 32 == diagonal) ++end;
        visit(begin, end);
      }
    };
    for_diagonals([&](const OnDiagonal* its, const OnDiagonal* end) {
      if (end - its == rows_) run(0, its->diagonal(), 0u, its, rows_);
    });
    for (int part = 0; part < kLaneParts; ++part) {
      for_diagonals([&](const OnDiagonal* its, const OnDiagonal* end) {
        if (end - its == rows_) return;
        while (its < end && its->lane() < part * lanes_) ++its;
        unsigned mask = 0;
        Index here = 0;
        for (; its + here < end && its[here].lane() < (part + 1) * lanes_; ++here) {
          mask |= 1u << (its[here].lane() - part * lanes_);
        }
        if (here >= least_run()) {
          run(part + 1, its->diagonal() + part * lanes_, mask, its, here);
        } else {
          for (Index n = 0; n < here; ++n) rest(its[n]);
        }
      });
    }
  }

  /// Whether runs have a part of the entries, in a sample of slices: looking for them is most of
  /// what a graph's plan would take.
  bool finds_runs() const {
    constexpr Index kMostSlices = 128;
    constexpr double kFew = 0.03;
    const Index slices = a_.rows / rows_;
    const Index step = std::max<Index>(1, slices / kMostSlices);
    std::vector<OnDiagonal> entries, other;
    Offset in_runs = 0, all = 0;
    for (Index slice = 0; slice < slices; slice += step) {
      sort_diagonals(slice * rows_, (slice + 1) * rows_, &entries, &other);
      for_slice(
          entries, [&](int, Index, unsigned, const OnDiagonal*, Index count) { in_runs += count; },
          [](const OnDiagonal&) {});
      all += static_cast<Offset>(entries.size());
    }
    return static_cast<double>(in_runs) > kFew * static_cast<double>(all);
  }

  /// Fills in a batch, or, where `to` is null, returns how much of everything it has.
  List fill(const Batch& batch, const List* to) {
    List size;
    const auto at = [&](Offset List::*part) { return to == nullptr ? 0 : to->*part + size.*part; };
    const Index rows = batch.last - batch.first;
    size.run_slices = (rows + rows_ - 1) / rows_;
    const int parts = kLaneParts;
    std::vector<OnDiagonal> entries, other;
    Left left;
    left.begins.resize(static_cast<std::size_t>(rows) + 1);
    for (Index l = 0; l < rows; ++l) {
      const Index row = batch.first + l;
      left.begins[static_cast<std::size_t>(l) + 1] =
          left.begins[static_cast<std::size_t>(l)] +
          (this->is_hub(row) ? 0 : this->op_a_.row_length(row));
    }
    left.entries.resize(static_cast<std::size_t>(left.begins.back()));
    left.lengths.resize(static_cast<std::size_t>(rows));
    for (Index l = 0; !may_have_runs_ && l < rows; ++l) {
      if (this->is_hub(batch.first + l)) continue;
      for (Offset n = 0; n < this->op_a_.row_length(batch.first + l); ++n) {
        left.push_back(l, a_.row_offsets[batch.first + l] + n);
      }
    }
    for (Index first = batch.first, n = 0; may_have_runs_ && first < batch.last;
         first += rows_, ++n) {
      std::uint32_t* const steps = to == nullptr || to->run_slices == 0
                                       ? nullptr
                                       : run_steps_.data() + (to->run_slice + n) * (parts + 1);
      if (steps != nullptr) std::fill(steps, steps + parts + 1, std::uint32_t{0});
      sort_diagonals(first, std::min(first + rows_, batch.last), &entries, &other);
      const auto place_of = [&](const OnDiagonal& entry) {
        return a_.row_offsets[first + entry.lane()] + entry.in_row();
      };
      for_slice(
          entries,
          [&](int part, Index diagonal, unsigned mask, const OnDiagonal* its, Index count) {
            if (to != nullptr) {
              run_firsts_[at(&List::run)] = diagonal;
              run_masks_[at(&List::run)] = static_cast<std::uint16_t>(mask);
              ++steps[part];
              if constexpr (kHasValues) {
                const Index lanes = part == 0 ? rows_ : lanes_;
                A* const values = run_values_.data() + at(&List::run_vector) * lanes_;
                std::fill(values, values + lanes, A{});
                for (Index k = 0; k < count; ++k) {
                  values[its[k].lane() % lanes] = a_.values[place_of(its[k])];
                }
              }
            }
            ++size.run;
            size.run_vector += part == 0 ? parts : 1;
            size.entries += count;
            size.in_runs += count;
          },
          [&](const OnDiagonal& entry) {
            left.push_back(first - batch.first + entry.lane(), place_of(entry));
          });
    }
    if (size.run == 0) size.run_slices = 0;
    fill_pieces(batch, left, to, &size);
    return size;
  }

  /// The pieces of what is left from long to short, those of a length in their order.
  static std::vector<Piece> sorted_pieces(const Left& left) {
    const auto for_pieces = [&](const auto& visit) {
      for (std::size_t row = 0; row < left.lengths.size(); ++row) {
        const Offset length = left.lengths[row];
        const Offset count = std::min((length + kPiece - 1) / kPiece, kMostPiecesOfRow);
        for (Offset n = 0; n < count; ++n) {
          const Offset begin = length * n / count, end = length * (n + 1) / count;
          visit(Piece{static_cast<Index>(row), left.begins[row] + begin, end - begin});
        }
      }
    };
    Offset longest = 0;
    for_pieces([&](const Piece& piece) { longest = std::max(longest, piece.length); });
    // Of the next one of each length, from long to short.
    std::vector<std::size_t> places(static_cast<std::size_t>(longest) + 2);
    const auto rank = [&](const Piece& piece) {
      return static_cast<std::size_t>(longest - piece.length);
    };
    for_pieces([&](const Piece& piece) { ++places[rank(piece) + 1]; });
    for (std::size_t n = 1; n < places.size(); ++n) places[n] += places[n - 1];
    std::vector<Piece> sorted(places.back());
    for_pieces([&](const Piece& piece) { sorted[places[rank(piece)]++] = piece; });
    return sorted;
  }

  void fill_pieces(const Batch& batch, const Left& left, const List* to, List* size) {
    const std::vector<Piece> pieces = sorted_pieces(left);
    const auto lanes = static_cast<std::size_t>(lanes_);
    // Whole slices, because what comes behind the last row may be another batch's.
    size->is_in_order = pieces.size() == left.lengths.size() && pieces.size() % lanes == 0;
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
          const Piece& piece = pieces[n];
          const Offset from = left.entries[static_cast<std::size_t>(piece.begin + k)];
          cols_[slot + count] = a_.col_indices[from];
          if constexpr (kHasValues) values_[slot + count] = a_.values[from];
        }
        if (to != nullptr) counts_[to->step + size->step] = count;
      }
    }
    // The pieces of a row need not follow each other: the first in this order takes the others in.
    // Rows without a piece take the sum behind the last one, which is 0.
    std::vector<Place> places(left.lengths.size(), kNowhere);
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
    for (std::size_t row = 0; row < left.lengths.size(); ++row) {
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
