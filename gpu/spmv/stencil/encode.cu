#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/spmv/stencil/encode.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

/// One thread per row. Any entry of a diagonal will do, so the race does not matter.
__global__ void find_firsts(DeviceCsrView<void> a, Diagonals::View diagonals, Offset* firsts) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at >= a.rows) return;
  const auto row = static_cast<Index>(at);
  for (Offset i = a.row_begin(row); i < a.row_end(row); ++i) {
    Offset* const first = firsts + diagonals.rank_of(row, a.col_indices[i]);
    if (*first < 0) *first = i;
  }
}

/// One thread per row: marks diagonals with an entry of other bits than their first one's.
template <class Bits>
__global__ void mark_varying(DeviceCsrView<Bits> a, Diagonals::View diagonals, const Offset* firsts,
                             Offset* varies) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at >= a.rows) return;
  const auto row = static_cast<Index>(at);
  for (Offset i = a.row_begin(row); i < a.row_end(row); ++i) {
    const Offset rank = diagonals.rank_of(row, a.col_indices[i]);
    if (varies[rank] == 0 && a.values[i] != a.values[firsts[rank]]) varies[rank] = 1;
  }
}

__device__ void put_mask(unsigned char* masks, Index bytes, Offset at, std::uint32_t mask) {
  switch (bytes) {
    case 1: masks[at] = static_cast<unsigned char>(mask); break;
    case 2: reinterpret_cast<std::uint16_t*>(masks)[at] = static_cast<std::uint16_t>(mask); break;
    default: reinterpret_cast<std::uint32_t*>(masks)[at] = mask;
  }
}

/// One thread per row, which meets its entries and the diagonals in the same order.
template <class Bits>
__global__ void store_values_of_rows(DeviceCsrView<Bits> a, EncodedDiagonals::View diagonals,
                                     Bits* values) {
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row >= a.rows) return;
  Offset entry = a.row_begin(static_cast<Index>(row));
  const Offset end = a.row_end(static_cast<Index>(row));
  for (Index d = 0; d < diagonals.count; ++d) {
    const bool is_there = entry < end && a.col_indices[entry] - row == diagonals.offsets[d];
    const Index place = diagonals.place_of(d);
    if (place < diagonals.stored) {
      Bits value = is_there ? a.values[entry] : kGap<Bits>;
      if (is_there && value == kGap<Bits>) value = kGap<Bits> - 1;  // a NaN as well
      values[place * Offset{a.rows} + row] = value;
    }
    if (is_there) ++entry;
  }
}

/// One thread per row and word of its mask.
__global__ void store_masks(DeviceCsrView<void> a, EncodedDiagonals::View diagonals,
                            Index mask_bytes, unsigned char* masks) {
  const Offset row = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (row >= a.rows) return;
  const Index first = diagonals.stored + static_cast<Index>(blockIdx.y) * kMaskBits;
  Offset entry = a.row_begin(static_cast<Index>(row));
  const Offset end = a.row_end(static_cast<Index>(row));
  std::uint32_t mask = 0;
  for (Index d = 0; d < diagonals.count && entry < end; ++d) {
    if (a.col_indices[entry] - row != diagonals.offsets[d]) continue;
    const Index bit = diagonals.place_of(d) - first;
    if (bit >= 0 && bit < kMaskBits) mask |= 1u << bit;
    ++entry;
  }
  put_mask(masks, mask_bytes, Offset{blockIdx.y} * a.rows + row, mask);
}

}  // namespace

bool EncodedDiagonals::measure(const DeviceCsrView<void>& a, int value_bytes, Offset most,
                               DeviceMemory& memory) {
  found_ = find_diagonals(a, most, memory);
  if (found_.count > most) return false;
  const Offset count = found_.count;
  const cudaStream_t stream = memory.stream();
  slots_ = DeviceBuffer<Offset>(memory, count + 1, "diagonals that are stored");
  CHECK_CUDA(cudaMemsetAsync(slots_.data(), 0, slots_.size_bytes(), stream));
  if (a.values == nullptr || count == 0) return true;
  firsts_ = DeviceBuffer<Offset>(memory, count, "an entry of each diagonal");
  CHECK_CUDA(cudaMemsetAsync(firsts_.data(), 0xff, firsts_.size_bytes(), stream));  // -1
  const Diagonals::View diagonals = found_.view(a.rows);
  find_firsts<<<spmv_blocks(a.rows), kSpmvThreads, 0, stream>>>(a, diagonals, firsts_.data());
  CHECK_LAUNCH("find_firsts", stream);
  with_bits(value_bytes, [&](auto bits) {
    mark_varying<<<spmv_blocks(a.rows), kSpmvThreads, 0, stream>>>(
        a.as<decltype(bits)>(), diagonals, firsts_.data(), slots_.data());
    CHECK_LAUNCH("mark_varying", stream);
  });
  exclusive_sum(memory, slots_.data(), slots_.size());
  stored_ = static_cast<Index>(fetch(slots_.data() + count, stream));
  found_.ranks = {};
  return true;
}

void EncodedDiagonals::store(const DeviceCsrView<void>& a, int value_bytes, unsigned char* masks,
                             void* values, cudaStream_t stream) const {
  if (count() == 0) return;
  if (const Index constants = count() - stored_; constants > 0) {
    const auto words = static_cast<unsigned>((constants + kMaskBits - 1) / kMaskBits);
    const Index bytes_of_word = std::min<Index>(mask_bytes(), sizeof(std::uint32_t));
    store_masks<<<dim3(spmv_blocks(a.rows), words), kSpmvThreads, 0, stream>>>(
        a, view(), bytes_of_word, masks);
    CHECK_LAUNCH("store_masks", stream);
  }
  if (stored_ == 0) return;
  with_bits(value_bytes, [&](auto bits) {
    using Bits = decltype(bits);
    store_values_of_rows<<<spmv_blocks(a.rows), kSpmvThreads, 0, stream>>>(
        a.as<Bits>(), view(), static_cast<Bits*>(values));
    CHECK_LAUNCH("store_values_of_rows", stream);
  });
}

}  // namespace csrkit::gpu
