// How many threads a parallel loop uses: one rule, passed down instead of asked for again.
#pragma once

#include <cstdint>

namespace csrkit {

/// The largest number of threads that a tool accepts.
inline constexpr int kMaxThreads = 4096;

/// Limits all later teams of this thread to kMaxThreads. OMP_NUM_THREADS accepts any number, but
/// libgomp runs out of stack when it starts about 80,000 threads.
void limit_teams();

/// The number of threads that `threads` stands for: itself if it is above 0, else what OpenMP was
/// told (OMP_NUM_THREADS, or the processors this process may use). At least 1.
int team_size(int threads);

/// As team_size, but 1 where a loop takes so few short steps that starting a team costs more than
/// it saves.
int team_for(std::int64_t steps, int threads);

}  // namespace csrkit
