#include "tools/forecast/slurm_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace csrkit {

std::string slurm_time(double seconds) {
  constexpr double kSecondsPerMinute = 60, kMostMinutes = INT32_MAX;
  const double minutes = std::min(std::ceil(2 * seconds / kSecondsPerMinute) + 1, kMostMinutes);
  return "#SBATCH --time=" + std::to_string(static_cast<std::int64_t>(minutes));
}

}  // namespace csrkit
