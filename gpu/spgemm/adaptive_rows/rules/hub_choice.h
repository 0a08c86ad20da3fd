// Which rows are hubs. A model compares two times of a product: long rows each on one
// multiprocessor, and all their products sorted by the whole device. Times depend only on sources
// and products. The device's rates are in hub_choice.cpp, a row's are below; product_counts.h says
// which rows may be hubs at all.
#pragma once

#include "gpu/spgemm/product_counts.h"

namespace csrkit::gpu {

/// Rows that may be hubs have levels by their sources: more than kHubSources, twice and four times
/// as many.
inline constexpr int kHubLevels = 3;
inline constexpr CSRKIT_HOST_DEVICE Offset sources_of_hub_level(int level) {
  return kHubSources << level;
}
inline CSRKIT_HOST_DEVICE int hub_level_of(Offset sources) {
  int level = 0;
  while (level + 1 < kHubLevels && sources > sources_of_hub_level(level + 1)) ++level;
  return level;
}

/// Nanoseconds to count and make a row on one multiprocessor. Most of it is waiting: for memory,
/// and for turns at columns that most sources have. Fitted to 43 matrices on an H100.
inline CSRKIT_HOST_DEVICE unsigned long long row_nanoseconds(Offset sources,
                                                             unsigned long long products) {
  constexpr unsigned long long kEachSource = 70, kEachProduct = 5;
  return kEachSource * static_cast<unsigned long long>(sources) + kEachProduct * products;
}

/// The profile's totals of rows with more than kHubSources sources.
struct HubTotals {
  struct Level {
    unsigned long long sources, products;  // of the level's rows that may be hubs
    unsigned long long searches;           // sources times parts, of its rows that would be cut
    unsigned long long longest;            // nanoseconds of the slowest row
  };
  Level levels[kHubLevels];
  unsigned long long longest_other;  // nanoseconds of the slowest row that can never be a hub

  HubTotals& operator+=(const HubTotals& other);
  /// Whether A has any such row.
  CSRKIT_HOST_DEVICE bool has_rows() const {
    unsigned long long longest = longest_other;
    for (const Level& level : levels) longest |= level.longest;
    return longest > 0;
  }
};

/// More entries than a row can have: a limit that no row exceeds.
inline constexpr Offset kBeyondEveryRow = Offset{1} << 62;
inline constexpr Offset kNoHubs = kBeyondEveryRow;

/// Returns the number of sources beyond which rows are hubs, or kNoHubs, for a product of
/// `products` multiplications. Hubs together have at most `most` products and at most `most`
/// sources.
Offset choose_hub_sources(const HubTotals& totals, Offset products, int value_bytes, Offset most);

/// Returns the nanoseconds (row_nanoseconds) beyond which a row is cut into parts, or kNeverCut.
/// `longest_alone`: nanoseconds of the slowest row; `products`: multiplications of the whole
/// product.
inline constexpr unsigned long long kNeverCut = ~0ull;
// faster rows are never cut for this reason
inline constexpr unsigned long long kLeastCut = 50'000;
unsigned long long choose_cut(unsigned long long longest_alone, Offset products);

}  // namespace csrkit::gpu
