// auto: picks a kernel. Rules stand in order, the first one that holds decides; nowhere else in
// this room is it said which kernel is for what.
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu::spmv {

std::unique_ptr<SpmmMethod> make_csr_rows(const MethodInput&);

namespace {

/// A method under the name of the kernel that it is.
class Chosen : public SpmmMethod {
 public:
  Chosen(std::unique_ptr<SpmmMethod> method, const char* kernel, const char* because)
      : method_(std::move(method)), kernel_(kernel), because_(because) {}
  void multiply(const MethodCall& call) override { method_->multiply(call); }
  std::string choice() const override {
    const std::string inner = method_->choice();
    return kernel_ + (" (because " + because_ + ")") + (inner.empty() ? "" : ": " + inner);
  }
  std::string chosen_kernel() const override { return "spmv." + kernel_; }
  std::uint64_t stored_bytes() const override { return method_->stored_bytes(); }

 private:
  std::unique_ptr<SpmmMethod> method_;
  std::string kernel_, because_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_auto(const MethodInput& input) {
  if (input.problem.semiring != Semiring::plus_times) {
    return std::make_unique<Chosen>(cpu::make_reference(input), "reference", "of the semiring");
  }
  return std::make_unique<Chosen>(make_csr_rows(input), "csr_rows", "it suits every matrix");
}

}  // namespace csrkit::cpu::spmv
