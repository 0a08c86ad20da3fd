// row_parallel: row_loop on many cores, rows shared out by an OpenMP schedule.
// Owns     a thread makes whole rows of C; which ones, --schedule and --chunk decide
// Reads    as row_loop
// Launch   static by default: rows in equal numbers, nonzeros as luck has it
// Needs    one row of accumulators per thread
// Against  row_loop: all cores work; equal numbers of rows are unequal work (dynamic and guided
//          mend that for a price), one huge row still belongs to one thread, and the sums still
//          travel through L1
#include <algorithm>
#include <vector>

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

namespace {

template <class Kinds>
struct RowParallel {
  static void multiply(const Operands<Kinds>& x) {
    using Acc = typename Kinds::Acc;
    const ScopedSchedule schedule(x.team);
#pragma omp parallel num_threads(x.team.threads)
    {
      std::vector<Acc> sums(static_cast<std::size_t>(x.dense_cols));
      Acc* sum = sums.data();
#pragma omp for schedule(runtime)
      for (Index i = 0; i < x.a.rows; ++i) {
        std::fill(sums.begin(), sums.end(), Acc{0});
        for (Offset at = x.a.row_offsets[i]; at < x.a.row_offsets[i + 1]; ++at) {
          const Acc value = x.a.template value_as<Acc>(at);
          const auto* b = x.b_row(x.a.col_indices[at]);
          for (Index j = 0; j < x.dense_cols; ++j) sum[j] += value * load_as<Acc>(b[j]);
        }
        auto* c = x.c_row(i);
        for (Index j = 0; j < x.dense_cols; ++j) x.store(c[j], sum[j]);
      }
    }
  }
};

}  // namespace

std::unique_ptr<SpmmMethod> make_row_parallel(const MethodInput& input) {
  return make_stateless<RowParallel>(input);
}

}  // namespace csrkit::cpu
