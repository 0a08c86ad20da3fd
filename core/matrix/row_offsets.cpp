#include "core/matrix/row_offsets.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/team.h"

namespace csrkit {

void require_row_offsets(const Offset* row_offsets, Index rows, Offset nnz,
                         const std::string& where, const std::string& advice) {
  if (row_offsets[0] != 0 || row_offsets[rows] != nnz) {
    throw InputError(where + ": expected row offsets from 0 to the number of entries, " +
                     std::to_string(nnz) + ", found them from " + std::to_string(row_offsets[0]) +
                     " to " + std::to_string(row_offsets[rows]) + "; " + advice);
  }
  Index first_bad_row = rows;
  const int team = team_for(rows, 0);
#pragma omp parallel for schedule(static) reduction(min : first_bad_row) num_threads(team)
  for (Index row = 0; row < rows; ++row) {
    if (row_offsets[row + 1] < row_offsets[row]) first_bad_row = std::min(first_bad_row, row);
  }
  if (first_bad_row < rows) {
    throw InputError(where + ": expected row offsets that never decrease, found " +
                     std::to_string(row_offsets[first_bad_row]) + " and then " +
                     std::to_string(row_offsets[first_bad_row + 1]) + " at row " +
                     std::to_string(first_bad_row) + "; " + advice);
  }
}

}  // namespace csrkit
