// Rows of a block of a dense matrix, packed for a copy elsewhere and unpacked.
#pragma once

#include <cstddef>

#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// Rows of equally many bytes, `pitch_bytes` from one to the next.
template <class Byte>
struct PitchedRows {
  Byte* data = nullptr;
  std::size_t pitch_bytes = 0;
};

/// Packs rows side by side into `to`, which stays in the cache: the next copy finds it
/// there.
void pack_rows(std::byte* to, PitchedRows<const std::byte> from, std::size_t row_bytes,
               Offset rows);

/// The reverse. Stores go past the cache, because the rows of `to` are not read soon.
void unpack_rows(PitchedRows<std::byte> to, const std::byte* from, std::size_t row_bytes,
                 Offset rows);

}  // namespace csrkit
