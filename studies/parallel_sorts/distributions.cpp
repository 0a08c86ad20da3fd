#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/hash.h"
#include "studies/parallel_sorts/sorts.h"

namespace csrkit::studies {

namespace {

constexpr std::uint64_t kRows = 1 << 16;  // real matrices have some ten entries per row
constexpr std::uint64_t kCols = 1 << 20;

std::uint64_t key_of(std::uint64_t row, std::uint64_t col) { return row << 32 | col; }

/// Pareto-like: half of the entries lie in a handful of rows, as in social graphs.
std::uint64_t power_law_row(double unit) {
  return static_cast<std::uint64_t>(std::pow(static_cast<double>(kRows), unit)) - 1;
}

}  // namespace

const std::vector<std::string>& distributions() {
  static const std::vector<std::string> names = {"uniform",      "sorted",         "reversed",
                                                 "all_equal",    "power_law_rows", "nearly_sorted",
                                                 "column_major", "one_huge_row"};
  return names;
}

Entries make_entries(const std::string& distribution, std::int64_t size, std::uint64_t seed) {
  const auto count = static_cast<std::uint64_t>(size);
  Entries entries(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t row = below(random_word(seed, i, 1), kRows);
    const std::uint64_t col = below(random_word(seed, i, 2), kCols);
    entries[i].key = key_of(row, col);
    if (distribution == "all_equal") entries[i].key = key_of(kRows / 2, kCols / 3);
    if (distribution == "one_huge_row" && i % 2 == 0) entries[i].key = key_of(kRows / 2, col);
    if (distribution == "power_law_rows") {
      entries[i].key = key_of(power_law_row(unit_of(random_word(seed, i, 3))), col);
    }
  }
  if (std::find(distributions().begin(), distributions().end(), distribution) ==
      distributions().end()) {
    throw std::invalid_argument("no distribution " + distribution);
  }
  if (distribution == "sorted" || distribution == "nearly_sorted" || distribution == "reversed") {
    std::sort(entries.begin(), entries.end());
  }
  if (distribution == "column_major") {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return (a.key << 32 | a.key >> 32) < (b.key << 32 | b.key >> 32);
    });
  }
  if (distribution == "reversed") std::reverse(entries.begin(), entries.end());
  if (distribution == "nearly_sorted" && count > 0) {  // one entry in a hundred is elsewhere
    for (std::uint64_t i = 0; i < count / 100 + 1; ++i) {
      std::swap(entries[below(random_word(seed, i, 4), count)],
                entries[below(random_word(seed, i, 5), count)]);
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) entries[i].payload = i;
  return entries;
}

}  // namespace csrkit::studies
