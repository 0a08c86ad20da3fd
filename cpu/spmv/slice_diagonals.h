// The entries of a slice of neighbouring rows by their diagonals, and which of these are runs:
// enough rows have an entry on them that csr_lanes loads x for all of these rows at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/matrix/csr_matrix.h"
#include "cpu/spmv/inner_loops.h"

namespace csrkit::cpu::spmv {

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

class SliceDiagonals {
 public:
  /// `lanes`: elements of a vector; a slice has kLaneParts times as many rows. Rows of more than
  /// `hub_length` entries have none here.
  SliceDiagonals(const CsrMatrix& a, Offset hub_length, Index lanes)
      : a_(a), hub_length_(hub_length), lanes_(lanes) {}

  /// Goes to the slice of rows [first, last): its entries in the order of their diagonals.
  void go_to(Index first, Index last);
  Offset entries() const { return static_cast<Offset>(sorted_.size()); }

  /// Calls run(part, first column, mask, entries, count) for every diagonal that is a run, those of
  /// all rows first (part 0), then those of part 1, 2, ...; and rest(entry) for the other entries,
  /// those of a row in their order.
  template <class Run, class Rest>
  void for_runs(const Run& run, const Rest& rest) const {
    const Index rows = kLaneParts * lanes_;
    for_diagonals([&](const OnDiagonal* its, const OnDiagonal* end) {
      if (end - its == rows) run(0, its->diagonal(), 0u, its, rows);
    });
    for (int part = 0; part < kLaneParts; ++part) {
      for_diagonals([&](const OnDiagonal* its, const OnDiagonal* end) {
        if (end - its == rows) return;
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

 private:
  /// From so many lanes on a masked load costs less than gathers: a run takes about three cycles, a
  /// gathered entry half a cycle in f32 and two thirds of one in f64.
  Index least_run() const { return lanes_ > 8 ? 6 : std::min<Index>(5, lanes_); }

  template <class Visit>
  void for_diagonals(const Visit& visit) const {
    const OnDiagonal* const all_end = sorted_.data() + sorted_.size();
    for (const OnDiagonal *begin = sorted_.data(), *end = begin; begin < all_end; begin = end) {
      const std::uint64_t diagonal = begin->bits >> 32;
      while (end < all_end && end->bits >> 32 == diagonal) ++end;
      visit(begin, end);
    }
  }

  const CsrMatrix& a_;
  Offset hub_length_;
  Index lanes_;
  std::vector<OnDiagonal> sorted_, other_;
};

}  // namespace csrkit::cpu::spmv
