// Matrices and plans that tests of SpMM on CPUs share.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "core/contract/spmm.h"
#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"

namespace csrkit::cpu {

/// One row of `length` entries of value 1 between two rows of one entry.
inline CsrMatrix long_row(Index length) {
  Buffer<Offset> row_offsets(4);
  row_offsets[0] = 0;
  row_offsets[1] = 1;
  row_offsets[2] = 1 + length;
  row_offsets[3] = 2 + length;
  Buffer<Index> col_indices(row_offsets[3]);
  col_indices[0] = 0;
  for (Index j = 0; j < length; ++j) col_indices[1 + j] = j;
  col_indices[1 + length] = length - 1;
  return CsrMatrix(3, length, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, 0));
}

inline std::unique_ptr<SpmmPlan> plan_of(const char* kernel, const SpmmProblem& problem,
                                         const PlanOptions& options = {}) {
  return find_kernel(spmm_kernels(), kernel).make_plan(problem, options);
}

/// Rows of `shortest` entries, one more, and so on.
inline CsrMatrix growing_rows(Index rows, Index shortest) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) row_offsets[i + 1] = row_offsets[i] + shortest + i;
  Buffer<Index> col_indices(row_offsets[rows]);
  Buffer<float> values(row_offsets[rows]);
  for (Index i = 0; i < rows; ++i) {
    for (Offset at = row_offsets[i]; at < row_offsets[i + 1]; ++at) {
      col_indices[at] = static_cast<Index>(at - row_offsets[i]);
      values[at] = static_cast<float>(1 + at % 3);
    }
  }
  return CsrMatrix(rows, shortest + rows, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

/// Rows of every length from 0 to `rows` - 1, columns scattered.
inline CsrMatrix rows_of_all_lengths(Index rows) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) row_offsets[i + 1] = row_offsets[i] + i;
  const Offset nnz = row_offsets[rows];
  Buffer<Index> col_indices(nnz);
  Buffer<float> values(nnz);
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < i; ++n) {
      col_indices[row_offsets[i] + n] = n * (rows / i) + (i + n) % (rows / i);
      values[row_offsets[i] + n] = 1.0f / static_cast<float>(i + 2 * n + 1);
    }
  }
  return CsrMatrix(rows, rows, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

/// Calls body(name) for every instruction set that the machine has, as the one that kernels take.
template <class Body>
void for_each_isa(const Body& body) {
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::portable}) {
    if (!is_supported(isa)) continue;
    setenv("CSRKIT_CPU_ISA", name_of(isa), 1);
    body(name_of(isa));
  }
  unsetenv("CSRKIT_CPU_ISA");
}

/// Runs of 1, 2, ... 9 rows with the same columns and values of their own, of 1 to 45 entries; the
/// last run is long.
inline CsrMatrix rows_alike(bool has_values) {
  constexpr Index kCols = 200;
  std::vector<Offset> offsets{0};
  std::vector<Index> cols;
  for (Index run = 0; run < 60; ++run) {
    const Index rows = run == 59 ? 40 : run % 9 + 1, length = 1 + run * 7 % 45;
    for (Index i = 0; i < rows; ++i) {
      for (Index n = 0; n < length; ++n) cols.push_back((run * 3 + n * n % 5 + n * 4) % kCols);
      std::sort(cols.end() - length, cols.end());
      cols.erase(std::unique(cols.end() - length, cols.end()), cols.end());
      offsets.push_back(static_cast<Offset>(cols.size()));
    }
  }
  const auto nnz = static_cast<Offset>(cols.size());
  Buffer<Offset> row_offsets(static_cast<Offset>(offsets.size()));
  std::copy(offsets.begin(), offsets.end(), row_offsets.begin());
  Buffer<Index> col_indices(nnz);
  std::copy(cols.begin(), cols.end(), col_indices.begin());
  Buffer<float> values(has_values ? nnz : 0);
  for (Offset at = 0; at < values.size(); ++at) values[at] = 1.0f / static_cast<float>(at % 97 + 3);
  return CsrMatrix(
      static_cast<Index>(offsets.size()) - 1, kCols, std::move(row_offsets), std::move(col_indices),
      has_values ? ValueArray::from(std::move(values)) : ValueArray(ValueKind::none, 0));
}

/// Row i has `length` neighbouring columns; where A has as many columns as rows, those from i on.
inline CsrMatrix band(Index rows, Index cols, Index length) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < length; ++n) {
      col_indices[Offset{i} * length + n] = i % (cols - length + 1) + n;
    }
  }
  return {rows, cols, std::move(row_offsets), std::move(col_indices),
          ValueArray(ValueKind::none, Offset{rows} * length)};
}

/// Rows of `length` columns all over.
inline CsrMatrix rows_all_over(Index rows, Index length) {
  const Index step = rows / length;
  Buffer<Offset> row_offsets(rows + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < length; ++n) {
      col_indices[Offset{i} * length + n] = i * 7 % step + n * step;
    }
  }
  return CsrMatrix(rows, rows, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, Offset{rows} * length));
}

/// Every row has one column of each `length`-th part of them, anywhere in it.
inline CsrMatrix rows_of_a_few_columns(Index rows, Index cols, Index length) {
  const Index step = cols / length;
  Buffer<Offset> row_offsets(rows + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  std::uint32_t random = 1;
  for (Offset at = 0; at < col_indices.size(); ++at) {
    random = random * 1664525u + 1013904223u;
    col_indices[at] =
        static_cast<Index>(at % length) * step + static_cast<Index>(random >> 8) % step;
  }
  return CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, Offset{rows} * length));
}

}  // namespace csrkit::cpu
