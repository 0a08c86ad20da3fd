// vendor_mkl: the loop that one writes with Intel oneMKL.
//   Owns:    as cg; the product is SpMV's row vendor_mkl unless another one is asked for.
//   Passes:  per iteration a product and five calls of BLAS over vectors: p'q; r, r'r; x; p.
//   Needs:   f64, one right-hand side, a sparse matrix with stored values, M diagonal or none.
//   Against: cg
#include "cpu/common/vendor/vendor_mkl.h"

#include <mkl_cblas.h>
#include <mkl_vml_functions.h>

#include <cstring>

#include "cpu/solve/cg_method.h"

namespace csrkit::cpu {

namespace {

class MklIterations : public CgIterations<double> {
 public:
  static constexpr bool kJoinsTeams = false;  // MKL opens regions of its own

  MklIterations(Index rows, Index columns, int threads, Operator& product,
                CpuPreconditioner<double>* preconditioner)
      : CgIterations(rows, columns, threads, product, preconditioner),
        rows_(rows),
        threads_(threads) {}

 private:
  std::vector<double> curvatures() override {
    const MklThreads threads(threads_);
    return {cblas_ddot(rows_, p_.data(), 1, q_.data(), 1)};
  }

  std::vector<double> update_residual(const std::vector<Column>& columns) override {
    const MklThreads threads(threads_);
    cblas_daxpy(rows_, -columns[0].alpha, q_.data(), 1, r_.data(), 1);
    const double rr = cblas_ddot(rows_, r_.data(), 1, r_.data(), 1);
    if (preconditioner_ == nullptr) return {rr, rr};
    vdMul(rows_, preconditioner_->inverse_diagonal(), r_.data(), z_.data());
    return {rr, cblas_ddot(rows_, r_.data(), 1, z_.data(), 1)};
  }

  void update_directions(const std::vector<Column>& columns, double* x) override {
    const MklThreads threads(threads_);
    if (!columns[0].is_active) return;
    if (columns[0].keeps) {
      std::memcpy(best_.data(), x, static_cast<std::size_t>(rows_) * sizeof(double));
    }
    const double* const z = preconditioner_ == nullptr ? r_.data() : z_.data();
    cblas_daxpy(rows_, columns[0].alpha, p_.data(), 1, x, 1);
    cblas_daxpby(rows_, 1, z, 1, columns[0].beta, p_.data(), 1);
  }

  Index rows_;
  int threads_;
};

}  // namespace

std::unique_ptr<SolveMethod> make_vendor_mkl(const SolveInput& input) {
  SolveInput with_mkl = input;
  if (with_mkl.product.empty()) with_mkl.product = "vendor_mkl";
  return std::make_unique<CgMethod<double, double, MklIterations>>(with_mkl);
}

}  // namespace csrkit::cpu
