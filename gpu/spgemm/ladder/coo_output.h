// What the classic rungs share: entries appended in the order in which they happen to be found, and
// the way from there to sorted CSR.
#pragma once

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Entries of C in no order. `count` is moved on by global atomics.
template <class Value>
struct CooArrays {
  Index* rows = nullptr;
  Index* cols = nullptr;
  Value* values = nullptr;
  unsigned long long* count = nullptr;
};

/// Owns them, with room for every product: min(products, cols) in each row.
template <class Value>
class CooOutput {
 public:
  CooOutput(DeviceMemory& memory, Offset capacity)
      : rows_(memory, capacity, "the row numbers of the unsorted entries"),
        cols_(memory, capacity, "the columns of the unsorted entries"),
        values_(memory, capacity, "the values of the unsorted entries"),
        count_(memory, 1, "the number of unsorted entries") {
    CHECK_CUDA(cudaMemsetAsync(count_.data(), 0, count_.size_bytes(), memory.stream()));
  }

  CooArrays<Value> arrays() const {
    return {rows_.data(), cols_.data(), values_.data(), count_.data()};
  }

  /// Sorts the entries by row and column into `c`; waits for the number of them. Gives the memory
  /// of the entries back.
  void move_to(DeviceMemory& memory, DeviceProduct& c);

 private:
  DeviceBuffer<Index> rows_, cols_;
  DeviceBuffer<Value> values_;
  DeviceBuffer<unsigned long long> count_;
};

/// Most bytes that a rung holds at once: the unsorted entries, then keys and values twice each with
/// what the sort needs, then C.
std::uint64_t coo_forecast_bytes(const SpgemmSizes& sizes, ValueKind kind);

}  // namespace csrkit::gpu
