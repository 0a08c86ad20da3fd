// Products with a dense symmetric matrix, q = A p. They differ in how they read A.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu/solve/plan.h"

namespace csrkit::cpu {

/// One of them. `summary` is for messages and documentation.
struct DenseProduct {
  const char* name;
  const char* summary;
  /// A in `kind`, f32 or f64, for P and Q of that kind. Same bits for any number of threads.
  std::unique_ptr<Operator> (*make)(const SolveInput& input, ValueKind kind);
};

/// rows, half, packed.
const std::vector<DenseProduct>& dense_products();

/// The product called `name`. "" and "auto" choose: `half` if A is too large to stay in a cache,
/// else `rows`. Throws UsageError that lists the names.
const DenseProduct& find_dense_product(const std::string& name, Index rows);

}  // namespace csrkit::cpu
