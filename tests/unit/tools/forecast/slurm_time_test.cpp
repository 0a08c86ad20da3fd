#include "tools/forecast/slurm_time.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(SlurmTime, IsTwiceTheForecastAndAMinute) {
  EXPECT_EQ(slurm_time(0), "#SBATCH --time=1");
  EXPECT_EQ(slurm_time(1), "#SBATCH --time=2");
  EXPECT_EQ(slurm_time(600), "#SBATCH --time=21");
}

TEST(SlurmTime, FitsInto32Bits) {
  for (const double seconds : {1e12, 1e300}) {
    EXPECT_EQ(slurm_time(seconds), "#SBATCH --time=2147483647");
  }
}

}  // namespace
}  // namespace csrkit
