// Draws the columns of rows by a ColumnModel.
#pragma once

#include <vector>

#include "preprocess/generate/drawn_rows/column_model.h"

namespace csrkit {

struct DrawnRow;

/// Draws rows of distinct, ascending columns. Communities are intervals of *positions*; an order
/// maps positions to the ids of the result. Every row is a pure function of the seed and its
/// position, and costs time in proportion to its length, also where it holds most of the columns.
class ColumnDrawer {
 public:
  /// `lengths[p]` belongs to the row at position p; it must leave room for the diagonal rule.
  ColumnDrawer(const ColumnModel& model, Index rows, Index cols, const Buffer<Index>& lengths,
               std::uint64_t seed);

  /// The pattern of rows with `lengths` (by position, as above; may differ from those that made the
  /// popularity).
  CsrPattern draw(const Buffer<Index>& lengths, const ProgressCallback& progress) const;

  /// How many of the edges drawn by `lengths` are expected twice, once from either end.
  double expected_meetings(const Buffer<Index>& lengths) const;

 private:
  struct Interval {
    Index begin, end;
    Index size() const { return end - begin; }
  };
  void place_communities();
  void weigh_columns(const Buffer<Index>& lengths);
  Interval community_of(Index position) const;
  Interval coarse_of(Index position) const;
  Index row_at(Index position) const;
  Index pick(double target, Interval range) const;
  Index draw_popular(Index count, Interval range, DrawnRow* drawn) const;
  Index draw_near(Index count, Index row, DrawnRow* drawn) const;
  void draw_uniform(Index count, DrawnRow* drawn) const;
  void draw_row(Index position, Index length, DrawnRow* drawn, Index* out) const;

  ColumnModel model_;
  Index rows_, cols_;
  std::uint64_t seed_;
  std::vector<Index> community_begin_;  // first position of every community, then cols
  Buffer<Index> community_at_;          // community of a position
  Buffer<double> cumulative_;           // popularity of the positions before; empty if uniform
  std::vector<Index> guide_;            // where in cumulative_ to start looking
  double guide_scale_ = 0;
  Buffer<Index> row_id_, col_id_;  // ids by position; empty = identity; col_id_ alone where square
};

}  // namespace csrkit
