// Neighbouring rows with the same columns, as the unknowns of one node of a mesh have them.
#pragma once

#include <cstdint>

#include "core/base/buffer.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

struct AlikeRows {
  Buffer<std::uint8_t> next_is_alike;  // of every row: 1 if the next one has the same columns
  Offset entries = 0;                  // of rows that have a neighbour alike; empty ones have none
};

AlikeRows find_alike_rows(const CsrMatrix& a, int threads);

/// Whether one entry in eight belongs to rows alike: then making such rows together is worth that
/// the others are made in shorter runs.
bool are_worth_joining(const AlikeRows& rows, const CsrMatrix& a);

}  // namespace csrkit::cpu
