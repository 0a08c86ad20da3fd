#include "gpu/spgemm/adaptive_rows/rules/hub_choice.h"

#include <algorithm>

namespace csrkit::gpu {

namespace {

// Nanoseconds, fitted to 43 matrices on an H100. Of a product where rows fill the device, and of a
// source that a part of a row searches:
constexpr double kEachProduct = 0.010, kEachSearch = 0.15;
// The sort: a dozen launches one after another, and reading and writing a product's key and value
// in about four passes. Its time is added, because the other kernels leave little of the device to
// it.
constexpr double kSort = 100e3, kEachSortedByte = 0.005;
// A row is cut only if it takes longer than kCut plus kPace times the rest of the product.
constexpr double kCut = 100e3, kPace = 1.5;
// More rows become hubs only if the product then takes less than this share of its time.
constexpr double kWorthIt = 0.93;

}  // namespace

HubTotals& HubTotals::operator+=(const HubTotals& other) {
  for (int i = 0; i < kHubLevels; ++i) {
    levels[i].sources += other.levels[i].sources;
    levels[i].products += other.levels[i].products;
    levels[i].searches += other.levels[i].searches;
    levels[i].longest = std::max(levels[i].longest, other.levels[i].longest);
  }
  longest_other = std::max(longest_other, other.longest_other);
  return *this;
}

Offset choose_hub_sources(const HubTotals& totals, Offset products, int value_bytes, Offset most) {
  double best = 0;
  Offset choice = kNoHubs;
  for (int level = kHubLevels; level >= 0; --level) {  // hubs are this level and those above
    double sorted = 0, sources = 0, searches = 0;
    unsigned long long longest = totals.longest_other;
    for (int i = 0; i < kHubLevels; ++i) {
      const HubTotals::Level& of = totals.levels[i];
      if (i < level) {
        longest = std::max(longest, of.longest);
        searches += static_cast<double>(of.searches);
      } else {
        sources += static_cast<double>(of.sources);
        sorted += static_cast<double>(of.products);
      }
    }
    if (std::max(sources, sorted) > static_cast<double>(most)) break;
    double time = std::max(kEachProduct * static_cast<double>(products) + kEachSearch * searches,
                           static_cast<double>(longest));
    if (level == kHubLevels) {
      best = time;
      continue;
    }
    if (sorted == 0) continue;
    time += kSort + kEachSortedByte * (8 + value_bytes) * sorted;
    if (time >= kWorthIt * best) continue;
    best = time;
    choice = sources_of_hub_level(level);
  }
  return choice;
}

unsigned long long choose_cut(unsigned long long longest_alone, Offset products) {
  const double rest = kCut + kPace * kEachProduct * static_cast<double>(products);
  return static_cast<double>(longest_alone) > rest ? static_cast<unsigned long long>(rest / 2)
                                                   : kNeverCut;
}

}  // namespace csrkit::gpu
