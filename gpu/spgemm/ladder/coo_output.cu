// coo_output: unsorted entries to sorted CSR.
// Owns     a thread: one entry when keys are packed and unpacked, one row when offsets are searched
// Reads    everything coalesced but the binary searches of the offsets
// Launch   256 threads; CUB's radix sort on as many bits as rows and columns have
// Needs    entries that are unique: the rungs make them so
// Against  an output in place. Costs 8 + V bytes an entry to append, then about 4 passes of 2 (8 +
//          V) bytes to sort (V bytes a value): what production kernels save by knowing offsets
//          first.

#include <cub/device/device_radix_sort.cuh>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spgemm/ladder/coo_output.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr std::uint64_t kSmallThings = 256;  // counters, the struct of v0

int bits_of(Index count) {
  int bits = 0;
  while ((Offset{1} << bits) < Offset{count}) ++bits;
  return bits;
}

__global__ void pack_keys(const Index* rows, const Index* cols, Offset count, int col_bits,
                          std::uint64_t* keys) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= count) return;
  keys[at] =
      static_cast<std::uint64_t>(rows[at]) << col_bits | static_cast<std::uint64_t>(cols[at]);
}

__global__ void unpack_columns(const std::uint64_t* keys, Offset count, int col_bits, Index* cols) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= count) return;
  cols[at] = static_cast<Index>(keys[at] & ((std::uint64_t{1} << col_bits) - 1));
}

// Row i begins where the first key of row i or of a later one stands.
template <class Number>
__global__ void search_offsets(const std::uint64_t* keys, Offset count, int col_bits, Index rows,
                               Number* offsets) {
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (row > rows) return;
  const std::uint64_t wanted = static_cast<std::uint64_t>(row) << col_bits;
  Offset begin = 0, end = count;
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (keys[middle] < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  offsets[row] = static_cast<Number>(begin);
}

}  // namespace

template <class Value>
void CooOutput<Value>::move_to(DeviceMemory& memory, DeviceProduct& c) {
  const cudaStream_t stream = memory.stream();
  unsigned long long found = 0;
  CHECK_CUDA(cudaMemcpyAsync(&found, count_.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const auto count = static_cast<Offset>(found);
  const int col_bits = bits_of(c.cols), bits = col_bits + bits_of(c.rows);

  const std::uint64_t* sorted_keys = nullptr;
  DeviceBuffer<std::uint64_t> keys, other_keys;
  if (count > 0) {
    keys = DeviceBuffer<std::uint64_t>(memory, count, "the keys of the unsorted entries");
    pack_keys<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(rows_.data(), cols_.data(),
                                                                   count, col_bits, keys.data());
    CHECK_LAUNCH("pack_keys", stream);
    rows_ = {};
    cols_ = {};
    other_keys = DeviceBuffer<std::uint64_t>(memory, count, "the keys of the sorted entries");
    DeviceBuffer<Value> other_values(memory, count, "the values of the sorted entries");
    cub::DoubleBuffer<std::uint64_t> both_keys(keys.data(), other_keys.data());
    cub::DoubleBuffer<Value> both_values(values_.data(), other_values.data());
    with_cub_scratch(memory, "sorting the entries", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, both_keys, both_values, count, 0, bits,
                                             stream);
    });
    sorted_keys = both_keys.Current();
    c.allocate_entries(memory, count);
    CHECK_CUDA(cudaMemcpyAsync(c.values.data(), both_values.Current(),
                               static_cast<std::size_t>(count) * sizeof(Value),
                               cudaMemcpyDeviceToDevice, stream));
    unpack_columns<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(
        sorted_keys, count, col_bits, c.col_indices.data());
    CHECK_LAUNCH("unpack_columns", stream);
  }
  values_ = {};
  const Offset offsets = Offset{c.rows} + 1;
  if (DeviceProduct::fits_narrow(count)) {
    c.narrow_offsets = DeviceBuffer<std::uint32_t>(memory, offsets, "the row offsets of C");
    search_offsets<<<blocks_of(offsets, kThreads), kThreads, 0, stream>>>(
        sorted_keys, count, col_bits, c.rows, c.narrow_offsets.data());
  } else {
    c.wide_offsets = DeviceBuffer<Offset>(memory, offsets, "the row offsets of C");
    search_offsets<<<blocks_of(offsets, kThreads), kThreads, 0, stream>>>(
        sorted_keys, count, col_bits, c.rows, c.wide_offsets.data());
  }
  CHECK_LAUNCH("search_offsets", stream);
}

template class CooOutput<float>;
template class CooOutput<double>;

std::uint64_t coo_forecast_bytes(const SpgemmSizes& sizes, ValueKind kind) {
  const auto entries = static_cast<std::uint64_t>(sizes.counts.output_bound);
  const auto value = static_cast<std::uint64_t>(size_of(kind));
  const std::uint64_t scratch = entries == 0 ? 0 : sort_scratch_bound(sizes.counts.output_bound);
  // While C is filled, both copies of keys and values are still there.
  return entries * (2 * sizeof(std::uint64_t) + 3 * value + sizeof(Index)) + scratch +
         (static_cast<std::uint64_t>(sizes.rows) + 1) * sizeof(Offset) + kSmallThings;
}

}  // namespace csrkit::gpu
