#include "gpu/spgemm/adaptive_rows/forecast.h"

#include <algorithm>

#include "gpu/spgemm/adaptive_rows/numeric/hub_rows.h"
#include "gpu/spgemm/adaptive_rows/numeric/staged_rows.h"
#include "gpu/spgemm/adaptive_rows/workspace.h"
#include "gpu/spgemm/product_list/product_list.h"
#include "gpu/spgemm/small_product/small_product.h"

namespace csrkit::gpu {

namespace {

std::uint64_t at_least_1(std::uint64_t number) { return std::max<std::uint64_t>(1, number); }

/// The bits that counting keeps for making.
std::uint64_t kept_bytes(Offset products) {
  return static_cast<std::uint64_t>(products) / kProductsPerKeptWord * sizeof(std::uint32_t);
}

}  // namespace

std::uint64_t RowsForecast::product_bytes(const SpgemmSizes& sizes) const {
  const std::uint64_t in_two_passes =
      Workspace::bytes_for(sizes.rows, sizes.a_nnz, rules_.fewest_spread) + part_bytes(sizes) +
      csr_bytes(sizes.rows, entries_of_c(sizes), kind_) + hub_bytes(sizes) +
      kept_bytes(sizes.counts.products) + most_staged_bytes(sizes);
  return is_small(sizes) ? std::max(in_two_passes, small_bytes(sizes)) : in_two_passes;
}

std::uint64_t RowsForecast::values_bytes(const SpgemmSizes& sizes) const {
  if (rules_.most_listed == 0) return 0;
  const std::uint64_t list =
      ProductList::making_bytes(sizes.counts.products, sizes.counts.output_bound) +
      static_cast<std::uint64_t>(entries_of_c(sizes) - sizes.counts.output_bound) *
          (sizeof(Index) + static_cast<std::size_t>(size_of(kind_)));
  return is_small(sizes) ? list + small_bytes(sizes) : list;
}

bool RowsForecast::is_small(const SpgemmSizes& sizes) const {
  return rules_.is_small(sizes.rows, sizes.cols, sizes.a_nnz, sizes.inner, sizes.b_nnz);
}

std::uint64_t RowsForecast::small_bytes(const SpgemmSizes& sizes) const {
  return small_product_bytes(sizes.rows, sizes.cols, sizes.a_nnz, kind_);
}

std::uint64_t RowsForecast::most_staged_bytes(const SpgemmSizes& sizes) const {
  if (rules_.most_staged_bytes == 0 || sizes.a_nnz <= rules_.most_early) return 0;
  return staged_bytes(sizes.rows, room_of_staged(rules_, sizes.counts.products, kind_), kind_);
}

std::uint64_t RowsForecast::part_bytes(const SpgemmSizes& sizes) const {
  const std::uint64_t words = (static_cast<std::uint64_t>(sizes.cols) >> kWordLog2) + 2;
  const auto count = static_cast<std::uint64_t>(sizes.counts.products);
  const std::uint64_t shrink = rules_.shrink;
  const std::uint64_t cut_rows = std::min(static_cast<std::uint64_t>(sizes.rows),
                                          count / at_least_1(kFewestCutProducts / shrink));
  return RowParts::kBytes * std::min(count / at_least_1(kSmallPartProducts / shrink) +
                                         cut_rows * (words / at_least_1(kPartWords / shrink) + 2),
                                     cut_rows * words);
}

std::uint64_t RowsForecast::hub_bytes(const SpgemmSizes& sizes) const {
  const Offset fewest = rules_.hub_sources == 0 ? kHubSources : rules_.hub_sources;
  const bool are_counted = fewest >= kHubSources && rules_.most_per_hub_source <= kMostPerHubSource;
  const Offset products =
      std::min(are_counted ? sizes.counts.of_hubs : sizes.counts.products, rules_.most_of_hubs);
  if (products == 0 || fewest >= sizes.a_nnz) return 0;
  const Offset rows = std::min(Offset{sizes.rows}, sizes.a_nnz / (fewest + 1));
  return HubRows::bytes_for(rows, std::min(sizes.a_nnz, rules_.most_of_hubs), products,
                            size_of(kind_));
}

Offset RowsForecast::entries_of_c(const SpgemmSizes& sizes) const {
  // Then the bound is no less than all products, unless somebody has counted C's entries.
  const bool may_be_in_order =
      sizes.counts.longest <= sizes.cols && DeviceProduct::fits_narrow(sizes.counts.products) &&
      rules_.may_be_in_order(sizes.rows, sizes.cols, sizes.a_nnz, sizes.inner, sizes.b_nnz);
  const Offset early = may_be_in_order ? sizes.counts.products : most_made_early(size_of(kind_));
  return std::max(sizes.counts.output_bound, std::min(sizes.counts.products, early));
}

}  // namespace csrkit::gpu
