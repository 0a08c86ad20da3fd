// What the function of every pattern gets.
#pragma once

#include "core/base/parameters.h"
#include "core/base/progress.h"
#include "core/base/value_kind.h"

namespace csrkit {

struct PatternRequest {
  const Parameters& parameters;
  std::uint64_t seed;
  bool seed_is_given;
  ValueKind value_kind;
  const ProgressCallback& progress;

  /// Throws UsageError if a seed is given and nothing `is_random`.
  void require_random(bool is_random) const {
    if (!seed_is_given || is_random) return;
    parameters.refuse_all("a seed has no effect, as nothing is random here; leave it out");
  }
  /// The same for entries that are fixed, with random values.
  void require_random_values() const { require_random(value_kind != ValueKind::none); }
};

}  // namespace csrkit
