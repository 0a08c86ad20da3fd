// What the vendors' rows (vendor_<name>) have in common: one kind of number, f32 or f64, offsets of
// 32 bits where the vendor wants them, the products without a single multiplication, which some
// vendors refuse, and the plan. A vendor decides itself what it allocates, so its plan obeys no
// memory limit beyond what is known here: the operands, and C when it is there. A vendor offers one
// factory,
//
//   std::unique_ptr<VendorProduct> make_spgemm_vendor_<name>(const VendorOperands& operands);
#pragma once

#include <memory>
#include <string>

#include "core/contract/spgemm.h"

namespace csrkit::cpu {

/// Operands with entries, of one kind of number; `op_b` is stored by rows of op(B).
struct VendorOperands {
  CsrMatrix a;
  CsrMatrix op_b;
  int threads = 1;

  /// Whether the two are the same arrays: then one handle is enough.
  bool b_is_a() const {
    return a.col_indices() == op_b.col_indices() && a.values() == op_b.values();
  }
};

/// The vendor's handles on the operands and its C.
class VendorProduct {
 public:
  virtual ~VendorProduct() = default;

  /// The vendor's C from its operands: what is timed.
  virtual void multiply() = 0;

  /// Ascending columns in C, where multiply leaves them in any order.
  virtual void sort() {}

  /// A copy of C.
  virtual CsrMatrix result() const = 0;

  /// Gives C back.
  virtual void drop() = 0;

  /// The vendor's name and version.
  virtual std::string choice() const = 0;
};

using VendorProductFactory = std::unique_ptr<VendorProduct> (*)(const VendorOperands&);

std::unique_ptr<SpgemmPlan> make_vendor_spgemm_plan(const SpgemmProblem& problem,
                                                    const PlanOptions& options,
                                                    VendorProductFactory make_product);

/// make_spgemm_<vendor>: the product for the operands' kind of number.
template <template <class> class Product>
std::unique_ptr<VendorProduct> make_vendor_product(const VendorOperands& operands) {
  if (operands.a.value_kind() == ValueKind::f64) return std::make_unique<Product<double>>(operands);
  return std::make_unique<Product<float>>(operands);
}

/// A matrix from the arrays of a vendor's C: row i lies from offsets[i] on, all rows side by side.
template <class Value, class From>
CsrMatrix copy_of_product(Index rows, Index cols, const From* offsets, const From* col_indices,
                          const Value* values) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = static_cast<Offset>(offsets[i]);
  const Offset nnz = row_offsets[rows];
  Buffer<Index> columns(nnz);
  ValueArray copied(std::is_same_v<Value, float> ? ValueKind::f32 : ValueKind::f64, nnz);
  auto* to = static_cast<Value*>(copied.data());
  for (Offset at = 0; at < nnz; ++at) {
    columns[at] = static_cast<Index>(col_indices[at]);
    to[at] = values[at];
  }
  return CsrMatrix(rows, cols, std::move(row_offsets), std::move(columns), std::move(copied));
}

}  // namespace csrkit::cpu
