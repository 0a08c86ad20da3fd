// What the function of every method gets.
#pragma once

#include "core/base/parameters.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit::reorder {

struct MethodRequest {
  const Parameters& parameters;
  std::uint64_t seed;
  const ProgressCallback& progress;
};

}  // namespace csrkit::reorder
