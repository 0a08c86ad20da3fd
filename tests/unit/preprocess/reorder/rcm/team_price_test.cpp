#include "preprocess/reorder/rcm/team_price.h"

#include <gtest/gtest.h>

namespace csrkit::reorder {
namespace {

constexpr double kSteps = 1e6;  // a millisecond, until it is known better

TEST(TeamPrice, SmallPiecesAndSingleThreadsHaveNoTeam) {
  EXPECT_FALSE(TeamPrice(16).pays(10000));
  EXPECT_TRUE(TeamPrice(16).pays(kSteps));
  EXPECT_FALSE(TeamPrice(1).pays(kSteps));
}

TEST(TeamPrice, ATeamThatCostsMoreThanItSavesIsNotAskedAgain) {
  TeamPrice price(2);
  price.took(kSteps, 20e-3, true);
  EXPECT_FALSE(price.pays(kSteps));
  EXPECT_TRUE(price.pays(100 * kSteps));  // saves 50 ms
}

TEST(TeamPrice, ATeamThatIsFastIsAskedAgain) {
  TeamPrice price(2);
  price.took(kSteps, 0.51e-3, true);
  EXPECT_TRUE(price.pays(kSteps));
}

TEST(TeamPrice, AMomentsTroubleIsTriedAgain) {
  TeamPrice price(2);
  price.took(kSteps, 20e-3, true);
  int declined = 0;
  while (!price.pays(kSteps)) ASSERT_LT(++declined, 100);
  EXPECT_GT(declined, 10);
}

TEST(TeamPrice, KnowsHowLongAStepTakes) {
  TeamPrice price(2);
  price.took(kSteps, 4.5e-3, true);
  EXPECT_FALSE(price.pays(kSteps));
  for (int n = 0; n < 3; ++n) price.took(kSteps, 20e-3, false);  // 20 ns, not one
  EXPECT_TRUE(price.pays(kSteps));
}

}  // namespace
}  // namespace csrkit::reorder
