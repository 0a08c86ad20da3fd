#include "core/contract/semiring.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Semiring, NamesRoundTripAndRefuse) {
  for (const Semiring semiring :
       {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    EXPECT_EQ(parse_semiring(name_of(semiring)), semiring);
  }
  EXPECT_THROW(parse_semiring("plus"), UsageError);
}

template <Semiring kSemiring>
double dot(std::initializer_list<std::pair<double, double>> terms) {
  using Arithmetic = SemiringArithmetic<kSemiring, double>;
  double sum = Arithmetic::empty_sum();
  for (const auto& [x, y] : terms) sum = Arithmetic::add_product(sum, x, y);
  return sum;
}

TEST(SemiringArithmetic, EmptySums) {
  EXPECT_EQ(dot<Semiring::plus_times>({}), 0);
  EXPECT_EQ(dot<Semiring::min_plus>({}), kInfinity);
  EXPECT_EQ(dot<Semiring::max_times>({}), -kInfinity);
  EXPECT_EQ(dot<Semiring::or_and>({}), 0);
}

TEST(SemiringArithmetic, Products) {
  EXPECT_EQ(dot<Semiring::plus_times>({{2, 3}, {-1, 4}}), 2);
  EXPECT_EQ(dot<Semiring::min_plus>({{2, 3}, {-1, 4}}), 3);
  EXPECT_EQ(dot<Semiring::max_times>({{2, 3}, {-1, 4}}), 6);
  EXPECT_EQ(dot<Semiring::or_and>({{2, 0}, {0, 4}}), 0);
  EXPECT_EQ(dot<Semiring::or_and>({{2, 0}, {0.5, 4}}), 1);
}

TEST(SemiringArithmetic, ANanStaysWhereverItComes) {
  EXPECT_TRUE(std::isnan(dot<Semiring::plus_times>({{1, 1}, {kNan, 1}, {1, 1}})));
  EXPECT_TRUE(std::isnan(dot<Semiring::min_plus>({{1, 1}, {kNan, 1}, {-9, 1}})));
  EXPECT_TRUE(std::isnan(dot<Semiring::max_times>({{1, 1}, {1, kNan}, {9, 9}})));
}

}  // namespace
}  // namespace csrkit
