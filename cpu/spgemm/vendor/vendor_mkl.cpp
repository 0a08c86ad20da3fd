// vendor_mkl: mkl_sparse_spmm of Intel oneMKL.
// Owns     MKL's handles on A and op(B), and its C
// Reads    A and op(B) in place, row offsets narrowed to 32 bits
// Launch   as many GNU OpenMP threads as the plan has
// Needs    stored values, alpha 1, below 2^31 entries in A, B and C
// Against  the kernels here: the library that most programs use. Its rows come out unsorted and are
//          sorted by MKL. Source: oneMKL, inspector-executor API
#include "cpu/common/vendor/vendor_mkl.h"

#include "cpu/common/vendor/vendor.h"
#include "cpu/spgemm/vendor/vendor.h"

namespace csrkit::cpu {

namespace {

template <class Value>
class MklProduct : public VendorProduct {
 public:
  explicit MklProduct(const VendorOperands& operands)
      : operands_(operands), a_(operands.a, narrow_row_offsets(operands.a, "MKL")) {
    if (!operands.b_is_a())
      b_ = std::make_unique<MklMatrix<Value>>(operands.op_b,
                                              narrow_row_offsets(operands.op_b, "MKL"));
  }
  ~MklProduct() override { MklProduct::drop(); }

  void multiply() override {
    const MklThreads threads(operands_.threads);
    check_mkl(
        mkl_sparse_spmm(SPARSE_OPERATION_NON_TRANSPOSE, a_.get(), b_ ? b_->get() : a_.get(), &c_),
        "mkl_sparse_spmm");
  }

  void sort() override {
    const MklThreads threads(operands_.threads);
    check_mkl(mkl_sparse_order(c_), "mkl_sparse_order");
  }

  CsrMatrix result() const override {
    sparse_index_base_t base;
    int rows = 0, cols = 0;
    int *begins = nullptr, *ends = nullptr, *columns = nullptr;
    Value* values = nullptr;
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_export_csr(c_, &base, &rows, &cols, &begins, &ends, &columns, &values),
                "mkl_sparse_s_export_csr");
    } else {
      check_mkl(mkl_sparse_d_export_csr(c_, &base, &rows, &cols, &begins, &ends, &columns, &values),
                "mkl_sparse_d_export_csr");
    }
    return copy_of_product(rows, cols, begins, columns, values);
  }

  void drop() override {
    if (c_ != nullptr) mkl_sparse_destroy(c_);
    c_ = nullptr;
  }

  std::string choice() const override { return mkl_version(); }

 private:
  VendorOperands operands_;
  MklMatrix<Value> a_;
  std::unique_ptr<MklMatrix<Value>> b_;
  sparse_matrix_t c_ = nullptr;
};

}  // namespace

std::unique_ptr<VendorProduct> make_spgemm_vendor_mkl(const VendorOperands& operands) {
  return make_vendor_product<MklProduct>(operands);
}

}  // namespace csrkit::cpu
