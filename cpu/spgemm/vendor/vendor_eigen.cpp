// vendor_eigen: Eigen's sparse times sparse.
// Owns     Eigen's C
// Reads    A and op(B) in place, row offsets narrowed to 32 bits
// Launch   one thread: Eigen's sparse product has no more
// Needs    stored values, alpha 1, below 2^31 entries in A, B and C
// Against  the kernels here: the library in most C++ programs. Source: Eigen 3.4
#include <Eigen/Sparse>

#include "cpu/common/vendor/vendor.h"
#include "cpu/spgemm/vendor/vendor.h"

namespace csrkit::cpu {

namespace {

template <class Value>
class EigenProduct : public VendorProduct {
 public:
  using Matrix = Eigen::SparseMatrix<Value, Eigen::RowMajor, int>;

  explicit EigenProduct(const VendorOperands& operands)
      : operands_(operands), a_offsets_(narrow_row_offsets(operands.a, "Eigen")) {
    if (!operands.b_is_a()) b_offsets_ = narrow_row_offsets(operands.op_b, "Eigen");
  }

  void multiply() override {
    const auto a = map_of(operands_.a, a_offsets_);
    if (operands_.b_is_a()) {
      c_ = a * a;
    } else {
      c_ = a * map_of(operands_.op_b, b_offsets_);
    }
  }

  CsrMatrix result() const override {
    return copy_of_product(static_cast<Index>(c_.rows()), static_cast<Index>(c_.cols()),
                           c_.outerIndexPtr(), c_.innerIndexPtr(), c_.valuePtr());
  }

  void drop() override { c_ = Matrix(); }

  std::string choice() const override {
    return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
           std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION);
  }

 private:
  static Eigen::Map<const Matrix> map_of(const CsrMatrix& matrix, const Buffer<int>& offsets) {
    return {matrix.rows(),  matrix.cols(),        static_cast<int>(matrix.nnz()),
            offsets.data(), matrix.col_indices(), static_cast<const Value*>(matrix.values())};
  }

  VendorOperands operands_;
  Buffer<int> a_offsets_, b_offsets_;
  Matrix c_;
};

}  // namespace

std::unique_ptr<VendorProduct> make_spgemm_vendor_eigen(const VendorOperands& operands) {
  return make_vendor_product<EigenProduct>(operands);
}

}  // namespace csrkit::cpu
