#include "tools/probe/steady.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace csrkit {
namespace {

const Samples kQuiet{{1.0, 1.0, 1.1, 1.2}};
const Samples kNoisy{{1.0, 1.0, 2.44, 2.44}};  // quartiles 1 and 2.44, median 1.72

/// Measurements one after the other; the last one again and again.
struct Machine {
  std::vector<Samples> measurements;
  int taken = 0;

  Samples take() {
    const auto at = static_cast<std::size_t>(taken++);
    return at < measurements.size() ? measurements[at] : measurements.back();
  }
  Samples steady(double max_spread) {
    return steady_samples("rows of 16 reads", max_spread, [&] { return take(); });
  }
};

TEST(SteadySamples, TakesWhatIsSteadyAtOnce) {
  Machine machine{{kQuiet, kNoisy}};
  EXPECT_EQ(machine.steady(0.5).seconds, kQuiet.seconds);
  EXPECT_EQ(machine.taken, 1);
}

TEST(SteadySamples, MeasuresAgainWhatIsNot) {
  Machine machine{{kNoisy, kNoisy, kQuiet}};
  EXPECT_EQ(machine.steady(0.5).seconds, kQuiet.seconds);
  EXPECT_EQ(machine.taken, 3);
}

TEST(SteadySamples, TheLimitIsTheCallers) {
  Machine machine{{kNoisy}};
  EXPECT_EQ(machine.steady(1).seconds, kNoisy.seconds);
  EXPECT_EQ(machine.taken, 1);
}

TEST(SteadySamples, RefusesWithNameSpreadAndAdviceAfterABound) {
  Machine machine{{Samples{{1, 1, 4, 4}}, kNoisy}};
  try {
    machine.steady(0.5);
    FAIL() << "accepted";
  } catch (const VerifyError& error) {
    const std::string said = error.what();
    for (const char* part : {"rows of 16 reads", "84 % of the median", "10 measurements",
                             "at most 50 %", "idle machine", "--max-spread"}) {
      EXPECT_NE(said.find(part), std::string::npos) << said;
    }
  }
  EXPECT_EQ(machine.taken, kMostMeasurements);
}

}  // namespace
}  // namespace csrkit
