// dense_rows: naive_rows by all threads.
// Owns     a thread owns whole rows of C and a sum per column of C
// Reads    as naive_rows
// Launch   pieces of rows of equal products, taken as threads are free
// Needs    memory for a row of sums per thread: refused if the limit forbids it
// Against  naive_rows: all cores. Still bad: the sums of wide matrices do not fit a cache, and
//          sorting compares
#include "cpu/spgemm/ladder/ladder_rows.h"

namespace csrkit::cpu {

std::unique_ptr<SpgemmMethod> make_spgemm_dense_rows(const SpgemmInput& input) {
  return make_ladder_rows<DenseRung>(input, true);
}

}  // namespace csrkit::cpu
