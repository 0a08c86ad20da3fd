// Where K fills no vectors, rows of B begin anywhere within one: at one of four places in f32, and
// the column of A says at which. Entries of a row of A are sorted by that place, so that sums turn
// a few times a row (turning.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Fewer rows of B are not read by vectors that may reach beyond it.
inline constexpr Index kFewestRowsTurning = 4;

/// How entries of a row are sorted: by place, else by column. One place: as they are.
struct EntryOrder {
  static constexpr int kPlaces = 4;
  unsigned dense_cols = 0;
  int places = 1;  // or kPlaces

  __host__ __device__ int place_of(Index col) const {
    return static_cast<int>(static_cast<unsigned>(col) * dense_cols) & (places - 1);
  }
};

/// Room for the entries of A.
struct OrderedEntries {
  Index* cols = nullptr;
  float* values = nullptr;

  static std::uint64_t bytes(Offset nnz);
  static OrderedEntries at(void* memory, Offset nnz);
  /// A with these entries.
  DeviceCsrView<void> in_place_of(DeviceCsrView<void> a) const {
    a.col_indices = cols;
    if (a.values != nullptr) a.values = values;
    return a;
  }
};

/// Queues it, by kPlaces places; values of A, if there are any, are f32.
void order_entries(const DeviceCsrView<void>& a, const EntryOrder& order, const OrderedEntries& to,
                   cudaStream_t stream);

}  // namespace csrkit::gpu
