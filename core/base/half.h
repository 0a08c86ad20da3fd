// The two 16-bit storage types. Arithmetic is done in float; these only store and convert.
#pragma once

#include <cstdint>
#include <cstring>

namespace csrkit {

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct f16 {
  std::uint16_t bits;
};

/// bfloat16: the upper half of a binary32.
struct bf16 {
  std::uint16_t bits;
};

namespace detail {
inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace detail

inline float to_float(bf16 value) { return detail::float_of(std::uint32_t{value.bits} << 16); }

/// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
inline bf16 to_bf16(float value) {
  const std::uint32_t bits = detail::bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

inline float to_float(f16 value) {
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000u} << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return detail::float_of(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // Shifting the fields into place leaves the exponent 112 too small; one exact multiplication
  // repairs it and normalises subnormals on the way.
  const float scaled = detail::float_of(magnitude << 13) * detail::float_of(0x77800000u);  // 2^112
  return detail::float_of(sign | detail::bits_of(scaled));
}

/// Rounds to nearest, ties to even; overflow gives infinity, a NaN stays a (quiet) NaN.
inline f16 to_f16(float value) {
  const std::uint32_t bits = detail::bits_of(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return {static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
  }
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the subnormal's bits, rounded
    const float shifted = detail::float_of(magnitude) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (detail::bits_of(shifted) - 0x3f000000u))};
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

}  // namespace csrkit
