#include "core/matrix/csr_checks.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/team.h"

namespace csrkit {

namespace {

/// The first thing wrong with a row that is not sound.
std::string fault_of_row(const Offset* row_offsets, const Index* col_indices, Index row,
                         Index cols) {
  Index previous = -1;
  for (Offset at = row_offsets[row]; at < row_offsets[row + 1]; ++at) {
    const Index col = col_indices[at];
    const auto fault = [&](const std::string& what) {
      return "row " + std::to_string(row) + ", entry " + std::to_string(at) + ": column " +
             std::to_string(col) + what;
    };
    if (col < 0 || col >= cols) {
      return fault(" is outside [0, " + std::to_string(cols) + ")");
    }
    if (col <= previous) {
      return fault((col == previous ? " is there twice" : " follows " + std::to_string(previous)) +
                   "; columns must ascend without repetition");
    }
    previous = col;
  }
  return {};
}

bool row_is_sound(const Offset* row_offsets, const Index* col_indices, Index row, Index cols) {
  const Offset begin = row_offsets[row], end = row_offsets[row + 1];
  if (begin == end) return true;
  bool ascending = true;
  for (Offset at = begin + 1; at < end; ++at) ascending &= col_indices[at - 1] < col_indices[at];
  return ascending && col_indices[begin] >= 0 && col_indices[end - 1] < cols;
}

}  // namespace

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

void require_columns(const Offset* row_offsets, const Index* col_indices, Index rows, Index cols,
                     const std::string& where, const std::string& advice) {
  Index first_bad_row = rows;
  const int team = team_for(row_offsets[rows], 0);
#pragma omp parallel for schedule(dynamic, 4096) reduction(min : first_bad_row) num_threads(team)
  for (Index row = 0; row < rows; ++row) {
    if (!row_is_sound(row_offsets, col_indices, row, cols)) {
      first_bad_row = std::min(first_bad_row, row);
    }
  }
  if (first_bad_row < rows) {
    throw InputError(where + ": " + fault_of_row(row_offsets, col_indices, first_bad_row, cols) +
                     "; " + advice);
  }
}

}  // namespace csrkit
