// Cutting a whole into parts that differ by at most 1.
#pragma once

#include "core/base/types.h"

namespace csrkit {

/// whole * part / parts, rounded down, without overflow for part <= parts < 2^31.
inline Offset share_of(Offset whole, Offset part, Offset parts) {
  return whole / parts * part + whole % parts * part / parts;
}

}  // namespace csrkit
