// auto: picks a kernel. Rules stand in order, the first one that holds decides; nowhere else in
// this room is it said which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    sizes and the memory limit only: never the number of threads, which must not change a
//          bit
// Against  choosing by hand: what is measured about the kernels is written down once
#include <algorithm>
#include <utility>

#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

std::unique_ptr<SpmmMethod> make_column_ranges(const MethodInput&);
std::unique_ptr<SpmmMethod> make_nnz_balanced(const MethodInput&);

namespace {

std::unique_ptr<SpmmMethod> transpose_first(const MethodInput& input) {
  MethodInput transposed = input;
  transposed.op_a = transpose_within(input.budget, input.problem.a, "A", input.team.threads);
  return make_nnz_balanced(transposed);
}

/// The plan of SpMV's chooser: kernels of its own, in formats of their own.
class OneColumn : public SpmmMethod {
 public:
  explicit OneColumn(const MethodInput& input) {
    PlanOptions options;
    options.memory_limit_bytes =
        std::max<std::uint64_t>(1, input.budget.limit_bytes() - input.budget.held_bytes());
    options.where.threads = input.team.threads;
    plan_ = find_kernel(spmv_kernels(), "auto").make_plan(input.problem, options);
    input.budget.note_peak(input.budget.held_bytes() + plan_->phases().peak_bytes);
  }
  void multiply(const MethodCall& call) override {
    plan_->bind(call.b, call.c);
    plan_->multiply(call.alpha, call.beta);
  }
  std::string choice() const override { return plan_->choice(); }
  std::string chosen_kernel() const override { return "spmv." + plan_->chosen_kernel(); }
  std::uint64_t stored_bytes() const override { return plan_->stored_bytes(); }

 private:
  std::unique_ptr<Operator> plan_;
};

std::unique_ptr<SpmmMethod> make_one_column(const MethodInput& input) {
  return std::make_unique<OneColumn>(input);
}

bool is_transposed(const MethodInput& input) { return input.problem.transpose_a; }

struct Rule {
  bool (*holds)(const MethodInput&);
  const char* kernel;
  MethodFactory make;
  const char* because;
};

const Rule kRules[] = {
    {[](const MethodInput& input) {
       return input.problem.dense_cols == 1 && !has_narrow_operands(input.problem) &&
              (!is_transposed(input) ||
               input.budget.fits(transpose_bytes(input.problem.a, input.team.threads)));
     },
     "spmv", &make_one_column, "one column is a vector"},
    {[](const MethodInput& input) {
       return is_transposed(input) &&
              !input.budget.fits(transpose_bytes(input.problem.a, input.team.threads));
     },
     "column_ranges", &make_column_ranges, "the memory limit leaves no room for A^T"},
    {&is_transposed, "nnz_balanced", &transpose_first, "A^T, made once, is gathered from by rows"},
    {[](const MethodInput&) { return true; }, "nnz_balanced", &make_nnz_balanced,
     "equal pieces of nonzeros suit rows of any length"},
};

class Chosen : public SpmmMethod {
 public:
  explicit Chosen(const MethodInput& input) {
    for (const Rule& rule : kRules) {
      if (!rule.holds(input)) continue;
      method_ = rule.make(input);
      kernel_ = method_->chosen_kernel().empty() ? rule.kernel : method_->chosen_kernel();
      choice_ = std::string(rule.kernel) + " (because " + rule.because + "): " + method_->choice();
      return;
    }
  }
  void multiply(const MethodCall& call) override { method_->multiply(call); }
  std::string choice() const override { return choice_; }
  std::string chosen_kernel() const override { return kernel_; }
  std::uint64_t stored_bytes() const override { return method_->stored_bytes(); }

 private:
  std::unique_ptr<SpmmMethod> method_;
  std::string kernel_, choice_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_auto(const MethodInput& input) {
  return std::make_unique<Chosen>(input);
}

}  // namespace csrkit::cpu
