// The analysis of compressed: widths of differences, and the table of values.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spmv/compressed/columns.h"
#include "gpu/spmv/slices/slices.h"

namespace csrkit::gpu {

/// Differences and their bases, in device memory.
class EncodedColumns {
 public:
  /// Finds the widths; waits for the number of bytes. Stores nothing yet.
  void measure(const DeviceCsrView<void>& a, const Slices& slices, DeviceMemory& memory);
  /// Stores; after measure, with the same matrix.
  void store(const DeviceCsrView<void>& a, const Slices& slices, DeviceMemory& memory);

  Offset difference_bytes() const { return difference_bytes_; }
  const CompressedSlice* slices() const { return slices_.data(); }
  const Index* bases() const { return bases_.data(); }
  const unsigned char* differences() const { return differences_.data(); }

 private:
  Offset difference_bytes_ = 0;
  DeviceBuffer<Offset> starts_;  // of the differences of each slice
  DeviceBuffer<CompressedSlice> slices_;
  DeviceBuffer<Index> bases_;
  DeviceBuffer<unsigned char> differences_;
};

/// The different values of a matrix, by their bits, if there are at most kMost of them.
class ValueTable {
 public:
  static constexpr int kMost = 256;

  /// Waits. `value_bytes` is 2, 4 or 8.
  void find(const void* values, Offset count, int value_bytes, DeviceMemory& memory);

  /// 0 if there are too many, or none are stored.
  int size() const { return size_; }
  /// kMost values of value_bytes each, ascending as unsigned numbers, the last one repeated.
  const void* values() const { return values_.data(); }

 private:
  int size_ = 0;
  DeviceBuffer<unsigned char> values_;
};

/// Stores the values of a matrix in the order of slices: as codes into the table if it has any,
/// else as they are. `to` has slices.places() elements of one byte or of value_bytes.
void store_values(const DeviceCsrView<void>& a, const Slices& slices, int value_bytes,
                  const ValueTable& table, void* to, cudaStream_t stream);

}  // namespace csrkit::gpu
