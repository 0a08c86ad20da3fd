// Slices of 32 rows, the frame of the formats sell and compressed: SELL-C-sigma with C = 32
// (Kreutzer, Hager, Wellein, Fehske, Bishop: A unified sparse matrix data format for efficient
// general sparse matrix-vector multiplication on modern processors with wide SIMD units, SIAM J.
// Sci. Comput. 2014).
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

inline constexpr int kSliceRows = 32;

/// The view of slices for kernels. Place p of a slice is lane p % 32; its row is
/// `rows_of_places[p]`, or p itself where that is null. Slice s has the steps first_steps[s] ...
/// first_steps[s + 1]: as many as its longest row has entries; where that is null, all slices have
/// `width` steps, and a product need not wait for a start. Step t holds one entry of each row:
/// elements 32 * t + lane.
struct SlicesView {
  Index rows = 0;
  Index count = 0;
  const Offset* first_steps = nullptr;  // count + 1
  Index width = 0;
  const Index* rows_of_places = nullptr;

#ifdef __CUDACC__
  __device__ Offset first_step(Index slice) const {
    return first_steps == nullptr ? Offset{slice} * width : first_steps[slice];
  }
  __device__ Index steps_of(Index slice) const {
    return first_steps == nullptr ? width
                                  : static_cast<Index>(first_steps[slice + 1] - first_steps[slice]);
  }
  /// -1 for a lane beyond the last row.
  __device__ Index row_of(Index slice, int lane) const {
    const Offset place = Offset{slice} * kSliceRows + lane;
    if (place >= rows) return -1;
    return rows_of_places == nullptr ? static_cast<Index>(place) : rows_of_places[place];
  }
#endif
};

/// The frame of one matrix, in device memory. Rows keep their order if that costs little padding;
/// else they are sorted by length within windows of kSortWindow rows. All slices get the width of
/// the widest if that costs little padding.
class Slices {
 public:
  static constexpr Index kSortWindow = 4096;

  Slices() = default;
  /// Waits.
  Slices(const DeviceCsrView<void>& a, DeviceMemory& memory);

  SlicesView view() const {
    return {rows_, count_, first_steps_.data(), static_cast<Index>(longest_),
            rows_of_places_.data()};
  }
  Offset steps() const { return steps_; }
  Offset places() const { return steps_ * kSliceRows; }  // entries, padding included
  Offset longest() const { return longest_; }            // steps of one slice
  bool is_sorted() const { return rows_of_places_.size() > 0; }
  std::uint64_t bytes() const { return first_steps_.size_bytes() + rows_of_places_.size_bytes(); }

 private:
  Index rows_ = 0;
  Index count_ = 0;
  Offset steps_ = 0;
  Offset longest_ = 0;
  DeviceBuffer<Offset> first_steps_;
  DeviceBuffer<Index> rows_of_places_;
};

/// Warps that share a slice, 1, 2, 4 or 8: more where slices are few and long, so that small
/// matrices fill the device.
int warps_per_slice(const Slices& slices);

}  // namespace csrkit::gpu
