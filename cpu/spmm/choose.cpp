// auto: picks a kernel. Rules stand in order, the first one that holds decides; nowhere else in
// this room is it said which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    sizes and the memory limit only: never the number of threads, which must not change a
//          bit
// Against  choosing by hand: what is measured about the kernels is written down once
#include <algorithm>
#include <utility>

#include "cpu/common/caches.h"
#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

std::unique_ptr<SpmmMethod> make_chunked_rows(const MethodInput&);
std::unique_ptr<SpmmMethod> make_column_ranges(const MethodInput&);
std::unique_ptr<SpmmMethod> make_nnz_balanced(const MethodInput&);

namespace {

/// Rows of B and C that end within a cache line are summed from a copy of A in chunks, where one
/// vector holds them, ...
Offset bytes_of_short_vector() { return chosen_isa_for_short_loads() == Isa::avx512 ? 64 : 32; }
/// ... and whole lines, where rows of A have fewer entries.
constexpr Offset kShortRow = 12;

template <MethodFactory make>
std::unique_ptr<SpmmMethod> transpose_first(const MethodInput& input) {
  MethodInput transposed = input;
  transposed.op_a = transpose_within(input.budget, input.problem.a, "A", input.team.threads);
  return make(transposed);
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

bool has_few_columns(const MethodInput& input) {
  const SpmmProblem& problem = input.problem;
  const CsrMatrix& a = problem.a;
  const Offset row_bytes = problem.dense_cols * static_cast<Offset>(size_of(problem.b));
  const Index rows = is_transposed(input) ? a.cols() : a.rows();
  const bool is_plain = problem.semiring == Semiring::plus_times && problem.b == problem.c &&
                        (problem.b == ValueKind::f32 || problem.b == ValueKind::f64) &&
                        (a.value_kind() == problem.b || a.value_kind() == ValueKind::none);
  const bool has_vectors = chosen_isa() != Isa::portable;
  const std::uint64_t copy = a.size_bytes() + a.size_bytes() / 8;
  const std::uint64_t all = copy + (is_transposed(input) ? transpose_bytes(a) : 0);
  const bool are_few = row_bytes == kCacheLineBytes
                           ? a.nnz() < kShortRow * rows
                           : row_bytes < kCacheLineBytes && row_bytes <= bytes_of_short_vector();
  return is_plain && has_vectors && input.budget.fits(all) && are_few;
}

struct Rule {
  bool (*holds)(const MethodInput&);
  const char* kernel;
  MethodFactory make;
  const char* because;
};

const Rule kRules[] = {
    {[](const MethodInput& input) {
       return input.problem.dense_cols == 1 && !has_narrow_operands(input.problem) &&
              (!is_transposed(input) || input.budget.fits(transpose_bytes(input.problem.a)));
     },
     "spmv", &make_one_column, "one column is a vector"},
    {[](const MethodInput& input) {
       return is_transposed(input) && !input.budget.fits(transpose_bytes(input.problem.a));
     },
     "column_ranges", &make_column_ranges, "the memory limit leaves no room for A^T"},
    {[](const MethodInput& input) { return is_transposed(input) && has_few_columns(input); },
     "chunked_rows", &transpose_first<make_chunked_rows>,
     "A^T, made once, is gathered from by rows of few columns"},
    {&has_few_columns, "chunked_rows", &make_chunked_rows,
     "beside few columns the end of a row costs more than its entries"},
    {&is_transposed, "nnz_balanced", &transpose_first<make_nnz_balanced>,
     "A^T, made once, is gathered from by rows"},
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
