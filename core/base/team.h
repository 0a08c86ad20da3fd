// How many threads a parallel loop uses: one rule, passed down instead of asked for again.
#pragma once

#include <cstdint>

namespace csrkit {

/// The most threads that a tool is asked for.
inline constexpr int kMaxThreads = 4096;

/// OMP_NUM_THREADS takes any number, but libgomp runs out of stack where it starts some 80,000:
/// teams of this thread have at most kMaxThreads from here on.
void limit_teams();

/// The number of threads that `threads` stands for: itself if it is above 0, else what OpenMP was
/// told (OMP_NUM_THREADS, or the processors this process may use). At least 1.
int team_size(int threads);

/// As team_size, but 1 where a loop takes so few short steps that starting a team costs more than
/// it saves.
int team_for(std::int64_t steps, int threads);

}  // namespace csrkit
