#include "studies/parallel_sorts/sorts.h"

#include <algorithm>
#include <utility>

namespace csrkit::studies {

namespace {

using Position = std::int64_t;

Position size_of(const Entries& entries) { return static_cast<Position>(entries.size()); }

Position block_begin(Position size, int block, int blocks) {
  return size / blocks * block + std::min<Position>(block, size % blocks);
}

/// Moves every entry to its bucket, stably. Returns where each bucket begins, and the end.
template <class BucketOf>
std::vector<Position> scatter(const Entries& from, Entries& to, Position buckets, int threads,
                              BucketOf&& bucket_of) {
  std::vector<Position> next(static_cast<std::size_t>(threads * buckets));
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    Position* mine = next.data() + t * buckets;
    const Position end = block_begin(size_of(from), t + 1, threads);
    for (Position i = block_begin(size_of(from), t, threads); i < end; ++i) {
      ++mine[bucket_of(from[i])];
    }
  }
  std::vector<Position> begin(static_cast<std::size_t>(buckets) + 1);
  Position position = 0;
  for (Position bucket = 0; bucket < buckets; ++bucket) {
    begin[bucket] = position;
    for (int t = 0; t < threads; ++t)
      position += std::exchange(next[t * buckets + bucket], position);
  }
  begin[buckets] = position;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    Position* mine = next.data() + t * buckets;
    const Position end = block_begin(size_of(from), t + 1, threads);
    for (Position i = block_begin(size_of(from), t, threads); i < end; ++i) {
      to[mine[bucket_of(from[i])]++] = from[i];
    }
  }
  return begin;
}

}  // namespace

void rank_sort(Entries& entries, int threads) {
  const Position size = size_of(entries);
  Entries sorted(entries.size());
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Position i = 0; i < size; ++i) {
    Position rank = 0;
    for (Position j = 0; j < i; ++j) rank += entries[j].key <= entries[i].key;
    for (Position j = i + 1; j < size; ++j) rank += entries[j].key < entries[i].key;
    sorted[rank] = entries[i];
  }
  entries.swap(sorted);
}

void bucket_sort(Entries& entries, int threads) {
  constexpr Position kBuckets = 1024;
  if (entries.size() < 2) return;
  const auto [smallest, largest] = std::minmax_element(entries.begin(), entries.end());
  const std::uint64_t low = smallest->key, width = (largest->key - low) / kBuckets + 1;
  Entries sorted(entries.size());
  const std::vector<Position> begin =
      scatter(entries, sorted, kBuckets, threads,
              [=](const Entry& entry) { return (entry.key - low) / width; });
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (Position bucket = 0; bucket < kBuckets; ++bucket) {
    std::stable_sort(sorted.begin() + begin[bucket], sorted.begin() + begin[bucket + 1]);
  }
  entries.swap(sorted);
}

void sample_sort(Entries& entries, int threads) { sample_sort_parts(entries, threads); }

std::vector<std::int64_t> sample_sort_parts(Entries& entries, int threads) {
  const Position size = size_of(entries);
  const int parts = threads;
  // With fewer entries there are no p samples per block to choose from.
  if (parts < 2 || size < Position{parts} * parts) {
    std::stable_sort(entries.begin(), entries.end());
    return {size};
  }
  std::vector<std::uint64_t> samples(static_cast<std::size_t>(parts) * parts);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int block = 0; block < parts; ++block) {
    const Position begin = block_begin(size, block, parts);
    const Position length = block_begin(size, block + 1, parts) - begin;
    std::stable_sort(entries.begin() + begin, entries.begin() + begin + length);
    for (int s = 0; s < parts; ++s) {
      samples[block * parts + s] = entries[begin + length * s / parts].key;
    }
  }
  std::sort(samples.begin(), samples.end());
  // cuts[block][part]: equal keys stay together, so that stability survives.
  std::vector<Position> cuts(static_cast<std::size_t>(parts) * (parts + 1));
  for (int block = 0; block < parts; ++block) {
    const Position begin = block_begin(size, block, parts);
    const Position end = block_begin(size, block + 1, parts);
    cuts[block * (parts + 1)] = begin;
    cuts[block * (parts + 1) + parts] = end;
    for (int part = 1; part < parts; ++part) {
      const Entry splitter{samples[part * parts + parts / 2 - 1], 0};
      cuts[block * (parts + 1) + part] =
          std::upper_bound(entries.begin() + begin, entries.begin() + end, splitter) -
          entries.begin();
    }
  }
  std::vector<Position> part_begin(static_cast<std::size_t>(parts) + 1);
  for (int part = 0; part < parts; ++part) {
    part_begin[part + 1] = part_begin[part];
    for (int block = 0; block < parts; ++block) {
      const Position* cut = cuts.data() + block * (parts + 1) + part;
      part_begin[part + 1] += cut[1] - cut[0];
    }
  }
  Entries sorted(entries.size());
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int part = 0; part < parts; ++part) {
    // Runs arrive in the order of their blocks; merging neighbours keeps that order among equals.
    std::vector<Position> run = {part_begin[part]};
    for (int block = 0; block < parts; ++block) {
      const Position* cut = cuts.data() + block * (parts + 1) + part;
      std::copy(entries.begin() + cut[0], entries.begin() + cut[1], sorted.begin() + run.back());
      run.push_back(run.back() + cut[1] - cut[0]);
    }
    for (int step = 1; step < parts; step *= 2) {
      for (int first = 0; first + step < parts; first += 2 * step) {
        std::inplace_merge(sorted.begin() + run[first], sorted.begin() + run[first + step],
                           sorted.begin() + run[std::min(first + 2 * step, parts)]);
      }
    }
  }
  entries.swap(sorted);
  std::vector<std::int64_t> sizes;
  for (int part = 0; part < parts; ++part) {
    sizes.push_back(part_begin[part + 1] - part_begin[part]);
  }
  return sizes;
}

void bitonic_sort(Entries& entries, int threads) {
  const Position size = size_of(entries);
  Position padded = 1;
  while (padded < size) padded *= 2;
  Entry* data = entries.data();
  const auto order = [&](Position low, Position high) {
    if (high < size && data[high] < data[low]) std::swap(data[low], data[high]);
  };
  for (Position block = 2; block <= padded; block *= 2) {
    // First against the mirror image, which turns two ascending halves into one bitonic block.
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Position i = 0; i < padded / 2; ++i) {
      const Position begin = i / (block / 2) * block, at = i % (block / 2);
      order(begin + at, begin + block - 1 - at);
    }
    for (Position distance = block / 4; distance > 0; distance /= 2) {
#pragma omp parallel for schedule(static) num_threads(threads)
      for (Position i = 0; i < padded / 2; ++i) {
        const Position low = i / distance * 2 * distance + i % distance;
        order(low, low + distance);
      }
    }
  }
}

void lsd_radix_sort(Entries& entries, int threads) {
  constexpr int kBits = 8;
  const Position size = size_of(entries);
  std::uint64_t any = 0, all = ~std::uint64_t{0};
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : any) reduction(& : all)
  for (Position i = 0; i < size; ++i) {
    any |= entries[i].key;
    all &= entries[i].key;
  }
  Entries other(entries.size());
  for (int shift = 0; shift < 64; shift += kBits) {
    constexpr std::uint64_t kMask = (1u << kBits) - 1;
    if ((((any ^ all) >> shift) & kMask) == 0) continue;  // this byte is the same in all keys
    scatter(entries, other, Position{1} << kBits, threads,
            [=](const Entry& entry) { return entry.key >> shift & kMask; });
    entries.swap(other);
  }
}

void std_sort(Entries& entries, int) { std::sort(entries.begin(), entries.end()); }

const std::vector<Sort>& sorts() {
  constexpr std::int64_t kAny = std::int64_t{1} << 62;
  static const std::vector<Sort> table = {
      {"rank", true, 20000, true, rank_sort},
      {"bucket", true, kAny, true, bucket_sort},
      {"sample", true, kAny, true, sample_sort},
      {"bitonic", false, 1 << 19, true, bitonic_sort},
      {"lsd_radix", true, kAny, true, lsd_radix_sort},
      {"std_sort", false, kAny, false, std_sort},
  };
  return table;
}

}  // namespace csrkit::studies
