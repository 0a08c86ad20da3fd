// Neighbouring rows with the same columns, as for the unknowns of one node of a mesh.
#pragma once

#include <cstdint>

#include "core/base/buffer.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

struct AlikeRows {
  Buffer<std::uint8_t> next_is_alike;  // of every row: 1 if the next one has the same columns
  Offset entries = 0;                  // of all rows with an alike neighbour; empty rows have none
  Offset of_firsts = 0;                // of those that are not alike to the row before
};

AlikeRows find_alike_rows(const CsrMatrix& a, int threads);

/// Whether at least one entry in eight belongs to alike rows. Then making these rows together gains
/// more than is lost on the others, which are made in shorter runs.
bool are_worth_joining(const AlikeRows& rows, const CsrMatrix& a);

}  // namespace csrkit::cpu
