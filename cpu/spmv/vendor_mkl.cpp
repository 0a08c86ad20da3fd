// vendor_mkl: mkl_sparse_?_mv of Intel oneMKL, hinted and optimised.
// Owns     MKL's handle on A and what its optimisation made; the work is MKL's
// Reads    A in place, row offsets narrowed to 32 bits
// Launch   as many GNU OpenMP threads as the plan has
// Needs    stored values, x and y without gaps, below 2^31 nonzeros
// Against  the kernels here: the peer that most programs use. Source: oneMKL, inspector-executor
//          API
#include "cpu/common/vendor_mkl.h"

#include "cpu/common/vendor.h"

namespace csrkit::cpu::spmv {

namespace {

/// More calls than any analysis could cost: MKL may do its best.
constexpr int kExpectedCalls = 1000;

template <class Value>
class VendorMkl : public SpmmMethod {
 public:
  explicit VendorMkl(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), row_offsets_(narrow_row_offsets(input, "MKL")) {
    if (op_a_.nnz() == 0) return;
    // MKL takes pointers it does not write through.
    auto* cols = const_cast<Index*>(op_a_.col_indices());
    auto* values = const_cast<Value*>(op_a_.view<Value>().values);
    int* offsets = row_offsets_.data();
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_create_csr(&handle_, SPARSE_INDEX_BASE_ZERO, op_a_.rows(),
                                        op_a_.cols(), offsets, offsets + 1, cols, values),
                "mkl_sparse_s_create_csr");
    } else {
      check_mkl(mkl_sparse_d_create_csr(&handle_, SPARSE_INDEX_BASE_ZERO, op_a_.rows(),
                                        op_a_.cols(), offsets, offsets + 1, cols, values),
                "mkl_sparse_d_create_csr");
    }
    const MklThreads threads(team_.threads);
    check_mkl(
        mkl_sparse_set_mv_hint(handle_, SPARSE_OPERATION_NON_TRANSPOSE, kGeneral, kExpectedCalls),
        "mkl_sparse_set_mv_hint");
    check_mkl(mkl_sparse_optimize(handle_), "mkl_sparse_optimize");
  }
  VendorMkl(const VendorMkl&) = delete;
  VendorMkl& operator=(const VendorMkl&) = delete;
  ~VendorMkl() override {
    if (handle_ != nullptr) mkl_sparse_destroy(handle_);
  }

  void multiply(const MethodCall& call) override {
    if (op_a_.nnz() == 0) return scale_output<Value>(call);
    const MklThreads threads(team_.threads);
    const auto alpha = static_cast<Value>(call.alpha), beta = static_cast<Value>(call.beta);
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_mv(SPARSE_OPERATION_NON_TRANSPOSE, alpha, handle_, kGeneral,
                                call.b.as<Value>(), beta, call.c.as<Value>()),
                "mkl_sparse_s_mv");
    } else {
      check_mkl(mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, alpha, handle_, kGeneral,
                                call.b.as<Value>(), beta, call.c.as<Value>()),
                "mkl_sparse_d_mv");
    }
  }

  std::string choice() const override { return mkl_version(); }

 private:
  static constexpr matrix_descr kGeneral{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                                         SPARSE_DIAG_NON_UNIT};

  CsrMatrix op_a_;
  Team team_;
  Buffer<int> row_offsets_;
  sparse_matrix_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_mkl(const MethodInput& input) {
  return make_vendor<VendorMkl>(input);
}

}  // namespace csrkit::cpu::spmv
