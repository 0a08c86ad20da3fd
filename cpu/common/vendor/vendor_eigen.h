// What the vendor_eigen of SpMM and that of SpMV share.
#pragma once

#include "cpu/common/vendor/vendor.h"
#include "cpu/common/vendor/vendor_eigen_product.h"

namespace csrkit::cpu {

/// A plan of a product of vendor_eigen_product.h.
template <class Value, void (*kMultiply)(const EigenOperands<Value>&)>
class EigenMethod : public SpmmMethod {
 public:
  explicit EigenMethod(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), row_offsets_(narrow_row_offsets(input, "Eigen")) {}

  void multiply(const MethodCall& call) override {
    if (op_a_.nnz() == 0) return scale_output<Value>(call);
    EigenOperands<Value> x;
    x.rows = op_a_.rows();
    x.cols = op_a_.cols();
    x.nnz = static_cast<int>(op_a_.nnz());
    x.dense_cols = call.c.cols;
    x.row_offsets = row_offsets_.data();
    x.col_indices = op_a_.col_indices();
    x.values = op_a_.view<Value>().values;
    x.b = call.b.as<Value>();
    x.b_leading_dim = call.b.leading_dim;
    x.c = call.c.as<Value>();
    x.c_leading_dim = call.c.leading_dim;
    x.threads = team_.threads;
    kMultiply(x);
  }

  std::string choice() const override { return eigen_version(); }

 private:
  CsrMatrix op_a_;
  Team team_;
  Buffer<int> row_offsets_;
};

}  // namespace csrkit::cpu
