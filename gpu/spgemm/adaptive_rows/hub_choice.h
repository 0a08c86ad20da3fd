// Which rows are hubs: a model of what a product takes with the long rows left to single
// multiprocessors, and with all of their products sorted by the whole device. Times follow from
// sources and products alone; rates of the device are in hub_choice.cpp, those of a row below;
// which rows may be hubs at all is in product_counts.h.
#pragma once

#include "gpu/spgemm/product_counts.h"

namespace csrkit::gpu {

/// Rows that may be hubs are told apart by their sources: more than kHubSources, twice and four
/// times as many.
inline constexpr int kHubLevels = 3;
inline constexpr CSRKIT_HOST_DEVICE Offset sources_of_hub_level(int level) {
  return kHubSources << level;
}
inline CSRKIT_HOST_DEVICE int hub_level_of(Offset sources) {
  int level = 0;
  while (level + 1 < kHubLevels && sources > sources_of_hub_level(level + 1)) ++level;
  return level;
}

/// What a row takes by itself, to be counted and made. Most of that is waiting: for memory, and for
/// turns at a column that most sources meet. Fitted to 43 matrices on an H100.
inline CSRKIT_HOST_DEVICE unsigned long long row_nanoseconds(Offset sources,
                                                             unsigned long long products) {
  constexpr unsigned long long kEachSource = 70, kEachProduct = 5;
  return kEachSource * static_cast<unsigned long long>(sources) + kEachProduct * products;
}

/// What the profile finds out of rows with more than kHubSources sources.
struct HubTotals {
  struct Level {
    unsigned long long sources, products;  // of all rows of the level that may be hubs
    unsigned long long searches;           // sources times parts, of those that would be cut
    unsigned long long longest;            // nanoseconds of one of them
  };
  Level levels[kHubLevels];
  unsigned long long longest_other;  // nanoseconds of one that is no hub whatever is chosen

  HubTotals& operator+=(const HubTotals& other);
};

/// More entries than a row can have: a limit that none is beyond.
inline constexpr Offset kBeyondEveryRow = Offset{1} << 62;
inline constexpr Offset kNoHubs = kBeyondEveryRow;

/// The number of sources beyond which rows are hubs, or kNoHubs, of a product of so many products.
/// Hubs have no more than `most` products, and sources.
Offset choose_hub_sources(const HubTotals& totals, Offset products, int value_bytes, Offset most);

/// Nanoseconds of a row alone beyond which rows are cut into parts in a product of so many
/// products, where the longest takes `longest_alone`; kNeverCut: no row is.
inline constexpr unsigned long long kNeverCut = ~0ull;
inline constexpr unsigned long long kLeastCut = 50'000;  // rows below are never cut for it
unsigned long long choose_cut(unsigned long long longest_alone, Offset products);

}  // namespace csrkit::gpu
