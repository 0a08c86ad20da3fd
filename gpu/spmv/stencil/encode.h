// The analysis of stencil: diagonals, and which of them are constant.
#pragma once

#include "gpu/spmv/diagonals.h"

namespace csrkit::gpu {

/// Diagonals that share one word of a row's mask.
inline constexpr Index kMaskBits = 32;

/// So many diagonals are passed as a kernel parameter; auto takes no stencil with more.
inline constexpr Index kFewDiagonals = 64;

/// Bytes of a row's mask: a bit for each constant diagonal, in the narrowest word. More than
/// kMaskBits diagonals take several words of 4 bytes: the first words of all rows, then the second
/// ones.
inline Index mask_bytes_for(Index constants) {
  if (constants <= 8) return constants > 0 ? 1 : 0;
  if (constants <= 16) return 2;
  return (constants + kMaskBits - 1) / kMaskBits * 4;
}

/// The mark of a stored diagonal's gap: the NaN of all ones, for every kind of value.
template <class Bits>
inline constexpr Bits kGap = static_cast<Bits>(~Bits{0});

/// The diagonals of a matrix, and which of them need more than one value.
class EncodedDiagonals {
 public:
  /// Finds diagonals and their kinds; waits; stores nothing. Returns false if there are more than
  /// `most` diagonals; then the rest is not known. `value_bytes` is 2, 4 or 8.
  bool measure(const DeviceCsrView<void>& a, int value_bytes, Offset most, DeviceMemory& memory);

  /// Stores, after measure, with the same matrix: mask_bytes() a row into `masks`, and `stored()`
  /// times a.rows values of value_bytes into `values`, kGap where there is no entry. A value that
  /// is that very NaN becomes another one.
  void store(const DeviceCsrView<void>& a, int value_bytes, unsigned char* masks, void* values,
             cudaStream_t stream) const;

  Index count() const { return found_.count; }
  /// Diagonals whose values differ; all entries of any other have the same bits.
  Index stored() const { return stored_; }
  Index mask_bytes() const { return mask_bytes_for(count() - stored_); }
  /// Masks and values; `value_bytes` is 0 where A has no values.
  std::uint64_t bytes(Index rows, int value_bytes) const {
    return static_cast<std::uint64_t>(rows) *
           static_cast<std::uint64_t>(mask_bytes() + Offset{stored_} * value_bytes);
  }

  struct View {
    Index count;
    Index stored;
    const Index* offsets;  // col - row, ascending
    const Offset* slots;   // count + 1: how many before a diagonal are stored
    const Offset* firsts;  // an entry of each diagonal; null where A has no values
#ifdef __CUDACC__
    /// The format has the stored diagonals first, then the constant ones, each in order.
    __device__ Index place_of(Index d) const {
      const auto slot = static_cast<Index>(slots[d]);
      return slots[d + 1] > slots[d] ? slot : stored + d - slot;
    }
#endif
  };
  View view() const {
    return {count(), stored_, found_.offsets.data(), slots_.data(), firsts_.data()};
  }

 private:
  Diagonals found_;
  Index stored_ = 0;
  DeviceBuffer<Offset> firsts_;
  DeviceBuffer<Offset> slots_;
};

}  // namespace csrkit::gpu
