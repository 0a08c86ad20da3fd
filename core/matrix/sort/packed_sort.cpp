#include "core/matrix/sort/packed_sort.h"

#include <algorithm>
#include <array>
#include <utility>

namespace csrkit {

namespace {

constexpr int kDigitBits = 9;  // 512 write positions: their lines and the counters fit 32 KiB
constexpr int kMaxDigits = 8;  // 64 / kDigitBits, rounded up
constexpr Offset kComparisonLimit = 192;  // below, clearing and adding up counters costs more

bool is_ascending(const std::uint64_t* packed, Offset size) {
  bool ascending = true;
  for (Offset i = 1; i < size; ++i) ascending &= packed[i - 1] < packed[i];
  return ascending;
}

Offset count_col_descents(const std::uint64_t* packed, Offset size, const PackedLayout& layout) {
  const std::uint64_t mask = ((std::uint64_t{1} << layout.col_bits) - 1) << layout.position_bits;
  Offset descents = 0;
  for (Offset i = 1; i < size; ++i) descents += (packed[i] & mask) < (packed[i - 1] & mask);
  return descents;
}

template <int kDigits, class Counts>
void count_digits(const std::uint64_t* packed, Offset size, int first, int width, Counts& counts) {
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  for (Offset i = 0; i < size; ++i) {
    std::uint64_t rest = packed[i] >> first;
    for (int d = 0; d < kDigits; ++d, rest >>= width) ++counts[d][rest & mask];
  }
}

/// One stable counting pass per digit of the bits [first, first + bits), from the lowest.
void radix_sort(std::uint64_t*& packed, std::uint64_t*& spare, Offset size, int first, int bits) {
  const int digits = (bits + kDigitBits - 1) / kDigitBits;
  if (digits == 0) return;
  const int width = (bits + digits - 1) / digits;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::array<std::array<std::uint32_t, 1 << kDigitBits>, kMaxDigits> counts;
  for (int d = 0; d < digits; ++d) std::fill_n(counts[d].begin(), mask + 1, 0);
  switch (digits) {
    case 1: count_digits<1>(packed, size, first, width, counts); break;
    case 2: count_digits<2>(packed, size, first, width, counts); break;
    case 3: count_digits<3>(packed, size, first, width, counts); break;
    case 4: count_digits<4>(packed, size, first, width, counts); break;
    default:
      for (int d = 0; d < digits; ++d) {
        for (Offset i = 0; i < size; ++i) ++counts[d][packed[i] >> (first + d * width) & mask];
      }
  }
  for (int d = 0; d < digits; ++d) {
    const int shift = first + d * width;
    auto& next = counts[d];
    if (next[packed[0] >> shift & mask] == static_cast<std::uint32_t>(size)) continue;  // all alike
    std::uint32_t position = 0;
    for (std::uint64_t digit = 0; digit <= mask; ++digit) {
      position += std::exchange(next[digit], position);
    }
    for (Offset i = 0; i < size; ++i) {
      const std::uint64_t number = packed[i];
      spare[next[number >> shift & mask]++] = number;
    }
    std::swap(packed, spare);
  }
}

}  // namespace

std::uint64_t* sort_packed(std::uint64_t* packed, std::uint64_t* spare, Offset size,
                           const PackedLayout& layout) {
  if (is_ascending(packed, size)) return packed;
  if (size <= kComparisonLimit) {
    std::sort(packed, packed + size);
    return packed;
  }
  // Entries that come by column, perhaps with their mirror images behind them, need no sorting by
  // column: dealt out by row, stably, they are in order. That this is so is checked, not assumed.
  const int row_bits = layout.key_bits - layout.col_bits;
  if (row_bits > 0 && count_col_descents(packed, size, layout) <= 2 + size / 256) {
    radix_sort(packed, spare, size, layout.position_bits + layout.col_bits, row_bits);
    if (is_ascending(packed, size)) return packed;
  }
  radix_sort(packed, spare, size, layout.position_bits, layout.key_bits);
  return packed;
}

}  // namespace csrkit
