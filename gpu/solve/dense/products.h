// Products with a dense symmetric matrix on the device, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/operator.h"
#include "gpu/solve/dense/product.h"

namespace csrkit::gpu {

/// A row of products.inc.
struct DenseProductInfo {
  const char* name;
  SquareLayout layout;    // the layout of A that it reads
  bool is_deterministic;  // the same bits in every run
  bool has_tiles;         // takes a TileShape
  const char* summary;
};
const std::vector<DenseProductInfo>& dense_products();

/// A parsed variant: "half", or "half:64x256" for tiles of 64 rows and columns and 256 threads.
struct DenseChoice {
  const DenseProductInfo* product;
  TileShape shape;
};
/// Parses options.variant; "" and "auto" are "half". Without a shape it takes the fastest one for
/// `rows` rows. Throws UsageError for unknown names (it lists the known ones), and for a product
/// that is not deterministic if the options demand it.
DenseChoice parse_dense_product(const PlanOptions& options, Index rows);

/// Q = A P, column by column, for P and Q of A's kind in device memory, in the stream of `memory`.
/// `a` has the layout of the product and must outlive it.
std::unique_ptr<Operator> make_dense_product(const DeviceSquare& a, const DenseChoice& choice,
                                             Index columns, DeviceMemory& memory);

}  // namespace csrkit::gpu
