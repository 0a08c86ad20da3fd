// naive: the definition, one element of C after the other.
// Owns     one thread makes all of C; the loop over columns is outside
// Reads    A once per column; B along its columns, a new cache line for every nonzero
// Needs    nothing
// Against  nothing: the first rung. Source: the textbook
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

namespace {

template <class Kinds>
struct Naive {
  static void multiply(const Operands<Kinds>& x) {
    using Acc = typename Kinds::Acc;
    for (Index j = 0; j < x.dense_cols; ++j) {
      for (Index i = 0; i < x.a.rows; ++i) {
        Acc sum = 0;
        for (Offset at = x.a.row_offsets[i]; at < x.a.row_offsets[i + 1]; ++at) {
          sum += x.a.template value_as<Acc>(at) * load_as<Acc>(x.b_row(x.a.col_indices[at])[j]);
        }
        x.store(x.c_row(i)[j], sum);
      }
    }
  }
};

}  // namespace

std::unique_ptr<SpmmMethod> make_naive(const MethodInput& input) {
  return make_stateless<Naive>(input);
}

}  // namespace csrkit::cpu
