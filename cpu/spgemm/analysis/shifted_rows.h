// Rows of A whose products are those of the row before, one column further, as on a grid.
#pragma once

#include <cstdint>

#include "core/base/buffer.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// What a sample of the rows says: false if fewer than half of them are as below.
bool may_have_shifted_rows(const CsrMatrix& a, const CsrMatrix& op_b);

/// Of rows [first, last) of A: 1 if the next one has the same columns one further.
void mark_shifted_rows(const CsrMatrix& a, Index first, Index last, std::uint8_t* marks);

/// Of rows [first, last) of A: 1 if the row is marked, and all rows of B that it names.
void keep_shifted_products(const CsrMatrix& a, Index first, Index last, const std::uint8_t* of_a,
                           const std::uint8_t* of_b, std::uint8_t* found);

/// Of every row of A: 1 if the next one has the same columns one further, and if every row of B
/// that it names has the columns of the row of B before it, one further. Then C's next row has the
/// columns of this one, one further, and its products go to the same places in it. Empty where a
/// sample says that fewer than half of the rows are like that.
Buffer<std::uint8_t> find_shifted_rows(const CsrMatrix& a, const CsrMatrix& op_b, int threads);

}  // namespace csrkit::cpu
