// Which columns a row of given length gets: planted communities, closeness of ids, popularity.
#pragma once

#include <vector>

#include "core/buffer.h"
#include "preprocess/generate/csr_builder.h"
#include "preprocess/generate/parameters.h"

namespace csrkit {

struct ColumnModel {
  enum class Popularity { uniform, row_length, power_law };
  enum class Order { shuffled, coarse, planted };
  enum class Diagonal { never, allowed, always };

  Index community = 0;       // mean size of a small community; 0 = none
  double cliques = 0;        // > 0: see place_lengths
  double inside = 0;         // share of a row's entries inside its small community
  Index coarse = 0;          // number of coarse communities; 0 = none
  double inside_coarse = 0;  // share inside the coarse community
  double near = 0;           // share within `reach` of the diagonal, in the ids of the result
  Index reach = 64;
  Popularity popularity = Popularity::row_length;
  double popularity_exponent = 3;
  Order order = Order::shuffled;  // shuffled; shuffled within coarse communities; as planted
  Diagonal diagonal = Diagonal::never;
  std::vector<Index> groups;  // first position of every community, if place_lengths made them
};

/// The parameters that fill a ColumnModel, for the table of a pattern, and their reader.
std::vector<GenerateParameter> column_model_parameters();
ColumnModel column_model_of(const Parameters& parameters);

/// Gives ascending row lengths to positions: at random, or, with `cliques`, so that the members of a
/// community have about the same length and the community is `cliques` times as large as that. Then
/// neighbours of a vertex are neighbours of each other, as authors of one paper are.
void place_lengths(ColumnModel* model, Buffer<Index>* lengths, std::uint64_t seed);

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
  struct Scratch;
  struct Interval {
    Index begin, end;
    Index size() const { return end - begin; }
  };
  Interval community_of(Index position) const;
  Interval coarse_of(Index position) const;
  Index pick(double target, Interval range) const;
  Index draw_popular(Index count, Interval range, Scratch* scratch) const;
  Index draw_near(Index count, Index row, Scratch* scratch) const;
  void draw_uniform(Index count, Scratch* scratch) const;
  void draw_row(Index position, Index length, Scratch* scratch, Index* out) const;

  ColumnModel model_;
  Index rows_, cols_;
  std::uint64_t seed_;
  std::vector<Index> community_begin_;  // first position of every community, then cols
  Buffer<Index> community_at_;          // community of a position
  Buffer<double> cumulative_;           // popularity of the positions before; empty if uniform
  std::vector<Index> guide_;            // where in cumulative_ to start looking
  double guide_scale_ = 0;
  Buffer<Index> row_id_, col_id_;  // ids by position; empty = identity
};

}  // namespace csrkit
