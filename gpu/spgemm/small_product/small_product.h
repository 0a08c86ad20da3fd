// Small products in one pass: there launches and waits take most of the time.
#pragma once

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// The result that the device writes for the host.
struct SmallResult {
  unsigned long long nnz;  // of C; if it is too big, the entries reserved so far
  std::uint32_t is_too_big;
};

/// The entries that C, and a buffer beside it, have room for.
Offset room_of_small(Index rows, Index cols, Offset a_nnz);

/// An upper bound of the bytes that make_small_product holds at once, with C.
std::uint64_t small_product_bytes(Index rows, Index cols, Offset a_nnz, ValueKind kind);

/// Allocates C's arrays, with room for more than its entries, and queues C = alpha * A * B.
/// `result` is in page-locked memory and valid once the stream has finished: then C is complete, or
/// it is too big and its contents are invalid.
template <class Value>
void make_small_product(const SpgemmOperands& op, Semiring semiring, DeviceMemory& memory,
                        DeviceProduct& c, SmallResult* result);

}  // namespace csrkit::gpu
