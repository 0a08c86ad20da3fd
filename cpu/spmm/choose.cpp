// auto: picks a kernel. Rules stand in order, the first one that holds decides; nowhere else in
// this room is it said which kernel is for what. Owns     the decision; the work is the chosen
// kernel's Needs    shape and number of nonzeros only Against  choosing by hand: what is measured
// about the kernels is written down once
#include <utility>

#include "cpu/spmm/plan.h"

namespace csrkit::cpu {

std::unique_ptr<SpmmMethod> make_nnz_balanced(const MethodInput&);

namespace {

struct Rule {
  bool (*holds)(const MethodInput&);
  const char* kernel;
  MethodFactory make;
  const char* because;
};

const Rule kRules[] = {
    {[](const MethodInput& input) { return input.problem.semiring != Semiring::plus_times; },
     "nnz_balanced", &make_nnz_balanced, "it is the parallel kernel for every semiring"},
    {[](const MethodInput&) { return true; }, "nnz_balanced", &make_nnz_balanced,
     "equal pieces of nonzeros suit rows of any length"},
};

class Chosen : public SpmmMethod {
 public:
  explicit Chosen(const MethodInput& input) {
    for (const Rule& rule : kRules) {
      if (!rule.holds(input)) continue;
      method_ = rule.make(input);
      choice_ = std::string(rule.kernel) + " (because " + rule.because + ")";
      return;
    }
  }
  void multiply(const MethodCall& call) override { method_->multiply(call); }
  std::string choice() const override { return choice_; }

 private:
  std::unique_ptr<SpmmMethod> method_;
  std::string choice_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_auto(const MethodInput& input) {
  return std::make_unique<Chosen>(input);
}

}  // namespace csrkit::cpu
