// The only place that names integer widths.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/error.h"

namespace csrkit {

/// A row or column number. 32 bits everywhere: a matrix has at most 2^31 - 1 rows or columns.
using Index = std::int32_t;

/// A position in `col_indices` or `values`. 64 bits everywhere: nnz may exceed 2^31.
using Offset = std::int64_t;

inline constexpr Offset kMaxIndex = std::numeric_limits<Index>::max();

template <class T>
constexpr bool is_negative(T value) {
  if constexpr (std::is_signed_v<T>) return value < 0;
  return false;
}

/// Narrows an integer, or throws `ErrorType` naming `what` and the value that did not fit.
template <class To, class ErrorType = InputError, class From>
To checked_cast(From value, const char* what) {
  static_assert(std::is_integral_v<To> && std::is_integral_v<From>, "checked_cast is for integers");
  const To narrowed = static_cast<To>(value);
  const bool sign_kept = is_negative(narrowed) == is_negative(value);
  if (static_cast<From>(narrowed) != value || !sign_kept) {
    throw ErrorType(std::string(what) + " is " + std::to_string(value) +
                    ", which does not fit the " + std::to_string(8 * sizeof(To)) +
                    "-bit integer used here");
  }
  return narrowed;
}

}  // namespace csrkit
