// The distinct values of a matrix, where they are few: each has a code of 8 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace csrkit::cpu::spmv {

/// The bits of a value: 0.0 and -0.0 differ, and a NaN is equal to itself.
template <class A>
std::uint64_t bits_of(const A& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// At most 256 distinct bit patterns, found by hashing.
class ValueTable {
 public:
  static constexpr int kMost = 256;

  /// False, and for ever after, if it is one too many.
  bool insert(std::uint64_t bits) {
    if (!is_small_) return false;
    const std::size_t slot = slot_of(bits);
    if (place_[slot] >= 0) return true;
    if (count_ == kMost) return is_small_ = false;
    place_[slot] = static_cast<std::int16_t>(count_);
    patterns_[static_cast<std::size_t>(count_++)] = bits;
    return true;
  }

  /// The union, in an order that does not depend on who was first.
  void merge(const ValueTable& other) {
    is_small_ = is_small_ && other.is_small_;
    for (int n = 0; n < other.count_; ++n) insert(other.pattern(n));
    std::sort(patterns_.begin(), patterns_.begin() + count_);
    place_.fill(-1);
    for (int n = 0; n < count_; ++n) place_[slot_of(pattern(n))] = static_cast<std::int16_t>(n);
  }

  bool is_small() const { return is_small_; }
  int size() const { return count_; }
  std::uint64_t pattern(int code) const { return patterns_[static_cast<std::size_t>(code)]; }
  std::uint8_t code_of(std::uint64_t bits) const {
    return static_cast<std::uint8_t>(place_[slot_of(bits)]);
  }

 private:
  /// Where the pattern is, or would be. Three of four slots stay empty.
  std::size_t slot_of(std::uint64_t bits) const {
    constexpr std::size_t kSlots = 4 * kMost;
    std::size_t slot = (bits * 0x9e3779b97f4a7c15u) >> 54;  // Knuth's multiplicative hash
    while (place_[slot] >= 0 && patterns_[static_cast<std::size_t>(place_[slot])] != bits) {
      slot = (slot + 1) % kSlots;
    }
    return slot;
  }

  static std::array<std::int16_t, 4 * kMost> nothing() {
    std::array<std::int16_t, 4 * kMost> places;
    places.fill(-1);
    return places;
  }

  bool is_small_ = true;
  int count_ = 0;
  std::array<std::int16_t, 4 * kMost> place_ = nothing();
  std::array<std::uint64_t, kMost> patterns_{};
};

}  // namespace csrkit::cpu::spmv
