#include "core/matrix/overflow.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "core/base/counted.h"
#include "core/base/team.h"

namespace csrkit {

namespace {

struct Overflow {
  Offset count = 0, first = 0;
};

/// Of the positions 0 to size - 1 of a matrix of kind `from`.
template <class ValueAt>
Overflow find_overflow(ValueKind from, ValueKind to, Offset size, int threads, ValueAt value_at) {
  Overflow found{0, size};
  if (to == ValueKind::none || largest_finite(to) >= largest_finite(from)) return found;
  with_value_type(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<To, ImplicitOne>) {
      Offset count = 0, first = size;
#pragma omp parallel for schedule(static) num_threads(team_for(size, threads)) \
    reduction(+ : count) reduction(min : first)
      for (Offset at = 0; at < size; ++at) {
        const double value = value_at(at);
        if (!std::isfinite(value) || std::isfinite(load_as<double>(store_as<To>(value)))) continue;
        ++count;
        first = std::min(first, at);
      }
      found = {count, first};
    }
  });
  return found;
}

std::string text_of(Offset count, ValueKind kind, Offset row, Offset col, double value) {
  char number[32];
  std::snprintf(number, sizeof number, "%.6g", value);
  return counted(count, "value") + " beyond the range of " + name_of(kind) + ", the first " +
         number + " in row " + std::to_string(row) + ", column " + std::to_string(col) +
         " (counted from 0)";
}

}  // namespace

std::string overflow_in(const CsrMatrix& matrix, ValueKind kind, int threads) {
  return matrix.visit([&](const auto& a) -> std::string {
    const auto value_at = [&](Offset at) { return a.template value_as<double>(at); };
    const Overflow found =
        find_overflow(matrix.value_kind(), kind, matrix.nnz(), threads, value_at);
    if (found.count == 0) return {};
    const Offset* const end = a.row_offsets + a.rows + 1;
    const Offset row = std::upper_bound(a.row_offsets, end, found.first) - a.row_offsets - 1;
    return text_of(found.count, kind, row, a.col_indices[found.first], value_at(found.first));
  });
}

std::string overflow_in(ConstDenseView dense, ValueKind kind, int threads) {
  const auto value_at = [&](Offset at) {
    return dense.at(static_cast<Index>(at / dense.cols), static_cast<Index>(at % dense.cols));
  };
  const Overflow found =
      find_overflow(dense.kind, kind, Offset{dense.rows} * dense.cols, threads, value_at);
  if (found.count == 0) return {};
  return text_of(found.count, kind, found.first / dense.cols, found.first % dense.cols,
                 value_at(found.first));
}

}  // namespace csrkit
