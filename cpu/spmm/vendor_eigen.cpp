// vendor_eigen: Eigen's sparse times dense, compiled for the vectors of the machine at hand.
// Owns     nothing; the work is Eigen's
// Reads    A in place, row offsets narrowed to 32 bits
// Launch   Eigen's own OpenMP loop over rows, on the plan's threads
// Needs    stored values, below 2^31 nonzeros, alpha 1 and beta 0
// Against  the kernels here: the peer in most C++ programs. Source: Eigen 3.4
#include "cpu/common/vendor.h"
#include "cpu/spmm/vendor_eigen_product.h"

namespace csrkit::cpu {

namespace {

template <class Value>
class VendorEigen : public SpmmMethod {
 public:
  explicit VendorEigen(const MethodInput& input)
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
    multiply_with_eigen(x);
  }

  std::string choice() const override { return eigen_version(); }

 private:
  CsrMatrix op_a_;
  Team team_;
  Buffer<int> row_offsets_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_eigen(const MethodInput& input) {
  return make_vendor<VendorEigen>(input);
}

}  // namespace csrkit::cpu
