#include "core/matrix/overflow.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/counted.h"
#include "core/base/team.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

struct Lost {
  Offset count = 0, first = 0;
};

bool becomes_infinite(double value, double stored) {
  return std::isfinite(value) && !std::isfinite(stored);
}

bool becomes_zero(double value, double stored) { return stored == 0 && value != 0; }

/// Of the positions 0 to size - 1: those whose value is lost as `is_lost(value, stored)` says.
template <class IsLost, class ValueAt>
Lost find_lost(ValueKind to, Offset size, int threads, IsLost is_lost, ValueAt value_at) {
  Lost found{0, size};
  with_value_type(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<To, ImplicitOne>) {
      Offset count = 0, first = size;
#pragma omp parallel for schedule(static) num_threads(team_for(size, threads)) \
    reduction(+ : count) reduction(min : first)
      for (Offset at = 0; at < size; ++at) {
        const double value = value_at(at);
        if (!is_lost(value, load_as<double>(store_as<To>(value)))) continue;
        ++count;
        first = std::min(first, at);
      }
      found = {count, first};
    }
  });
  return found;
}

bool can_overflow(ValueKind from, ValueKind to) {
  return to != ValueKind::none && largest_finite(to) < largest_finite(from);
}

bool can_underflow(ValueKind from, ValueKind to) {
  return to != ValueKind::none &&
         (size_of(to) < size_of(from) || (from == ValueKind::bf16 && to == ValueKind::f16));
}

std::string place_of(double value, Offset row, Offset col) {
  return rounded(value) + " in row " + std::to_string(row) + ", column " + std::to_string(col) +
         " (counted from 0)";
}

std::string place_of(const CsrMatrix& matrix, Offset at) {
  return place_of(matrix, at,
                  matrix.visit([&](const auto& a) { return a.template value_as<double>(at); }));
}

template <class IsLost>
Lost lost_in(const CsrMatrix& matrix, ValueKind kind, int threads, IsLost is_lost) {
  return matrix.visit([&](const auto& a) {
    return find_lost(kind, matrix.nnz(), threads, is_lost,
                     [&](Offset at) { return a.template value_as<double>(at); });
  });
}

double value_at(const ConstDenseView& dense, Offset at) {
  return dense.at(static_cast<Index>(at / dense.cols), static_cast<Index>(at % dense.cols));
}

std::string place_of(const ConstDenseView& dense, Offset at) {
  return place_of(value_at(dense, at), at / dense.cols, at % dense.cols);
}

template <class IsLost>
Lost lost_in(const ConstDenseView& dense, ValueKind kind, int threads, IsLost is_lost) {
  return find_lost(kind, Offset{dense.rows} * dense.cols, threads, is_lost,
                   [&](Offset at) { return value_at(dense, at); });
}

template <class Matrix>
std::string overflow_from(ValueKind from, const Matrix& matrix, ValueKind kind, int threads) {
  if (!can_overflow(from, kind)) return {};
  const Lost found = lost_in(matrix, kind, threads, becomes_infinite);
  if (found.count == 0) return {};
  return counted(found.count, "value") + " beyond the range of " + name_of(kind) + ", the first " +
         place_of(matrix, found.first);
}

template <class Matrix>
Underflow underflow_from(ValueKind from, const Matrix& matrix, ValueKind kind, int threads) {
  if (!can_underflow(from, kind)) return {};
  const Lost found = lost_in(matrix, kind, threads, becomes_zero);
  if (found.count == 0) return {};
  return {found.count, place_of(matrix, found.first)};
}

}  // namespace

std::string overflow_in(const CsrMatrix& matrix, ValueKind kind, int threads) {
  return overflow_from(matrix.value_kind(), matrix, kind, threads);
}

std::string overflow_in(ConstDenseView dense, ValueKind kind, int threads) {
  return overflow_from(dense.kind, dense, kind, threads);
}

Underflow underflow_in(const CsrMatrix& matrix, ValueKind kind, int threads) {
  return underflow_from(matrix.value_kind(), matrix, kind, threads);
}

Underflow underflow_in(ConstDenseView dense, ValueKind kind, int threads) {
  return underflow_from(dense.kind, dense, kind, threads);
}

std::string place_of(const CsrMatrix& matrix, Offset at, double value) {
  const Offset* const begin = matrix.row_offsets();
  const Offset* const end = begin + matrix.rows() + 1;
  return place_of(value, std::upper_bound(begin, end, at) - begin - 1, matrix.col_indices()[at]);
}

std::string text_of(const Underflow& underflow, ValueKind kind) {
  if (underflow.count == 0) return {};
  return counted(underflow.count, "value") + " too small for " + name_of(kind) + ", the first " +
         underflow.first;
}

}  // namespace csrkit
