// The kinds of numbers a matrix can hold, and the one bridge from the kind known at run time to the
// type known at compile time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/types.h"

namespace csrkit {

/// The numeric values are those of the file format; never renumber.
enum class ValueKind : std::uint8_t { none = 0, f32 = 1, f64 = 2, f16 = 3, bf16 = 4 };

/// The value type of a matrix without stored values: every entry is 1.
struct ImplicitOne {};

/// "none", "f32", "f64", "f16", "bf16".
const char* name_of(ValueKind kind);

/// Inverse of `name_of`; throws UsageError that lists the names.
ValueKind parse_value_kind(const std::string& name);

/// Bytes of one stored value; 0 for none.
inline int size_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return 0;
    case ValueKind::f32: return 4;
    case ValueKind::f64: return 8;
    case ValueKind::f16: return 2;
    case ValueKind::bf16: return 2;
  }
  return 0;
}

/// Unit roundoff u = 2^-p, p the number of significand bits; the largest finite number; the
/// smallest positive (subnormal) number. For `none` these are those of an exact 1.
double unit_roundoff(ValueKind kind);
double largest_finite(ValueKind kind);
double smallest_positive(ValueKind kind);

template <class T>
struct TypeTag {
  using type = T;
};

template <class T>
inline constexpr ValueKind kValueKindOf = ValueKind::none;
template <>
inline constexpr ValueKind kValueKindOf<float> = ValueKind::f32;
template <>
inline constexpr ValueKind kValueKindOf<double> = ValueKind::f64;
template <>
inline constexpr ValueKind kValueKindOf<f16> = ValueKind::f16;
template <>
inline constexpr ValueKind kValueKindOf<bf16> = ValueKind::bf16;

/// Calls `f(TypeTag<T>{})` with the type of `kind` and returns its result.
template <class F>
decltype(auto) with_value_type(ValueKind kind, F&& f) {
  switch (kind) {
    case ValueKind::none: return std::forward<F>(f)(TypeTag<ImplicitOne>{});
    case ValueKind::f32: return std::forward<F>(f)(TypeTag<float>{});
    case ValueKind::f64: return std::forward<F>(f)(TypeTag<double>{});
    case ValueKind::f16: return std::forward<F>(f)(TypeTag<f16>{});
    case ValueKind::bf16: return std::forward<F>(f)(TypeTag<bf16>{});
  }
  throw UsageError("unknown value kind " + std::to_string(static_cast<int>(kind)));
}

/// Conversions between stored values and numbers to compute with.
template <class To>
To load_as(float value) {
  return static_cast<To>(value);
}
template <class To>
To load_as(double value) {
  return static_cast<To>(value);
}
template <class To>
To load_as(f16 value) {
  return static_cast<To>(to_float(value));
}
template <class To>
To load_as(bf16 value) {
  return static_cast<To>(to_float(value));
}

/// double -> stored value with one rounding. The detour through float of the 16-bit types is
/// made single by rounding to odd first (Boldo, Melquiond 2008), so ties resolve as if direct.
template <class Stored>
Stored store_as(double value);
template <>
inline float store_as<float>(double value) {
  return static_cast<float>(value);
}
template <>
inline double store_as<double>(double value) {
  return value;
}
/// To f32, an inexact one to the neighbour whose last bit is 1: rounded again to 16 bits, it gives
/// what rounding once does.
float round_to_odd(double value);
template <>
inline f16 store_as<f16>(double value) {
  return to_f16(round_to_odd(value));
}
template <>
inline bf16 store_as<bf16>(double value) {
  return to_bf16(round_to_odd(value));
}

/// An array of values whose kind is known at run time; `none` has a size but no storage.
class ValueArray {
 public:
  ValueArray() = default;
  ValueArray(ValueKind kind, Offset size)
      : kind_(kind), size_(size), bytes_(size * size_of(kind)) {}

  template <class T>
  static ValueArray from(Buffer<T> values) {
    ValueArray array(kValueKindOf<T>, values.size());
    if (values.size() > 0) std::memcpy(array.data(), values.data(), values.size_bytes());
    return array;
  }

  /// Drops the elements from `size` on; their memory stays allocated.
  void truncate(Offset size) {
    size_ = size < size_ ? size : size_;
    bytes_.truncate(size_ * size_of(kind_));
  }

  ValueKind kind() const { return kind_; }
  Offset size() const { return size_; }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }

  /// Typed access; T must match `kind()`.
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes_.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes_.data());
  }

 private:
  ValueKind kind_ = ValueKind::none;
  Offset size_ = 0;
  Buffer<std::byte> bytes_;
};

}  // namespace csrkit
