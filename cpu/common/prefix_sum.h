// Running sums by all threads.
#pragma once

#include <omp.h>

#include <vector>

#include "core/base/types.h"

namespace csrkit::cpu {

/// sums[i] = value(0) + ... + value(i) for i below `count`. `value(i)` is called twice, and may
/// read sums[i] as it was before.
template <class Value>
void inclusive_sums(Index count, int threads, const Value& value, Offset* sums) {
  constexpr Index kWorthATeam = 1 << 14;
  const int team = count < kWorthATeam ? 1 : threads;
  std::vector<Offset> before(static_cast<std::size_t>(team) + 1);
#pragma omp parallel num_threads(team)
  {
    // The team may be smaller than asked for, so there are as many parts as threads.
    const int parts = omp_get_num_threads(), part = omp_get_thread_num();
    const auto bound = [&](int p) { return static_cast<Index>(Offset{count} * p / parts); };
    Offset sum = 0;
    for (Index i = bound(part); i < bound(part + 1); ++i) sum += value(i);
    before[static_cast<std::size_t>(part) + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (int p = 1; p <= parts; ++p) {
      before[static_cast<std::size_t>(p)] += before[static_cast<std::size_t>(p) - 1];
    }
    sum = before[static_cast<std::size_t>(part)];
    for (Index i = bound(part); i < bound(part + 1); ++i) {
      sum += value(i);
      sums[i] = sum;
    }
  }
}

}  // namespace csrkit::cpu
