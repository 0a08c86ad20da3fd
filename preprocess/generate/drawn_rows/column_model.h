// Which columns a row of given length gets: planted communities, closeness of ids, popularity.
#pragma once

#include <vector>

#include "core/base/buffer.h"
#include "preprocess/generate/common/csr_builder.h"
#include "preprocess/generate/common/pattern.h"

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
std::vector<Parameter> column_model_parameters();
ColumnModel column_model_of(const Parameters& parameters);

/// Assigns ascending row lengths to positions at random. With `cliques`, the members of a community
/// have about the same length, and the community is `cliques` times as large: then neighbours of a
/// vertex are neighbours of each other, like the authors of one paper.
void place_lengths(ColumnModel* model, Buffer<Index>* lengths, std::uint64_t seed);

}  // namespace csrkit
