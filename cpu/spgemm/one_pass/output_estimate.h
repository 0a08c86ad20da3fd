// How many entries C will have, from a sample of its rows: the room that one_pass needs.
#pragma once

#include "core/base/types.h"
#include "cpu/spgemm/one_pass/one_pass.h"

namespace csrkit::cpu {

/// An estimate of C's entries before C is made.
struct OutputEstimate {
  Offset nnz = 0;      // what one may expect
  Offset at_most = 0;  // that and four standard errors of it: not certain
};

/// Counts a few hundred rows, picked by their cost; heavy pieces are taken for as many entries as
/// they have room for. `cost_sums` are the running sums that RowPieces left.
OutputEstimate estimate_output(OnePassRows& rows, const Offset* cost_sums, int threads);

}  // namespace csrkit::cpu
