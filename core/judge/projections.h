// Freivalds' check with an error bound, row by row: a row of C times a random vector of signs,
// against the same of its operands. For compare*.cpp only.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/base/types.h"

namespace csrkit {

class Findings;

/// The element of the random vector that meets column `col` of C: 1 or -1.
inline double sign_of(std::uint64_t seed, Index col) {
  return random_word(seed, 2, static_cast<std::uint64_t>(col)) & 1 ? 1.0 : -1.0;
}

/// A row times the vector, and the sum of the magnitudes of what is summed up, which the bound of
/// its error needs.
struct Projection {
  double dot = 0, absolute = 0;

  /// Adds `factor` times another one. That of a single column is {its sign, 1}.
  void add(double factor, const Projection& more) {
    dot += factor * more.dot;
    absolute += std::fabs(factor) * more.absolute;
  }
  void scale(double factor) {
    dot *= factor;
    absolute *= std::fabs(factor);
  }
  bool is_finite() const;
};

/// What the check compares of one row of C.
struct ProjectedRow {
  Projection expected, found;
  double bound = 0;  // of the difference of their dots
};

/// Rows whose projection says nothing because something in it is not finite; ascending.
struct UnprojectedRows {
  std::vector<Index> on_one_side;    // in C or in the expectation, not in both: compare them all
  std::vector<Index> on_both_sides;  // as it should be, if they are the right ones
};

/// Compares rows [0, rows), several threads at once. `note` is the end of a row's message.
UnprojectedRows compare_projections(Index rows,
                                    const std::function<ProjectedRow(Index row)>& project,
                                    const std::function<std::string(Index row)>& note,
                                    Findings& findings);

}  // namespace csrkit
