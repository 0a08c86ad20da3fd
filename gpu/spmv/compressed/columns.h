// How compressed stores columns: a base for each step of a slice, and differences from it, in as
// few bytes as the slice's largest needs. Host and device share this arithmetic, so it is tested
// without a GPU.
#pragma once

#include <cstdint>

#include "core/base/types.h"
#include "core/contract/semiring.h"

namespace csrkit::gpu {

/// The narrowest width of a difference for one step, in bytes; 0 where lane l has column base + l,
/// as inside a stencil. The largest number of each width stands for padding. `is_run`: all 32 lanes
/// have an entry, of column base + lane. `widest` is the largest difference from the step's lowest
/// column.
CSRKIT_HOST_DEVICE inline int difference_bytes(bool is_run, std::uint32_t widest) {
  if (is_run) return 0;
  if (widest < 0xffu) return 1;
  if (widest < 0xffffu) return 2;
  return 4;
}

/// The column behind a stored difference; -1 for padding.
template <class Stored>
CSRKIT_HOST_DEVICE inline Index column_behind(Index base, Stored difference) {
  return difference == static_cast<Stored>(~Stored{0})
             ? -1
             : base + static_cast<Index>(static_cast<std::uint32_t>(difference));
}

/// The description of a slice for a kernel: one load of 16 bytes. Steps and rows of differences are
/// counted in 32 bits: 2^32 of them are 137 G entries, more than a device holds.
struct alignas(16) CompressedSlice {
  std::uint32_t first_step;            // of bases and values
  std::uint32_t differences_at;        // in steps of one byte a lane: 32 bytes each
  Index width;                         // steps
  std::int32_t bytes_of_a_difference;  // 0, 1, 2 or 4
};

/// Bytes of A in this format: `steps` of slices of 32 rows, `difference_bytes` for all columns
/// together, values of `value_bytes` each or, with at most 256 different ones, codes of one byte.
CSRKIT_HOST_DEVICE inline std::uint64_t compressed_bytes(Offset slices, Offset steps,
                                                         Offset difference_bytes, int value_bytes,
                                                         bool has_codes) {
  const std::uint64_t places = static_cast<std::uint64_t>(steps) * 32;
  const std::uint64_t per_value = has_codes ? 1 : static_cast<std::uint64_t>(value_bytes);
  return static_cast<std::uint64_t>(slices) * sizeof(CompressedSlice) +
         static_cast<std::uint64_t>(steps) * sizeof(Index) +
         static_cast<std::uint64_t>(difference_bytes) + places * per_value;
}

}  // namespace csrkit::gpu
