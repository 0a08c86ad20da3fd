// Small products in one pass, where launches and waits are most of the time.
#pragma once

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// What the device tells the host at the end.
struct SmallResult {
  unsigned long long nnz;  // of C, or of what there would have to be room for
  std::uint32_t is_too_big;
};

/// Entries that there is room for: in C, and once more beside it.
Offset room_of_small(Index rows, Index cols, Offset a_nnz);

/// Most bytes that make_small_product holds at once, C included.
std::uint64_t small_product_bytes(Index rows, Index cols, Offset a_nnz, ValueKind kind);

/// Queues C = alpha * A * B and its arrays, which have room for more than its entries. `result`, in
/// page-locked memory, is there when the stream has got through: C is complete then, or too big,
/// and what stands in it is to be thrown away.
template <class Value>
void make_small_product(const SpgemmOperands& op, Semiring semiring, DeviceMemory& memory,
                        DeviceProduct& c, SmallResult* result);

}  // namespace csrkit::gpu
