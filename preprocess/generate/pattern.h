// What the function of every pattern gets.
#pragma once

#include "core/base/parameters.h"
#include "core/base/progress.h"
#include "core/base/value_kind.h"

namespace csrkit {

struct PatternRequest {
  const Parameters& parameters;
  std::uint64_t seed;
  ValueKind value_kind;
  const ProgressCallback& progress;
};

}  // namespace csrkit
