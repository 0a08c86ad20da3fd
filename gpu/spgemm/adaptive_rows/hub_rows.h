// Hubs: rows of A with hundreds of entries or more that meet short rows of B. All products of all
// such rows are sorted by the whole device, stably, so that those of an entry stand in the order of
// A's columns. Up to 32 are added up in that order, more in an order that depends on their number
// alone. A block per row would look up source after source, alone on the device; a block per part
// of a row's columns would look up every source.
#pragma once

#include "gpu/device/device_buffer.h"
#include "gpu/spgemm/adaptive_rows/make.h"

namespace csrkit::gpu {

/// The arrays of one product's hub rows, in one allocation.
struct HubRows {
  RowList list;
  Offset entries = 0;   // of A
  Offset products = 0;  // at least 1
  int col_bits = 0, row_bits = 0;
  DeviceBuffer<std::byte> bytes;
  std::uint32_t* first_entries = nullptr;   // of each row, rows + 1
  std::uint32_t* rows = nullptr;            // of each entry: whose it is, a place in the list
  Offset* places = nullptr;                 // of each entry: in A
  std::uint32_t* first_products = nullptr;  // of each entry
  // Of each product: its row's place in the list above its column, and what it is. The first of the
  // two arrays is filled, then they are sorted back and forth.
  std::uint64_t* keys[2] = {};
  std::byte* terms[2] = {};
  int sorted = 0;                          // which of the two is sorted in the end
  std::uint32_t* starts = nullptr;         // of each entry of C: its first sorted product
  std::uint32_t* count = nullptr;          // entries of C
  std::uint32_t* first_results = nullptr;  // of each row: its first entry of C
  std::byte* scratch = nullptr;            // CUB's

  static std::uint64_t bytes_for(Offset rows, Offset entries, Offset products, int value_bytes);

  HubRows() = default;
  HubRows(DeviceMemory& memory, const RowList& list, Offset entries, Offset products, Index cols,
          int value_bytes);
};

/// Sorts all products, with their values; the counts of the rows go to the profile.
template <class Value>
void count_hub_rows(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                    const RowProfile& profile, HubRows& hubs, cudaStream_t stream);

/// The same for other values, once they are counted.
template <class Value>
void renew_hub_rows(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                    HubRows& hubs, cudaStream_t stream);

/// Adds up what was sorted, to C.
template <class Value>
void make_hub_rows(Structure structure, const MakeRows<Value>& op, const HubRows& hubs,
                   cudaStream_t stream);

}  // namespace csrkit::gpu
