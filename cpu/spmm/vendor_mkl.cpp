// vendor_mkl: mkl_sparse_?_mm of Intel oneMKL, hinted and optimised for this width.
// Owns     MKL's handle on A and what its optimisation made; the work is MKL's
// Reads    A in place, row offsets narrowed to 32 bits
// Launch   as many GNU OpenMP threads as the plan has
// Needs    stored values, rows of B and C without gaps, below 2^31 nonzeros and elements
// Against  the kernels here: the library that most programs use. Source: oneMKL, inspector-executor
//          API
#include "cpu/common/vendor/vendor_mkl.h"

#include "cpu/common/vendor/vendor.h"

namespace csrkit::cpu {

namespace {

template <class Value>
class VendorMkl : public SpmmMethod {
 public:
  explicit VendorMkl(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), a_(op_a_, narrow_row_offsets(input, "MKL")) {
    if (op_a_.nnz() == 0) return;
    const MklThreads threads(team_.threads);
    check_mkl(mkl_sparse_set_mm_hint(a_.get(), SPARSE_OPERATION_NON_TRANSPOSE, kMklGeneral,
                                     SPARSE_LAYOUT_ROW_MAJOR, input.problem.dense_cols,
                                     kMklExpectedCalls),
              "mkl_sparse_set_mm_hint");
    check_mkl(mkl_sparse_optimize(a_.get()), "mkl_sparse_optimize");
  }

  void multiply(const MethodCall& call) override {
    if (op_a_.nnz() == 0) return scale_output<Value>(call);
    const MklThreads threads(team_.threads);
    const auto alpha = static_cast<Value>(call.alpha), beta = static_cast<Value>(call.beta);
    require_32_bits(call.b);
    require_32_bits(call.c);
    const int ldb = call.b.cols, ldc = call.c.cols;
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_mm(SPARSE_OPERATION_NON_TRANSPOSE, alpha, a_.get(), kMklGeneral,
                                SPARSE_LAYOUT_ROW_MAJOR, call.b.as<Value>(), call.b.cols, ldb, beta,
                                call.c.as<Value>(), ldc),
                "mkl_sparse_s_mm");
    } else {
      check_mkl(mkl_sparse_d_mm(SPARSE_OPERATION_NON_TRANSPOSE, alpha, a_.get(), kMklGeneral,
                                SPARSE_LAYOUT_ROW_MAJOR, call.b.as<Value>(), call.b.cols, ldb, beta,
                                call.c.as<Value>(), ldc),
                "mkl_sparse_d_mm");
    }
  }

  std::string choice() const override { return mkl_version(); }

 private:
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
  MklMatrix<Value> a_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_mkl(const MethodInput& input) {
  return make_vendor<VendorMkl>(input);
}

}  // namespace csrkit::cpu
