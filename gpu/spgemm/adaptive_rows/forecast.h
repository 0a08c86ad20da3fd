// Upper bounds of the memory that adaptive_rows takes. They need sizes only, and no device.
#pragma once

#include <cstdint>

#include "core/base/value_kind.h"
#include "gpu/spgemm/adaptive_rows/rules/rules.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// C's arrays may be longer than its number of entries. They get room for every product, so that
/// rows can be made before C's size is known, up to 32 MiB, and of any size where rows are made in
/// the order of A. This is how many products fit 32 MiB.
inline constexpr Offset most_made_early(int value_bytes) {
  return (Offset{32} << 20) /
         static_cast<Offset>(sizeof(Index) + static_cast<std::size_t>(value_bytes));
}

/// Bytes on the device for products whose C has values of `kind`, f32 or f64.
class RowsForecast {
 public:
  RowsForecast(const BinRules& rules, ValueKind kind) : rules_(rules), kind_(kind) {}

  /// C and the workspaces of a product, without A and B.
  std::uint64_t product_bytes(const SpgemmSizes& sizes) const;
  /// What new values take beside C: the list of products.
  std::uint64_t values_bytes(const SpgemmSizes& sizes) const;

 private:
  bool is_small(const SpgemmSizes& sizes) const;
  std::uint64_t small_bytes(const SpgemmSizes& sizes) const;
  /// Of rows that are made while they are counted.
  std::uint64_t most_staged_bytes(const SpgemmSizes& sizes) const;
  std::uint64_t part_bytes(const SpgemmSizes& sizes) const;
  std::uint64_t hub_bytes(const SpgemmSizes& sizes) const;
  /// The most entries that C's arrays have room for.
  Offset entries_of_c(const SpgemmSizes& sizes) const;

  const BinRules& rules_;
  ValueKind kind_;
};

}  // namespace csrkit::gpu
