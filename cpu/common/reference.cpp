// reference: the product that checks compare with, as a kernel that users can run.
// Owns     one thread makes all of C, row by row, summing in float64 whatever the kinds are
// Reads    everything through conversions to double, one element at a time
// Needs    nothing
// Against  nothing: everything else is compared with this
#include "core/judge/reference.h"

#include <vector>

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

namespace {

class Reference : public SpmmMethod {
 public:
  explicit Reference(const MethodInput& input)
      : op_a_(input.op_a), semiring_(input.problem.semiring) {
    const auto columns = static_cast<std::size_t>(input.problem.dense_cols);
    input.budget.reserve(columns * sizeof(ReferenceEntry), "one row of the reference");
    row_.resize(columns);
  }

  void multiply(const MethodCall& call) override {
    const ConstDenseView before = call.c;
    for (Index i = 0; i < call.c.rows; ++i) {
      reference_spmm_row(op_a_, call.b, semiring_, call.alpha, call.beta,
                         call.beta != 0 ? &before : nullptr, i, row_.data());
      for (Index j = 0; j < call.c.cols; ++j) {
        call.c.set(i, j, row_[static_cast<std::size_t>(j)].value);
      }
    }
  }

 private:
  CsrMatrix op_a_;
  Semiring semiring_;
  std::vector<ReferenceEntry> row_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_reference(const MethodInput& input) {
  return std::make_unique<Reference>(input);
}

}  // namespace csrkit::cpu
