// auto: picks a kernel. This is the only place here that says which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    nothing
// Against  choosing by hand: one kernel is the best for all matrices
#include "cpu/sddmm/plan.h"

namespace csrkit::cpu::sddmm {

std::unique_ptr<SddmmMethod> make_nnz_balanced(const SddmmInput&);

namespace {

class Chosen : public SddmmMethod {
 public:
  explicit Chosen(const SddmmInput& input) : method_(make_nnz_balanced(input)) {}
  void multiply(const SddmmCall& call) override { method_->multiply(call); }
  std::string choice() const override {
    return "nnz_balanced (because equal stretches of entries suit rows of any length): " +
           method_->choice();
  }
  std::string chosen_kernel() const override { return "nnz_balanced"; }

 private:
  std::unique_ptr<SddmmMethod> method_;
};

}  // namespace

std::unique_ptr<SddmmMethod> make_auto(const SddmmInput& input) {
  return std::make_unique<Chosen>(input);
}

}  // namespace csrkit::cpu::sddmm
