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
  SquareLayout layout;    // what it needs
  bool is_deterministic;  // the same bits every time
  bool has_tiles;         // takes a TileShape
  const char* summary;
};
const std::vector<DenseProductInfo>& dense_products();

/// What a variant asks for: "half", or "half:64x256" for tiles of 64 rows and columns, 256 threads.
struct DenseChoice {
  const DenseProductInfo* product;
  TileShape shape;
};
/// Of options.variant; "": half. Without a shape: what was fastest for `rows` rows. Throws
/// UsageError that lists what there is, or for a product that is not deterministic where options
/// ask for that.
DenseChoice parse_dense_product(const PlanOptions& options, Index rows);

/// Q = A P for P and Q of A's kind in device memory, column by column, in the stream of `memory`.
/// `a`, in the layout of the product, must stay.
std::unique_ptr<Operator> make_dense_product(const DeviceSquare& a, const DenseChoice& choice,
                                             Index columns, DeviceMemory& memory);

}  // namespace csrkit::gpu
