// vendor_mkl: mkl_sparse_?_mv of Intel oneMKL, hinted and optimised.
// Owns     MKL's handle on A and what its optimisation made; the work is MKL's
// Reads    A in place, row offsets narrowed to 32 bits
// Launch   as many GNU OpenMP threads as the plan has
// Needs    stored values, x and y without gaps, below 2^31 nonzeros
// Against  the kernels here: the library that most programs use. Source: oneMKL, inspector-executor
//          API
#include "cpu/common/vendor/vendor_mkl.h"

#include "cpu/common/vendor/vendor.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Value>
class VendorMkl : public SpmmMethod {
 public:
  explicit VendorMkl(const MethodInput& input)
      : op_a_(input.op_a), team_(input.team), a_(op_a_, narrow_row_offsets(input, "MKL")) {
    if (op_a_.nnz() == 0) return;
    const MklThreads threads(team_.threads);
    check_mkl(mkl_sparse_set_mv_hint(a_.get(), SPARSE_OPERATION_NON_TRANSPOSE, kMklGeneral,
                                     kMklExpectedCalls),
              "mkl_sparse_set_mv_hint");
    check_mkl(mkl_sparse_optimize(a_.get()), "mkl_sparse_optimize");
  }

  void multiply(const MethodCall& call) override {
    if (op_a_.nnz() == 0) return scale_output<Value>(call);
    const MklThreads threads(team_.threads);
    const auto alpha = static_cast<Value>(call.alpha), beta = static_cast<Value>(call.beta);
    if constexpr (std::is_same_v<Value, float>) {
      check_mkl(mkl_sparse_s_mv(SPARSE_OPERATION_NON_TRANSPOSE, alpha, a_.get(), kMklGeneral,
                                call.b.as<Value>(), beta, call.c.as<Value>()),
                "mkl_sparse_s_mv");
    } else {
      check_mkl(mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, alpha, a_.get(), kMklGeneral,
                                call.b.as<Value>(), beta, call.c.as<Value>()),
                "mkl_sparse_d_mv");
    }
  }

  std::string choice() const override { return mkl_version(); }

 private:
  CsrMatrix op_a_;
  Team team_;
  MklMatrix<Value> a_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_mkl(const MethodInput& input) {
  return make_vendor<VendorMkl>(input);
}

}  // namespace csrkit::cpu::spmv
