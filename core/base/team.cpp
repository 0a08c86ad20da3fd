#include "core/base/team.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>

namespace csrkit {

namespace {

// A child of fork has none of its parent's threads, and libgomp would wait for them for ever. The
// forking thread ends its team first; parent and child start new ones when they need them.
[[maybe_unused]] const int before_fork =
    pthread_atfork([] { omp_pause_resource_all(omp_pause_soft); }, nullptr, nullptr);

}  // namespace

void limit_teams() {
  if (omp_get_max_threads() > kMaxThreads) omp_set_num_threads(kMaxThreads);
}

int team_size(int threads) { return threads > 0 ? threads : std::max(1, omp_get_max_threads()); }

int team_for(std::int64_t steps, int threads) {
  constexpr std::int64_t kWorthATeam = 1 << 12;
  return steps < kWorthATeam ? 1 : team_size(threads);
}

}  // namespace csrkit
