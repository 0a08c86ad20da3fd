#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/spmv/compressed/encode.h"
#include "gpu/spmv/slices/slice_product.cuh"

namespace csrkit::gpu {

namespace {

/// A hash table of the values seen so far. A place is free while it holds kFree, a NaN pattern that
/// is never taken into a table.
constexpr int kPlaces = 1024;
constexpr unsigned long long kFree = ~0ull;

/// While the table has few enough values to be useful, a value is found within so many tries; if
/// not, there are too many values.
constexpr int kMostTries = 64;

struct Seen {
  unsigned long long places[kPlaces];
  unsigned count;

  __device__ bool has_too_many() const {
    return *const_cast<const volatile unsigned*>(&count) > ValueTable::kMost;
  }
};

/// By any number of threads at once.
__device__ void take(unsigned long long bits, Seen& seen) {
  auto place = static_cast<unsigned>((bits * 0x9e3779b97f4a7c15ull) >> 54);
  bool is_known = false;
  for (int tries = 0; bits != kFree && tries < kMostTries && !is_known; ++tries) {
    const unsigned long long there = *const_cast<volatile unsigned long long*>(&seen.places[place]);
    is_known = there == bits;
    if (there == kFree) {
      const unsigned long long before = atomicCAS(&seen.places[place], kFree, bits);
      if (before == kFree) atomicAdd(&seen.count, 1u);
      is_known = before == kFree || before == bits;
    }
    place = (place + 1) % kPlaces;
  }
  if (!is_known) atomicAdd(&seen.count, ValueTable::kMost + 1u);
}

/// Each block collects its values in shared memory first: places that all threads of the device
/// want at once would take them in turn. Where there are too many values, what is found no longer
/// matters.
template <class Bits>
__global__ void collect_values(const Bits* values, Offset count, Seen* seen) {
  __shared__ Seen own;
  for (unsigned i = threadIdx.x; i < kPlaces; i += kSpmvThreads) own.places[i] = kFree;
  if (threadIdx.x == 0) own.count = 0;
  __syncthreads();
  const Offset threads = Offset{gridDim.x} * kSpmvThreads;
  for (Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x; at < count; at += threads) {
    if (own.has_too_many() || seen->has_too_many()) break;
    take(values[at], own);
  }
  __syncthreads();
  if (own.has_too_many()) {
    if (threadIdx.x == 0) atomicAdd(&seen->count, ValueTable::kMost + 1u);
    return;
  }
  for (unsigned i = threadIdx.x; i < kPlaces; i += kSpmvThreads) {
    if (own.places[i] != kFree) take(own.places[i], *seen);
  }
}

template <class Bits>
__device__ unsigned char code_of(Bits bits, const Bits* table) {
  int low = 0, high = ValueTable::kMost - 1;  // the first that is not below
  while (low < high) {
    const int middle = (low + high) / 2;
    if (table[middle] < bits) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<unsigned char>(low);
}

/// One warp per slice; padding is 0.
template <class Bits>
__global__ void store_slice_values(DeviceCsrView<Bits> a, SlicesView slices, const Bits* table,
                                   void* to) {
  const SliceShare share = slice_share(1);
  if (share.slice >= slices.count) return;
  const Index row = slices.row_of(share.slice, share.lane);
  const Offset begin = row < 0 ? 0 : a.row_begin(row);
  const Offset length = row < 0 ? 0 : a.row_end(row) - begin;
  const Offset first = slices.first_step(share.slice);
  const Index width = slices.steps_of(share.slice);
  for (Index step = 0; step < width; ++step) {
    const Offset at = (first + step) * kSliceRows + share.lane;
    const Bits bits = step < length ? a.values[begin + step] : Bits{0};
    if (table == nullptr) {
      static_cast<Bits*>(to)[at] = bits;
    } else {
      static_cast<unsigned char*>(to)[at] = step < length ? code_of(bits, table) : 0;
    }
  }
}

}  // namespace

void ValueTable::find(const void* values, Offset count, int value_bytes, DeviceMemory& memory) {
  size_ = 0;
  if (values == nullptr || count == 0) return;
  const cudaStream_t stream = memory.stream();
  const DeviceBuffer<Seen> seen(memory, 1, "the different values");
  CHECK_CUDA(cudaMemsetAsync(seen.data(), 0xff, sizeof(Seen), stream));  // kFree
  CHECK_CUDA(cudaMemsetAsync(&seen.data()->count, 0, sizeof Seen::count, stream));
  constexpr Offset kMostBlocks = 132 * 8;
  const auto blocks = static_cast<unsigned>(std::min<Offset>(kMostBlocks, spmv_blocks(count)));
  with_bits(value_bytes, [&](auto bits) {
    collect_values<<<blocks, kSpmvThreads, 0, stream>>>(static_cast<const decltype(bits)*>(values),
                                                        count, seen.data());
    CHECK_LAUNCH("collect_values", stream);
  });
  const Seen found = fetch(seen.data(), stream);
  if (found.count > kMost) return;
  std::vector<unsigned long long> distinct;
  for (const unsigned long long bits : found.places) {
    if (bits != kFree) distinct.push_back(bits);
  }
  std::sort(distinct.begin(), distinct.end());
  size_ = static_cast<int>(distinct.size());
  distinct.resize(kMost, distinct.back());
  values_ = DeviceBuffer<unsigned char>(memory, Offset{kMost} * value_bytes, "the value table");
  std::vector<unsigned char> packed(values_.size_bytes());
  for (std::size_t i = 0; i < distinct.size(); ++i) {  // little-endian: the low bytes come first
    std::memcpy(packed.data() + i * static_cast<std::size_t>(value_bytes), &distinct[i],
                static_cast<std::size_t>(value_bytes));
  }
  CHECK_CUDA(cudaMemcpyAsync(values_.data(), packed.data(), packed.size(), cudaMemcpyHostToDevice,
                             stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));  // `packed` is local
}

void store_values(const DeviceCsrView<void>& a, const Slices& slices, int value_bytes,
                  const ValueTable& table, void* to, cudaStream_t stream) {
  if (a.values == nullptr || slices.view().count == 0) return;
  with_bits(value_bytes, [&](auto bits) {
    using Bits = decltype(bits);
    const auto* known = table.size() > 0 ? static_cast<const Bits*>(table.values()) : nullptr;
    store_slice_values<<<slice_blocks(slices.view().count, 1), kSliceThreads, 0, stream>>>(
        a.as<Bits>(), slices.view(), known, to);
    CHECK_LAUNCH("store_slice_values", stream);
  });
}

}  // namespace csrkit::gpu
