// A block of a dense matrix that nobody holds as a whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// Fills `block` with what fill_random would put where it lies in the whole matrix, at (first_row,
/// first_col) and onwards. Host memory only.
void fill_random_block(DenseView block, std::uint64_t seed, Index first_row, Index first_col);

/// Rows of equally many bytes, `pitch_bytes` from one to the next.
template <class Byte>
struct PitchedRows {
  Byte* data = nullptr;
  std::size_t pitch_bytes = 0;
};

/// Packs rows side by side into `to`, which stays in the cache: whoever copies it on finds it
/// there.
void pack_rows(std::byte* to, PitchedRows<const std::byte> from, std::size_t row_bytes,
               Offset rows);

/// The way back, around the cache: the rows of `to` are written and not read.
void unpack_rows(PitchedRows<std::byte> to, const std::byte* from, std::size_t row_bytes,
                 Offset rows);

}  // namespace csrkit
