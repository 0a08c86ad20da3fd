#include "core/matrix/sort/merge_repeats.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/base/huge_pages.h"
#include "core/base/lower_to.h"
#include "core/base/suggestion.h"
#include "core/matrix/sort/sort_entries.h"

namespace csrkit {

namespace {

[[noreturn]] void refuse_duplicate(const Buffer<Offset>& offsets, const Buffer<Index>& cols,
                                   Index rows, const std::string& where) {
  for (Index row = 0; row < rows; ++row) {
    for (Offset at = offsets[row] + 1; at < offsets[row + 1]; ++at) {
      if (cols[at] != cols[at - 1]) continue;
      throw InputError(where + ": expected every entry once, found row " + std::to_string(row) +
                       ", column " + std::to_string(cols[at]) +
                       " (counted from 0) more than once; --duplicates=sum adds such entries up, "
                       "--duplicates=first keeps the first");
    }
  }
  throw Error(where + ": a duplicate was counted but is not there");
}

[[noreturn]] void refuse_sum(const CooMatrix& coo, const Buffer<Offset>& offsets, Offset at,
                             const std::string& where) {
  const Offset* const row = std::upper_bound(offsets.begin(), offsets.end(), at) - 1;
  const ValueKind kind = coo.values.kind();
  throw InputError(where + ": expected sums of duplicates within the range of " + name_of(kind) +
                   ", found a larger one in row " + std::to_string(row - offsets.begin()) +
                   ", column " + std::to_string(coo.col_indices[at]) + " (counted from 0); " +
                   (kind == ValueKind::f64 ? "" : "a wider --value-kind may hold it, ") +
                   "--duplicates=first keeps the first");
}

/// The sum of values[begin, end), rounded once; no finite number where it is too large.
template <class Value>
Value sum_of(const Value* values, Offset begin, Offset end, bool* overflows) {
  double sum = 0;
  bool is_finite = true;
  for (Offset at = begin; at < end; ++at) {
    const double value = load_as<double>(values[at]);
    is_finite = is_finite && std::isfinite(value);
    sum += value;
  }
  const Value stored = store_as<Value>(sum);
  *overflows = is_finite && !std::isfinite(load_as<double>(stored));
  return stored;
}

template <class Value>
CsrMatrix merge_typed(const CooMatrix& coo, const Buffer<Offset>& offsets, bool add,
                      const std::string& where) {
  constexpr bool kHasValue = !std::is_same_v<Value, ImplicitOne>;
  const Index rows = coo.rows;
  const Offset nnz = offsets[rows];
  const Index* cols = coo.col_indices.data();
  Buffer<Offset> merged_offsets(Offset{rows} + 1);
  merged_offsets[0] = 0;
#pragma omp parallel for schedule(dynamic, 512) num_threads(sort_threads_for(nnz))
  for (Index row = 0; row < rows; ++row) {
    Offset unique = 0;
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      unique += at == offsets[row] || cols[at] != cols[at - 1];
    }
    merged_offsets[row + 1] = unique;
  }
  for (Index row = 0; row < rows; ++row) merged_offsets[row + 1] += merged_offsets[row];

  Buffer<Index> merged_cols(merged_offsets[rows]);
  ValueArray merged_values(coo.values.kind(), merged_offsets[rows]);
  advise_huge_pages(merged_cols.data(), merged_cols.size_bytes());
  advise_huge_pages(merged_values.data(),
                    static_cast<std::size_t>(merged_offsets[rows] * size_of(coo.values.kind())));
  std::atomic<Offset> too_large{nnz};  // where the first such sum begins
#pragma omp parallel for schedule(dynamic, 512) num_threads(sort_threads_for(nnz))
  for (Index row = 0; row < rows; ++row) {
    Offset to = merged_offsets[row];
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++to) {
      Offset end = at + 1;
      while (end < offsets[row + 1] && cols[end] == cols[at]) ++end;
      merged_cols[to] = cols[at];
      if constexpr (kHasValue) {
        const Value* values = coo.values.as<Value>();
        Value merged = values[at];
        if (add && end > at + 1) {
          bool overflows = false;
          merged = sum_of(values, at, end, &overflows);
          if (overflows) lower_to(too_large, at);
        }
        merged_values.template as<Value>()[to] = merged;
      }
      at = end;
    }
  }
  if (too_large < nnz) refuse_sum(coo, offsets, too_large, where);
  return CsrMatrix(rows, coo.cols, std::move(merged_offsets), std::move(merged_cols),
                   std::move(merged_values));
}

}  // namespace

Duplicates parse_duplicates(const std::string& name) {
  if (name == "sum") return Duplicates::sum;
  if (name == "first") return Duplicates::first;
  if (name == "error") return Duplicates::error;
  throw UsageError("unknown treatment of duplicates \"" + name +
                   "\"; there are: sum, first, error" + did_you_mean(name, "sum, first, error"));
}

CsrMatrix merge_repeats(const CooMatrix& coo, const Buffer<Offset>& offsets, Duplicates duplicates,
                        const std::string& where) {
  if (duplicates == Duplicates::error) refuse_duplicate(offsets, coo.col_indices, coo.rows, where);
  return with_value_type(coo.values.kind(), [&](auto tag) {
    return merge_typed<typename decltype(tag)::type>(coo, offsets, duplicates == Duplicates::sum,
                                                     where);
  });
}

}  // namespace csrkit
