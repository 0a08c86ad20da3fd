// auto: picks a kernel. Rules stand in order, the first one that holds decides; nowhere else in this
// room is it said which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    the problem only
// Against  choosing by hand: what is measured about the kernels is written down once
#include "cpu/spgemm/plan.h"

namespace csrkit::cpu {

std::unique_ptr<SpgemmMethod> make_spgemm_one_pass_rows(const SpgemmInput&);

namespace {

struct Rule {
  bool (*holds)(const SpgemmInput&);
  const char* kernel;
  SpgemmMethodFactory make;
  const char* because;
};

const Rule kRules[] = {
    {[](const SpgemmInput& input) { return input.problem.mask.has_value(); }, "one_pass_rows",
     &make_spgemm_one_pass_rows, "it makes the products inside the mask only, and once"},
    {[](const SpgemmInput&) { return true; }, "one_pass_rows", &make_spgemm_one_pass_rows,
     "it chooses again for every row, and makes it once"},
};

class Chosen : public SpgemmMethod {
 public:
  explicit Chosen(const SpgemmInput& input) {
    for (const Rule& rule : kRules) {
      if (!rule.holds(input)) continue;
      method_ = rule.make(input);
      choice_ = std::string(rule.kernel) + " (because " + rule.because + ")";
      return;
    }
  }
  void balance(Offset* row_products) override { method_->balance(row_products); }
  std::uint64_t scratch_bytes() const override { return method_->scratch_bytes(); }
  void count(Index* row_nnz) override { method_->count(row_nnz); }
  void fill(const SpgemmRows& rows) override { method_->fill(rows); }
  OnePassRows* one_pass() override { return method_->one_pass(); }
  void set_values(const CsrMatrix& a, const CsrMatrix& op_b) override {
    method_->set_values(a, op_b);
  }
  std::string choice() const override { return choice_ + ": " + method_->choice(); }

 private:
  std::unique_ptr<SpgemmMethod> method_;
  std::string choice_;
};

}  // namespace

std::unique_ptr<SpgemmMethod> make_spgemm_auto(const SpgemmInput& input) {
  return std::make_unique<Chosen>(input);
}

}  // namespace csrkit::cpu
