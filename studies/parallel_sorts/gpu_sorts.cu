#include <algorithm>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "studies/parallel_sorts/gpu_sorts.h"

namespace csrkit::studies {

namespace {

using gpu::DeviceBuffer;
using gpu::DeviceMemory;
using Key = std::uint64_t;
using Place = std::uint32_t;  // of an entry: sizes stay below 2^32

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / gpu::kWarpLanes;

unsigned blocks_for(Offset items, Offset per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

template <class T>
std::vector<T> to_host(const T* data, Offset size, cudaStream_t stream) {
  std::vector<T> copy(static_cast<std::size_t>(size));
  CHECK_CUDA(
      cudaMemcpyAsync(copy.data(), data, copy.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  return copy;
}

/// `sizes` becomes where each begins.
void scan(DeviceBuffer<Place>& sizes, DeviceMemory& memory) {
  std::size_t bytes = 0;
  CHECK_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, sizes.data(), sizes.data(), sizes.size(),
                                           memory.stream()));
  const DeviceBuffer<std::byte> scratch(memory, static_cast<Offset>(bytes), "scratch of a scan");
  CHECK_CUDA(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, sizes.data(), sizes.data(),
                                           sizes.size(), memory.stream()));
}

// ---- rank

__global__ void __launch_bounds__(kThreads)
    rank_entries(const Key* keys, const Key* payloads, Offset size, Key* sorted_keys,
                 Key* sorted_payloads) {
  __shared__ Key tile[kThreads];
  const Offset mine = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const Key key = mine < size ? keys[mine] : 0;
  Place rank = 0;
  for (Offset first = 0; first < size; first += kThreads) {
    const int here = static_cast<int>(min(Offset{kThreads}, size - first));
    __syncthreads();
    if (threadIdx.x < here) tile[threadIdx.x] = keys[first + threadIdx.x];
    __syncthreads();
    // Of equals those before it count, so that every rank is taken once.
    for (int i = 0; i < here; ++i) {
      rank += first + i < mine ? tile[i] <= key : tile[i] < key;
    }
  }
  if (mine < size) {
    sorted_keys[rank] = key;
    sorted_payloads[rank] = payloads[mine];
  }
}

LoadRatio rank(DeviceEntries& entries, DeviceMemory& memory) {
  DeviceEntries sorted(memory, entries.size());
  rank_entries<<<blocks_for(entries.size(), kThreads), kThreads, 0, memory.stream()>>>(
      entries.keys.data(), entries.payloads.data(), entries.size(), sorted.keys.data(),
      sorted.payloads.data());
  CHECK_LAUNCH("rank_entries", memory.stream());
  entries.swap(sorted);
  return 0;
}

// ---- a stable pass into buckets: counts by blocks, a scan, and ranks within warps

constexpr int kPerLane = 16;
constexpr int kPerWarp = kPerLane * gpu::kWarpLanes;
constexpr int kPerBlock = kPerWarp * kWarps;

struct Digit {
  static constexpr int kBuckets = 256;
  int shift;
  __device__ unsigned operator()(Key key) const {
    return static_cast<unsigned>(key >> shift) & 255u;
  }
};

struct Slice {
  static constexpr int kBuckets = 1024;
  Key low, width;
  __device__ unsigned operator()(Key key) const {
    return static_cast<unsigned>((key - low) / width);
  }
};

template <class BucketOf>
__global__ void __launch_bounds__(kThreads)
    count_buckets(const Key* keys, Offset size, BucketOf bucket_of, Place* counts) {
  __shared__ Place mine[BucketOf::kBuckets];
  for (int i = threadIdx.x; i < BucketOf::kBuckets; i += kThreads) mine[i] = 0;
  __syncthreads();
  const Offset first = Offset{blockIdx.x} * kPerBlock;
  const Offset end = min(first + kPerBlock, size);
  for (Offset at = first + threadIdx.x; at < end; at += kThreads) {
    atomicAdd(mine + bucket_of(keys[at]), 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BucketOf::kBuckets; i += kThreads) {
    counts[Offset{i} * gridDim.x + blockIdx.x] = mine[i];
  }
}

/// A warp owns kPerWarp entries in a row, which it takes 32 at a time: among those a lane's rank is
/// how many lanes before it have its bucket.
template <class BucketOf>
__global__ void __launch_bounds__(kThreads)
    scatter(const Key* keys, const Key* payloads, Offset size, BucketOf bucket_of,
            const Place* places, Key* to_keys, Key* to_payloads) {
  __shared__ Place next[kWarps][BucketOf::kBuckets];
  const int warp = static_cast<int>(threadIdx.x) / gpu::kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % gpu::kWarpLanes;
  for (int i = lane; i < BucketOf::kBuckets; i += gpu::kWarpLanes) next[warp][i] = 0;
  __syncwarp();
  const Offset first = Offset{blockIdx.x} * kPerBlock + warp * kPerWarp + lane;
  Key key[kPerLane];
  Place rank[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const Offset at = first + i * gpu::kWarpLanes;
    const bool is_there = at < size;
    key[i] = is_there ? keys[at] : 0;
    const unsigned bucket = is_there ? bucket_of(key[i]) : BucketOf::kBuckets;
    const unsigned like = __match_any_sync(gpu::kAllLanes, bucket);
    const Place before = is_there ? next[warp][bucket] : 0;
    __syncwarp();
    rank[i] = before + __popc(like & ((1u << lane) - 1));
    const bool is_last = like >> lane == 1u;
    if (is_there && is_last) next[warp][bucket] = rank[i] + 1;
    __syncwarp();
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BucketOf::kBuckets; i += kThreads) {
    Place place = places[Offset{i} * gridDim.x + blockIdx.x];
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const Place count = next[w][i];
      next[w][i] = place;
      place += count;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const Offset at = first + i * gpu::kWarpLanes;
    if (at >= size) continue;
    const Place to = next[warp][bucket_of(key[i])] + rank[i];
    to_keys[to] = key[i];
    to_payloads[to] = payloads[at];
  }
}

/// Moves the entries bucket by bucket. Returns, on the device, where each block's share of each
/// bucket begins: bucket by bucket.
template <class BucketOf>
DeviceBuffer<Place> move_to_buckets(const DeviceEntries& from, DeviceEntries& to,
                                    BucketOf bucket_of, DeviceMemory& memory) {
  const unsigned blocks = blocks_for(from.size(), kPerBlock);
  DeviceBuffer<Place> places(memory, Offset{BucketOf::kBuckets} * blocks, "places");
  count_buckets<<<blocks, kThreads, 0, memory.stream()>>>(from.keys.data(), from.size(), bucket_of,
                                                          places.data());
  CHECK_LAUNCH("count_buckets", memory.stream());
  scan(places, memory);
  scatter<<<blocks, kThreads, 0, memory.stream()>>>(from.keys.data(), from.payloads.data(),
                                                    from.size(), bucket_of, places.data(),
                                                    to.keys.data(), to.payloads.data());
  CHECK_LAUNCH("scatter", memory.stream());
  return places;
}

// ---- what all keys have in common

struct KeyFacts {
  Key any, all, low, high;
};

__global__ void __launch_bounds__(kThreads)
    look_at_keys(const Key* keys, Offset size, KeyFacts* facts) {
  KeyFacts mine = {0, ~Key{0}, ~Key{0}, 0};
  const Offset stride = Offset{gridDim.x} * kThreads;
  for (Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x; at < size; at += stride) {
    const Key key = keys[at];
    mine = {mine.any | key, mine.all & key, min(mine.low, key), max(mine.high, key)};
  }
  for (int apart = gpu::kWarpLanes / 2; apart > 0; apart /= 2) {
    mine.any |= __shfl_xor_sync(gpu::kAllLanes, mine.any, apart);
    mine.all &= __shfl_xor_sync(gpu::kAllLanes, mine.all, apart);
    mine.low = min(mine.low, __shfl_xor_sync(gpu::kAllLanes, mine.low, apart));
    mine.high = max(mine.high, __shfl_xor_sync(gpu::kAllLanes, mine.high, apart));
  }
  if (threadIdx.x % gpu::kWarpLanes != 0) return;
  using Word = unsigned long long;
  atomicOr(reinterpret_cast<Word*>(&facts->any), static_cast<Word>(mine.any));
  atomicAnd(reinterpret_cast<Word*>(&facts->all), static_cast<Word>(mine.all));
  atomicMin(reinterpret_cast<Word*>(&facts->low), static_cast<Word>(mine.low));
  atomicMax(reinterpret_cast<Word*>(&facts->high), static_cast<Word>(mine.high));
}

KeyFacts facts_of(const Key* keys, Offset size, DeviceMemory& memory) {
  const DeviceBuffer<KeyFacts> facts(memory, 1, "facts");
  const KeyFacts none = {0, ~Key{0}, ~Key{0}, 0};
  CHECK_CUDA(
      cudaMemcpyAsync(facts.data(), &none, sizeof none, cudaMemcpyHostToDevice, memory.stream()));
  look_at_keys<<<std::min(blocks_for(size, kThreads), 1056u), kThreads, 0, memory.stream()>>>(
      keys, size, facts.data());
  CHECK_LAUNCH("look_at_keys", memory.stream());
  return to_host(facts.data(), 1, memory.stream()).front();
}

// ---- least significant digit first

LoadRatio lsd_radix(DeviceEntries& entries, DeviceMemory& memory) {
  const KeyFacts facts = facts_of(entries.keys.data(), entries.size(), memory);
  DeviceEntries other(memory, entries.size());
  for (int shift = 0; shift < 64; shift += 8) {
    if ((((facts.any ^ facts.all) >> shift) & 255u) == 0) continue;  // the same byte in all keys
    move_to_buckets(entries, other, Digit{shift}, memory);
    entries.swap(other);
  }
  return 0;
}

// ---- Batcher's network, all comparators in one direction

template <class Number>
struct Pair {
  Number low, high;
};

/// Comparator `i` of the first step of a block, which folds it onto its mirror image; sizes are
/// powers of two.
template <class Number>
__device__ Pair<Number> mirrored(Number i, Number block) {
  const Number at = i & (block / 2 - 1), first = 2 * (i - at);
  return {first + at, first + block - 1 - at};
}

/// Comparator `i` of a step over `distance`.
template <class Number>
__device__ Pair<Number> apart(Number i, Number distance) {
  const Number at = i & (distance - 1), low = 2 * (i - at) + at;
  return {low, low + distance};
}

// ---- a block sorts a segment in shared memory

constexpr int kSegmentThreads = 512;
constexpr Place kLargestSegment = 8192;
constexpr int kSegmentBytes = static_cast<int>(kLargestSegment * (sizeof(Key) + sizeof(Place)));

/// The network over keys and their numbers, which makes it stable. Comparators that would touch
/// what lies beyond the end are left out: that would be the largest keys, which never move.
__global__ void __launch_bounds__(kSegmentThreads)
    sort_segments(const Key* keys, const Key* payloads, const Place* begins, Key* to_keys,
                  Key* to_payloads) {
  extern __shared__ Key segment[];
  auto* const numbers = reinterpret_cast<Place*>(segment + kLargestSegment);
  const Place begin = begins[blockIdx.x], size = begins[blockIdx.x + 1] - begin;
  if (size > kLargestSegment) return;
  for (Place i = threadIdx.x; i < size; i += kSegmentThreads) {
    segment[i] = keys[begin + i];
    numbers[i] = i;
  }
  Place padded = 1;
  while (padded < size) padded *= 2;
  const auto order = [&](const Pair<Place>& pair) {
    if (pair.high >= size) return;
    const Key a = segment[pair.low], b = segment[pair.high];
    const Place i = numbers[pair.low], j = numbers[pair.high];
    if (b < a || (b == a && j < i)) {
      segment[pair.low] = b;
      segment[pair.high] = a;
      numbers[pair.low] = j;
      numbers[pair.high] = i;
    }
  };
  for (Place block = 2; block <= padded; block *= 2) {
    __syncthreads();
    for (Place i = threadIdx.x; i < padded / 2; i += kSegmentThreads) order(mirrored(i, block));
    for (Place distance = block / 4; distance > 0; distance /= 2) {
      __syncthreads();
      for (Place i = threadIdx.x; i < padded / 2; i += kSegmentThreads) order(apart(i, distance));
    }
  }
  __syncthreads();
  for (Place i = threadIdx.x; i < size; i += kSegmentThreads) {
    to_keys[begin + i] = segment[i];
    to_payloads[begin + i] = payloads[begin + numbers[i]];
  }
}

/// Sorts every segment of `from` into `to`, those too large for a block by lsd_radix.
LoadRatio sort_all_segments(DeviceEntries& from, DeviceEntries& to,
                            const DeviceBuffer<Place>& begins, DeviceMemory& memory) {
  CHECK_CUDA(cudaFuncSetAttribute(sort_segments, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kSegmentBytes));
  const auto segments = static_cast<unsigned>(begins.size() - 1);
  sort_segments<<<segments, kSegmentThreads, kSegmentBytes, memory.stream()>>>(
      from.keys.data(), from.payloads.data(), begins.data(), to.keys.data(), to.payloads.data());
  CHECK_LAUNCH("sort_segments", memory.stream());
  const std::vector<Place> host = to_host(begins.data(), begins.size(), memory.stream());
  Place largest = 0;
  for (std::size_t i = 0; i + 1 < host.size(); ++i) {
    const Place size = host[i + 1] - host[i];
    largest = std::max(largest, size);
    if (size <= kLargestSegment) continue;
    DeviceEntries part(memory, size);
    const auto copy = [&](Key* target, const Key* source) {
      CHECK_CUDA(cudaMemcpyAsync(target, source, Offset{size} * sizeof(Key),
                                 cudaMemcpyDeviceToDevice, memory.stream()));
    };
    copy(part.keys.data(), from.keys.data() + host[i]);
    copy(part.payloads.data(), from.payloads.data() + host[i]);
    lsd_radix(part, memory);
    copy(to.keys.data() + host[i], part.keys.data());
    copy(to.payloads.data() + host[i], part.payloads.data());
  }
  return static_cast<double>(largest) * segments / static_cast<double>(from.size());
}

// ---- bucket

__global__ void bucket_begins(const Place* places, unsigned blocks, Place size, Place* begins) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= Slice::kBuckets) begins[i] = i < Slice::kBuckets ? places[Offset{i} * blocks] : size;
}

LoadRatio bucket(DeviceEntries& entries, DeviceMemory& memory) {
  const Offset size = entries.size();
  const KeyFacts facts = facts_of(entries.keys.data(), size, memory);
  const Slice slice = {facts.low, (facts.high - facts.low) / Slice::kBuckets + 1};
  DeviceEntries moved(memory, size);
  const DeviceBuffer<Place> places = move_to_buckets(entries, moved, slice, memory);
  const DeviceBuffer<Place> begins(memory, Slice::kBuckets + 1, "where buckets begin");
  bucket_begins<<<blocks_for(Slice::kBuckets + 1, kThreads), kThreads, 0, memory.stream()>>>(
      places.data(), blocks_for(size, kPerBlock), static_cast<Place>(size), begins.data());
  CHECK_LAUNCH("bucket_begins", memory.stream());
  return sort_all_segments(moved, entries, begins, memory);
}

// ---- sample

__host__ __device__ Place run_begin(Offset size, int run, int runs) {
  return static_cast<Place>(size / runs * run + min(Offset{run}, size % runs));
}

__global__ void make_run_begins(Offset size, int runs, Place* begins) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= runs) begins[i] = run_begin(size, i, runs);
}

/// As many evenly spaced keys of every run as there are runs.
__global__ void take_samples(const Key* keys, Offset size, int runs, Key* samples, Key* payloads) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= Offset{runs} * runs) return;
  const int run = static_cast<int>(i / runs);
  const Place begin = run_begin(size, run, runs);
  const Offset length = run_begin(size, run + 1, runs) - begin;
  samples[i] = keys[begin + length * (i % runs) / runs];
  payloads[i] = 0;  // travels along, unused
}

__device__ Key splitter(const Key* samples, int part, int runs) {
  return samples[Offset{part} * runs + runs / 2 - 1];
}

/// Where the parts after `part` begin in a run: behind what is not above the splitter, so that
/// equal keys stay together.
__global__ void cut_runs(const Key* keys, Offset size, int runs, const Key* samples, Place* cuts) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= Offset{runs} * (runs + 1)) return;
  const int run = static_cast<int>(i / (runs + 1)), part = static_cast<int>(i % (runs + 1));
  Place low = run_begin(size, run, runs), high = run_begin(size, run + 1, runs);
  if (part == 0) high = low;
  if (part == runs) low = high;
  while (low < high) {
    const Place middle = low + (high - low) / 2;
    if (keys[middle] <= splitter(samples, part, runs)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  cuts[i] = low;
}

/// Sizes of pieces, part by part and in a part run by run, and a 0 behind them.
__global__ void size_pieces(const Place* cuts, int runs, Place* sizes) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i > Offset{runs} * runs) return;
  const Offset part = i / runs, run = i % runs;
  const Place* const cut = cuts + run * (runs + 1) + part;
  sizes[i] = i == Offset{runs} * runs ? 0 : cut[1] - cut[0];
}

__global__ void part_begins(const Place* places, int runs, Place* begins) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= runs) begins[i] = places[Offset{i} * runs];
}

/// A block moves a run: the part of an entry is how many splitters lie below its key.
__global__ void __launch_bounds__(kThreads)
    move_pieces(const Key* keys, const Key* payloads, Offset size, int runs, const Key* samples,
                const Place* cuts, const Place* places, Key* to_keys, Key* to_payloads) {
  const int run = static_cast<int>(blockIdx.x);
  const Place end = run_begin(size, run + 1, runs);
  for (Place at = run_begin(size, run, runs) + threadIdx.x; at < end; at += kThreads) {
    const Key key = keys[at];
    int low = 1, high = runs;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (splitter(samples, middle, runs) < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const int part = low - 1;
    const Place to = places[Offset{part} * runs + run] + at - cuts[Offset{run} * (runs + 1) + part];
    to_keys[to] = key;
    to_payloads[to] = payloads[at];
  }
}

LoadRatio sample(DeviceEntries& entries, DeviceMemory& memory) {
  const Offset size = entries.size();
  const int runs = static_cast<int>(blocks_for(size, kRun));
  cudaStream_t const stream = memory.stream();
  const auto grid = [](Offset items) { return blocks_for(items, kThreads); };
  const DeviceBuffer<Place> begins(memory, runs + 1, "where runs and parts begin");
  make_run_begins<<<grid(runs + 1), kThreads, 0, stream>>>(size, runs, begins.data());
  CHECK_LAUNCH("make_run_begins", stream);
  DeviceEntries other(memory, size);
  const LoadRatio whole = sort_all_segments(entries, other, begins, memory);
  if (runs < 2) {
    entries.swap(other);
    return whole;
  }
  DeviceEntries samples(memory, Offset{runs} * runs);
  take_samples<<<grid(Offset{runs} * runs), kThreads, 0, stream>>>(
      other.keys.data(), size, runs, samples.keys.data(), samples.payloads.data());
  CHECK_LAUNCH("take_samples", stream);
  lsd_radix(samples, memory);
  const DeviceBuffer<Place> cuts(memory, Offset{runs} * (runs + 1), "cuts of runs");
  cut_runs<<<grid(cuts.size()), kThreads, 0, stream>>>(other.keys.data(), size, runs,
                                                       samples.keys.data(), cuts.data());
  CHECK_LAUNCH("cut_runs", stream);
  DeviceBuffer<Place> places(memory, Offset{runs} * runs + 1, "places of pieces");
  size_pieces<<<grid(places.size()), kThreads, 0, stream>>>(cuts.data(), runs, places.data());
  CHECK_LAUNCH("size_pieces", stream);
  scan(places, memory);
  part_begins<<<grid(runs + 1), kThreads, 0, stream>>>(places.data(), runs, begins.data());
  CHECK_LAUNCH("part_begins", stream);
  move_pieces<<<static_cast<unsigned>(runs), kThreads, 0, stream>>>(
      other.keys.data(), other.payloads.data(), size, runs, samples.keys.data(), cuts.data(),
      places.data(), entries.keys.data(), entries.payloads.data());
  CHECK_LAUNCH("move_pieces", stream);
  const LoadRatio load = sort_all_segments(entries, other, begins, memory);
  entries.swap(other);
  return load;
}

// ---- bitonic

constexpr int kNetworkTile = 2048;
constexpr int kNetworkThreads = 1024;

__global__ void order_apart(Key* keys, Key* payloads, Offset size, Offset comparators, Offset block,
                            Offset distance) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= comparators) return;
  const Pair<Offset> pair = distance == 0 ? mirrored(i, block) : apart(i, distance);
  if (pair.high >= size) return;
  const Key a = keys[pair.low], b = keys[pair.high];
  if (a <= b) return;
  keys[pair.low] = b;
  keys[pair.high] = a;
  const Key payload = payloads[pair.low];
  payloads[pair.low] = payloads[pair.high];
  payloads[pair.high] = payload;
}

/// The comparators within tiles: all steps of blocks up to a tile, or the last steps of a larger
/// block.
__global__ void __launch_bounds__(kNetworkThreads)
    order_tile(Key* keys, Key* payloads, Offset size, bool is_last_steps) {
  __shared__ Key tile_keys[kNetworkTile], tile_payloads[kNetworkTile];
  const Offset first = Offset{blockIdx.x} * kNetworkTile;
  const int here = static_cast<int>(min(Offset{kNetworkTile}, size - first));
  for (int i = threadIdx.x; i < here; i += kNetworkThreads) {
    tile_keys[i] = keys[first + i];
    tile_payloads[i] = payloads[first + i];
  }
  const auto order = [&](const Pair<int>& pair) {
    if (pair.high >= here || tile_keys[pair.low] <= tile_keys[pair.high]) return;
    const Key key = tile_keys[pair.low], payload = tile_payloads[pair.low];
    tile_keys[pair.low] = tile_keys[pair.high];
    tile_payloads[pair.low] = tile_payloads[pair.high];
    tile_keys[pair.high] = key;
    tile_payloads[pair.high] = payload;
  };
  const int i = static_cast<int>(threadIdx.x);  // a thread per comparator
  const auto close_steps = [&](int block) {
    for (int distance = block / 4; distance > 0; distance /= 2) {
      __syncthreads();
      order(apart(i, distance));
    }
  };
  if (is_last_steps) {
    close_steps(2 * kNetworkTile);
  } else {
    for (int block = 2; block <= kNetworkTile; block *= 2) {
      __syncthreads();
      order(mirrored(i, block));
      close_steps(block);
    }
  }
  __syncthreads();
  for (int at = threadIdx.x; at < here; at += kNetworkThreads) {
    keys[first + at] = tile_keys[at];
    payloads[first + at] = tile_payloads[at];
  }
}

LoadRatio bitonic(DeviceEntries& entries, DeviceMemory& memory) {
  const Offset size = entries.size();
  Offset padded = 1;
  while (padded < size) padded *= 2;
  const unsigned tiles = blocks_for(size, kNetworkTile);
  const auto tile = [&](bool is_last_steps) {
    order_tile<<<tiles, kNetworkThreads, 0, memory.stream()>>>(
        entries.keys.data(), entries.payloads.data(), size, is_last_steps);
    CHECK_LAUNCH("order_tile", memory.stream());
  };
  const auto step = [&](Offset block, Offset distance) {
    order_apart<<<blocks_for(padded / 2, kThreads), kThreads, 0, memory.stream()>>>(
        entries.keys.data(), entries.payloads.data(), size, padded / 2, block, distance);
    CHECK_LAUNCH("order_apart", memory.stream());
  };
  tile(false);
  for (Offset block = 2 * kNetworkTile; block <= padded; block *= 2) {
    step(block, 0);
    for (Offset distance = block / 4; distance >= kNetworkTile; distance /= 2) {
      step(block, distance);
    }
    tile(true);
  }
  return 0;
}

// ---- CUB

LoadRatio cub_radix(DeviceEntries& entries, DeviceMemory& memory) {
  constexpr int kBits = 48;  // rows and columns of this study
  DeviceEntries other(memory, entries.size());
  cub::DoubleBuffer<Key> keys(entries.keys.data(), other.keys.data());
  cub::DoubleBuffer<Key> payloads(entries.payloads.data(), other.payloads.data());
  std::size_t bytes = 0;
  CHECK_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, payloads, entries.size(), 0,
                                             kBits, memory.stream()));
  const DeviceBuffer<std::byte> scratch(memory, static_cast<Offset>(bytes), "scratch of CUB");
  CHECK_CUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, keys, payloads, entries.size(),
                                             0, kBits, memory.stream()));
  if (keys.Current() != entries.keys.data()) entries.swap(other);
  return 0;
}

struct Less {
  __device__ bool operator()(Key a, Key b) const { return a < b; }
};

LoadRatio cub_merge(DeviceEntries& entries, DeviceMemory& memory) {
  std::size_t bytes = 0;
  CHECK_CUDA(cub::DeviceMergeSort::StableSortPairs(nullptr, bytes, entries.keys.data(),
                                                   entries.payloads.data(), entries.size(), Less{},
                                                   memory.stream()));
  const DeviceBuffer<std::byte> scratch(memory, static_cast<Offset>(bytes), "scratch of CUB");
  CHECK_CUDA(cub::DeviceMergeSort::StableSortPairs(scratch.data(), bytes, entries.keys.data(),
                                                   entries.payloads.data(), entries.size(), Less{},
                                                   memory.stream()));
  return 0;
}

}  // namespace

const std::vector<GpuSort>& gpu_sorts() {
  constexpr std::int64_t kAny = std::int64_t{1} << 31;
  static const std::vector<GpuSort> table = {
      {"rank", true, 1 << 18, rank},        {"bucket", true, kAny, bucket},
      {"sample", true, 1 << 24, sample},    {"bitonic", false, kAny, bitonic},
      {"lsd_radix", true, kAny, lsd_radix}, {"cub_merge", true, kAny, cub_merge},
      {"cub_radix", true, kAny, cub_radix},
  };
  return table;
}

}  // namespace csrkit::studies
