// Totals of the kernels that make a list of products.
#pragma once

#include <cstdint>

namespace csrkit::gpu {

struct ListTotals {
  unsigned long long long_products;
  std::uint32_t long_entries;
  std::uint32_t longest;  // products of an entry in a piece
  std::uint32_t is_too_wide;
};

}  // namespace csrkit::gpu
