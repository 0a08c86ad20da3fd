#include "core/base/value_kind.h"

#include <cmath>
#include <limits>

#include "core/base/suggestion.h"

namespace csrkit {

const char* name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return "none";
    case ValueKind::f32: return "f32";
    case ValueKind::f64: return "f64";
    case ValueKind::f16: return "f16";
    case ValueKind::bf16: return "bf16";
  }
  return "?";
}

ValueKind parse_value_kind(const std::string& name) {
  for (const ValueKind kind :
       {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    if (name == name_of(kind)) return kind;
  }
  throw UsageError("'" + name + "' is no value kind; use none, f32, f64, f16 or bf16" +
                   did_you_mean(name, "none, f32, f64, f16, bf16"));
}

double unit_roundoff(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return 0;
    case ValueKind::f32: return 0x1p-24;
    case ValueKind::f64: return 0x1p-53;
    case ValueKind::f16: return 0x1p-11;
    case ValueKind::bf16: return 0x1p-8;
  }
  return 0;
}

double largest_finite(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return 1;
    case ValueKind::f32: return std::numeric_limits<float>::max();
    case ValueKind::f64: return std::numeric_limits<double>::max();
    case ValueKind::f16: return 65504.0;
    case ValueKind::bf16: return 0x1.fep127;
  }
  return 0;
}

double smallest_positive(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return 1;
    case ValueKind::f32: return 0x1p-149;
    case ValueKind::f64: return 0x1p-1074;
    case ValueKind::f16: return 0x1p-24;
    case ValueKind::bf16: return 0x1p-133;
  }
  return 0;
}

float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (!std::isfinite(value) || static_cast<double>(nearest) == value) return nearest;
  // Inexact: of the two floats around `value` take the one whose last bit is 1.
  float toward_zero = nearest;
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) {
    toward_zero = std::nextafter(nearest, 0.0f);
  }
  return detail::float_of(detail::bits_of(toward_zero) | 1u);
}

}  // namespace csrkit
