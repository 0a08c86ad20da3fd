// vendor_mkl: mkl_sparse_?_mm of Intel oneMKL, hinted and optimised for this width.
// Owns     MKL's handle on A and what its optimisation made; the work is MKL's
// Reads    A in place, row offsets narrowed to 32 bits
// Launch   as many GNU OpenMP threads as the plan has
// Needs    stored values, rows of B and C without gaps, below 2^31 nonzeros and elements
// Against  the kernels here: the peer that most programs use. Source: oneMKL, inspector-executor
//          API
#include "cpu/common/vendor_mkl.h"

#include "cpu/common/vendor.h"

namespace csrkit::cpu {

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
        mkl_sparse_set_mm_hint(handle_, SPARSE_OPERATION_NON_TRANSPOSE, kGeneral,
                               SPARSE_LAYOUT_ROW_MAJOR, input.problem.dense_cols, kExpectedCalls),
        "mkl_sparse_set_mm_hint");
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
    require_32_bits(call.b);
    require_32_bits(call.c);
    const int ldb = call.b.cols, ldc = call.c.cols;
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_mm(SPARSE_OPERATION_NON_TRANSPOSE, alpha, handle_, kGeneral,
                                SPARSE_LAYOUT_ROW_MAJOR, call.b.as<Value>(), call.b.cols, ldb, beta,
                                call.c.as<Value>(), ldc),
                "mkl_sparse_s_mm");
    } else {
      check_mkl(mkl_sparse_d_mm(SPARSE_OPERATION_NON_TRANSPOSE, alpha, handle_, kGeneral,
                                SPARSE_LAYOUT_ROW_MAJOR, call.b.as<Value>(), call.b.cols, ldb, beta,
                                call.c.as<Value>(), ldc),
                "mkl_sparse_d_mm");
    }
  }

  std::string choice() const override { return mkl_version(); }

 private:
  static constexpr matrix_descr kGeneral{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                                         SPARSE_DIAG_NON_UNIT};

  /// Positions beyond 32 bits come out wrong, in silence (seen with MKL 2024.2).
  static void require_32_bits(const ConstDenseView& dense) {
    if (Offset{dense.rows} * dense.cols > std::numeric_limits<int>::max()) {
      throw UsageError("MKL with 32-bit integers cannot count the elements of a dense matrix of " +
                       std::to_string(dense.rows) + " x " + std::to_string(dense.cols) +
                       "; use a kernel of csrkit");
    }
  }

  CsrMatrix op_a_;
  Team team_;
  Buffer<int> row_offsets_;
  sparse_matrix_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_mkl(const MethodInput& input) {
  return make_vendor<VendorMkl>(input);
}

}  // namespace csrkit::cpu
