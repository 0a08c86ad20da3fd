// naive_rows: Gustavson's algorithm as in the book, one row of C after the other.
// Owns     one thread owns everything: a sum per column of C and a list of the columns in use
// Reads    rows of B as A's columns come; sums in no order at all
// Launch   one thread
// Needs    nothing
// Against  nothing: the first rung. Source: F. G. Gustavson, ACM TOMS 4(3), 1978
#include "cpu/spgemm/ladder/ladder_rows.h"

namespace csrkit::cpu {

std::unique_ptr<SpgemmMethod> make_spgemm_naive_rows(const SpgemmInput& input) {
  return make_ladder_rows<DenseRung>(input, false);
}

}  // namespace csrkit::cpu
