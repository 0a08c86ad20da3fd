// row_loop: the loops swapped, so that B and C are read and written along their rows.
// Owns     one thread makes all of C, a row at a time; its sums are gathered in a row of their own
// Reads    A once; for every nonzero a whole row of B, contiguous
// Needs    one row of accumulators
// Against  naive: no cache line of B is fetched for one element any more, and A is read once; the
//          sums travel through memory (L1) for every nonzero, and one core works
#include <algorithm>
#include <vector>

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

namespace {

template <class Kinds>
struct RowLoop {
  static void multiply(const Operands<Kinds>& x) {
    using Acc = typename Kinds::Acc;
    std::vector<Acc> sums(static_cast<std::size_t>(x.dense_cols));
    Acc* sum = sums.data();
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
};

}  // namespace

std::unique_ptr<SpmmMethod> make_row_loop(const MethodInput& input) {
  return make_stateless<RowLoop>(input);
}

}  // namespace csrkit::cpu
