// What the kernels of vendors (vendor_<name>) share: f32 or f64 with stored values, 32-bit offsets
// for vendors that want them, and products without a single multiplication, which some vendors
// refuse.
#pragma once

#include <limits>
#include <string>

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

/// make_<vendor>: the method for the problem's one kind of number.
template <template <class> class Method>
std::unique_ptr<SpmmMethod> make_vendor(const MethodInput& input) {
  if (input.problem.b == ValueKind::f64) return std::make_unique<Method<double>>(input);
  return std::make_unique<Method<float>>(input);
}

/// Row offsets as int. Throws UsageError if the matrix has too many nonzeros for the vendor.
inline Buffer<int> narrow_row_offsets(const CsrMatrix& a, const char* vendor) {
  if (a.nnz() > std::numeric_limits<int>::max()) {
    throw UsageError(std::string(vendor) + " counts nonzeros in 32 bits, and the matrix has " +
                     std::to_string(a.nnz()) + "; use a kernel of csrkit");
  }
  Buffer<int> offsets(Offset{a.rows()} + 1);
  for (Offset i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<int>(a.row_offsets()[i]);
  return offsets;
}

/// The same of op(A), from the plan's budget.
inline Buffer<int> narrow_row_offsets(const MethodInput& input, const char* vendor) {
  const auto rows = static_cast<std::uint64_t>(input.op_a.rows());
  input.budget.reserve((rows + 1) * sizeof(int), "32-bit row offsets");
  return narrow_row_offsets(input.op_a, vendor);
}

/// C = beta * C, without reading C if beta is 0.
template <class Value>
void scale_output(const MethodCall& call) {
  for (Index i = 0; i < call.c.rows; ++i) {
    Value* row = call.c.as<Value>() + Offset{i} * call.c.leading_dim;
    for (Index j = 0; j < call.c.cols; ++j) {
      row[j] = call.beta == 0 ? Value{0} : static_cast<Value>(call.beta) * row[j];
    }
  }
}

}  // namespace csrkit::cpu
