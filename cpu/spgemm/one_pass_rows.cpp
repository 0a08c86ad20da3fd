// one_pass_rows: adaptive_rows without counting first.
// Owns     as adaptive_rows; a thread has room for three pieces of rows, whose entries wait there
//          until all pieces before them have a size
// Reads    as adaptive_rows, but once
// Launch   pieces in ascending order, so that places are known soon; single long rows are counted
//          first
// Needs    memory for C by an estimate from some hundred rows. Two passes are left where that does
//          not fit the limit, where the estimate was too low, and for blocks of rows
// Against  adaptive_rows: no counting, which is a fifth to a third of its time; a copy of C from
//          the second-level cache instead, which goes past the caches where C does not fit them
#include "cpu/spgemm/adaptive_rows.h"

namespace csrkit::cpu {

std::unique_ptr<SpgemmMethod> make_spgemm_one_pass_rows(const SpgemmInput& input) {
  return make_adaptive(input, true);
}

}  // namespace csrkit::cpu
