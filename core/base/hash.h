// Counter-based random numbers: a value is a pure function of what it is for, so that parallel
// generation gives the same bits for any thread count.
#pragma once

#include <cstdint>

namespace csrkit {

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection that mixes all 64 bits.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A random 64-bit word for item (a, b) of stream `seed`.
inline std::uint64_t random_word(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return mix64(mix64(mix64(seed) ^ a) + b);
}

/// Uniform in [0, 1), 53 bits.
inline double unit_of(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

/// Uniform in [-1, 1) on the 24-bit grid, so that it is exact in f32 and f64.
inline double random_value(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return static_cast<double>(random_word(seed, a, b) >> 40) * 0x1p-23 - 1.0;
}

/// Uniform in [0, n) (Lemire 2019, without the rejection step: bias below n / 2^64).
inline std::uint64_t below(std::uint64_t word, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;  // not of C++: else -Wpedantic of a caller warns
  return static_cast<std::uint64_t>((Wide{word} * n) >> 64);
}

/// A sequential generator over the same mixing function.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t item = 0)
      : state_(random_word(seed, item)) {}
  std::uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15ull); }
  double unit() { return unit_of(next()); }
  std::uint64_t below(std::uint64_t n) { return csrkit::below(next(), n); }

 private:
  std::uint64_t state_;
};

}  // namespace csrkit
