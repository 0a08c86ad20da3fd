// Hubs: rows of A with hundreds of entries or more that select short rows of B. The whole device
// sorts all their products, stably, so an entry's products stay in the order of A's columns. Up to
// 32 are added up in that order, more in an order that depends only on their number. A block per
// row would work through its sources alone on the device; a block per part of a row's columns would
// search every source.
#pragma once

#include "gpu/device/device_buffer.h"
#include "gpu/spgemm/adaptive_rows/numeric/make.h"

namespace csrkit::gpu {

/// The arrays of one product's hub rows, in one allocation.
struct HubRows {
  RowList list;
  Offset entries = 0;   // of A
  Offset products = 0;  // at least 1
  int col_bits = 0, row_bits = 0;
  DeviceBuffer<std::byte> bytes;
  std::uint32_t* first_entries = nullptr;   // of each row, rows + 1
  std::uint32_t* rows = nullptr;            // of each entry: its row, as a place in the list
  Offset* places = nullptr;                 // of each entry: in A
  std::uint32_t* first_products = nullptr;  // of each entry
  // Of each product: key = (its row's place in the list, its column), term = its value. The first
  // of the two arrays is filled, then they are sorted back and forth.
  std::uint64_t* keys[2] = {};
  std::byte* terms[2] = {};
  int sorted = 0;                          // which of the two holds the sorted products
  std::uint32_t* starts = nullptr;         // of each entry of C: its first sorted product
  std::uint32_t* count = nullptr;          // entries of C
  std::uint32_t* first_results = nullptr;  // of each row: its first entry of C
  std::byte* scratch = nullptr;            // CUB's

  static std::uint64_t bytes_for(Offset rows, Offset entries, Offset products, int value_bytes);

  HubRows() = default;
  HubRows(DeviceMemory& memory, const RowList& list, Offset entries, Offset products, Index cols,
          int value_bytes);
};

/// Sorts all products with their values; adds the rows' counts to the profile, where they must be
/// 0.
template <class Value>
void count_hub_rows(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                    const RowProfile& profile, HubRows& hubs, cudaStream_t stream);

/// Sorts again with new values, after count_hub_rows.
template <class Value>
void renew_hub_rows(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Semiring semiring,
                    HubRows& hubs, cudaStream_t stream);

/// Adds up the sorted products, into C.
template <class Value>
void make_hub_rows(Structure structure, const MakeRows<Value>& op, const HubRows& hubs,
                   cudaStream_t stream);

}  // namespace csrkit::gpu
