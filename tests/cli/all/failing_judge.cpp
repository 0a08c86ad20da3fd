// Preloaded into a tool (LD_PRELOAD), finds every product wrong.
#include "core/judge/compare.h"
#include "ranks/spmm_check.h"

namespace csrkit {

namespace {

CheckResult wrong() {
  CheckResult result;
  result.passed = false;
  result.rows_checked = 1;
  result.failure = "row 0, column 0: the preloaded judge likes nothing";
  return result;
}

}  // namespace

CheckResult check_spmm(const SpmmProblem& /*problem*/, ConstDenseView /*b*/, double /*alpha*/,
                       double /*beta*/, const ConstDenseView* /*c0*/, ConstDenseView /*c*/,
                       const CheckOptions& /*options*/) {
  return wrong();
}

CheckResult check_spgemm(const SpgemmProblem& /*problem*/, const CsrMatrix& /*c*/,
                         const CheckOptions& /*options*/) {
  return wrong();
}

CheckResult check_sddmm(const SddmmProblem& /*problem*/, ConstDenseView /*x*/, ConstDenseView /*y*/,
                        double /*alpha*/, double /*beta*/, const ConstValuesView* /*c0*/,
                        ConstValuesView /*c*/, const CheckOptions& /*options*/) {
  return wrong();
}

namespace ranks {

CheckResult check_sampled_rows(SpmmRank& /*rank*/, const RowOfB& /*row_of_b*/,
                               const RowOfA& /*row_of_a*/, std::uint64_t /*work_limit*/,
                               std::uint64_t /*seed*/) {
  return wrong();
}

}  // namespace ranks

}  // namespace csrkit
