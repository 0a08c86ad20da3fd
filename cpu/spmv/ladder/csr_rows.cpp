// csr_rows: one sum per row of A, rows shared out by an OpenMP schedule.
// Owns     a thread makes whole elements of y; which ones, --schedule and --chunk decide
// Reads    A once in order; x wherever the row's columns point
// Launch   static by default: rows in equal numbers, nonzeros as luck has it
// Needs    nothing
// Against  the textbook's loop: nothing but threads; one sum waits for the last addition
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Kinds>
struct CsrRows {
  static void multiply(const Operands<Kinds>& p) {
    using Acc = typename Kinds::Acc;
    const ScopedSchedule schedule(p.team);
#pragma omp parallel for num_threads(p.team.threads) schedule(runtime)
    for (Index i = 0; i < p.a.rows; ++i) {
      Acc sum{0};
      for (Offset at = p.a.row_offsets[i]; at < p.a.row_offsets[i + 1]; ++at) {
        sum += p.a.template value_as<Acc>(at) * load_as<Acc>(*p.b_row(p.a.col_indices[at]));
      }
      p.store(*p.c_row(i), sum);
    }
  }
};

}  // namespace

std::unique_ptr<SpmmMethod> make_csr_rows(const MethodInput& input) {
  return with_spmm_kinds<true>(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    using Kinds = decltype(kinds);
    return std::make_unique<StatelessMethod<CsrRows<Kinds>, Kinds>>(input);
  });
}

}  // namespace csrkit::cpu::spmv
