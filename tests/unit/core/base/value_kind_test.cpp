#include "core/base/value_kind.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/hash.h"

namespace csrkit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The value of a 16-bit pattern, from the definition of the format.
double decode(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent_bits = 15 - fraction_bits;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const double fraction = std::ldexp(bits & ((1 << fraction_bits) - 1), -fraction_bits);
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * kInfinity : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

template <class Half>
double decode(Half half) {
  return std::is_same_v<Half, f16> ? decode(half.bits, 10, 15) : decode(half.bits, 7, 127);
}

template <class Half>
class HalfTest : public ::testing::Test {};
using Halves = ::testing::Types<f16, bf16>;
TYPED_TEST_SUITE(HalfTest, Halves);

TYPED_TEST(HalfTest, EveryPatternMeansWhatTheFormatSays) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const TypeParam half{static_cast<std::uint16_t>(bits)};
    const double wanted = decode(half);
    const double found = to_float(half);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(found)) << bits;
      EXPECT_TRUE(std::isnan(decode(store_as<TypeParam>(found)))) << bits;
    } else {
      ASSERT_EQ(found, wanted) << bits;
      ASSERT_EQ(std::signbit(found), std::signbit(wanted)) << bits;
      ASSERT_EQ(store_as<TypeParam>(found).bits, bits);
    }
  }
}

/// Between two neighbours a < b: below the middle goes to a, above to b, the middle to the even
/// one. Doubles just beside the middle show whether the way through float rounds twice.
TYPED_TEST(HalfTest, RoundsOnceToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7fff; ++bits) {
    const TypeParam low{static_cast<std::uint16_t>(bits)},
        high{static_cast<std::uint16_t>(bits + 1)};
    if (!std::isfinite(decode(high))) {
      if (!std::isfinite(decode(low))) break;
      const double step = decode(low) - decode(TypeParam{static_cast<std::uint16_t>(bits - 1)});
      const double overflow = decode(low) + step / 2;
      EXPECT_EQ(store_as<TypeParam>(std::nextafter(overflow, 0)).bits, low.bits);
      EXPECT_EQ(store_as<TypeParam>(overflow).bits, high.bits);
      EXPECT_EQ(store_as<TypeParam>(1e300).bits, high.bits);
      EXPECT_EQ(store_as<TypeParam>(kInfinity).bits, high.bits);
      break;
    }
    const double middle = (decode(low) + decode(high)) / 2;
    const std::uint16_t even = bits % 2 == 0 ? low.bits : high.bits;
    for (const double sign : {1.0, -1.0}) {
      const std::uint16_t sign_bit = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(store_as<TypeParam>(sign * middle).bits, even | sign_bit) << bits;
      ASSERT_EQ(store_as<TypeParam>(sign * std::nextafter(middle, 0)).bits, low.bits | sign_bit)
          << bits;
      ASSERT_EQ(store_as<TypeParam>(sign * std::nextafter(middle, kInfinity)).bits,
                high.bits | sign_bit)
          << bits;
    }
  }
}

TYPED_TEST(HalfTest, TheLimitsOfTheKindAreThoseOfTheType) {
  constexpr ValueKind kind = kValueKindOf<TypeParam>;
  const std::uint16_t infinity = store_as<TypeParam>(kInfinity).bits;
  EXPECT_EQ(largest_finite(kind), decode(TypeParam{static_cast<std::uint16_t>(infinity - 1)}));
  EXPECT_EQ(smallest_positive(kind), decode(TypeParam{1}));
  const std::uint16_t one = store_as<TypeParam>(1).bits;
  EXPECT_EQ(2 * unit_roundoff(kind), decode(TypeParam{static_cast<std::uint16_t>(one + 1)}) - 1);
}

TEST(ValueKind, LimitsOfFloatAndDouble) {
  EXPECT_EQ(largest_finite(ValueKind::f32), std::numeric_limits<float>::max());
  EXPECT_EQ(smallest_positive(ValueKind::f32), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(smallest_positive(ValueKind::f64), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(2 * unit_roundoff(ValueKind::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(2 * unit_roundoff(ValueKind::f64), std::numeric_limits<double>::epsilon());
}

TEST(ValueKind, NumbersOfTheFileFormatNeverChange) {
  EXPECT_EQ(static_cast<int>(ValueKind::none), 0);
  EXPECT_EQ(static_cast<int>(ValueKind::f32), 1);
  EXPECT_EQ(static_cast<int>(ValueKind::f64), 2);
  EXPECT_EQ(static_cast<int>(ValueKind::f16), 3);
  EXPECT_EQ(static_cast<int>(ValueKind::bf16), 4);
}

TEST(ValueKind, NamesAndSizes) {
  const int sizes[] = {0, 4, 8, 2, 2};
  for (int i = 0; i < 5; ++i) {
    const auto kind = static_cast<ValueKind>(i);
    EXPECT_EQ(parse_value_kind(name_of(kind)), kind);
    EXPECT_EQ(size_of(kind), sizes[i]);
    const int size_of_type = with_value_type(kind, [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(kValueKindOf<T>, kind);
      return std::is_same_v<T, ImplicitOne> ? 0 : static_cast<int>(sizeof(T));
    });
    EXPECT_EQ(size_of_type, sizes[i]);
  }
  for (const char* name : {"", "F32", "float", "f128"})
    EXPECT_THROW(parse_value_kind(name), UsageError);
  EXPECT_THROW(with_value_type(static_cast<ValueKind>(9), [](auto) {}), UsageError);
}

TEST(ValueArray, KnowsItsKind) {
  ValueArray none(ValueKind::none, 7);
  EXPECT_EQ(none.size(), 7);
  Buffer<float> floats(2);
  floats[0] = 1, floats[1] = 2;
  const ValueArray array = ValueArray::from(std::move(floats));
  EXPECT_EQ(array.kind(), ValueKind::f32);
  EXPECT_EQ(array.as<float>()[1], 2);
}

TEST(Hash, IsAFunctionOfItsArguments) {
  // Fixed for ever: generated matrices and random operands depend on them.
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafull);  // first output of splitmix64 with seed 0
  EXPECT_EQ(random_word(1, 2, 3), random_word(1, 2, 3));
  EXPECT_NE(random_word(1, 2, 3), random_word(1, 3, 2));
  EXPECT_NE(random_word(1, 2, 3), random_word(2, 2, 3));
  RandomStream one(5), two(5);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one.next(), two.next());
}

TEST(Hash, RangesAreKeptAndFilled) {
  EXPECT_EQ(unit_of(0), 0);
  EXPECT_LT(unit_of(~std::uint64_t{0}), 1);
  EXPECT_EQ(below(~std::uint64_t{0}, 10), 9u);
  EXPECT_EQ(below(0, 10), 0u);
  int counts[10] = {};
  double sum = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    ++counts[below(random_word(7, i), 10)];
    const double value = random_value(7, i);
    EXPECT_TRUE(value >= -1 && value < 1);
    EXPECT_EQ(static_cast<double>(static_cast<float>(value)), value);
    sum += value;
  }
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);  // 5 standard deviations
  EXPECT_LT(std::fabs(sum), 1000);
}

}  // namespace
}  // namespace csrkit
