// Radix sort from both ends, without atomics, so the result depends on the input only.
//
//   1. From the top: keys (row above column, without gaps between) are counted in 8,192 ranges,
//      neighbouring ranges are joined into about a thousand buckets of equal weight, and every
//      thread moves its share of the input into the buckets. Buckets that are still too large for a
//      core's cache (a row with millions of entries) are divided again, by all threads together.
//   2. From the bottom: bucket by bucket, one thread each, the keys are packed with the positions
//      where they stand, sorted by counting passes in cache, and unpacked to their final place;
//      values move once. Columns that come in order cost no passes.
//
// Memory: twice the coordinates (rows, columns, values) while entries are moved; then the row
// indices make room for the row offsets, unless a bucket had to be divided again. Beside that,
// every thread holds at most 9 MiB: packed keys, values, counters and write-combining buffers.
//
// Bytes to and from memory per entry with 8 bytes of value: 4 to 8 to count, 32 to move, 40 to
// finish; a radix sort from the bottom alone with five passes over 16-byte entries moves 336.
#include "core/matrix/sort/sort_entries.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/huge_pages.h"
#include "core/matrix/sort/bucket_plan.h"
#include "core/matrix/sort/packed_sort.h"
#include "core/matrix/sort/write_combining.h"

namespace csrkit {

namespace {

constexpr Offset kLargestBucket = 1 << 18;
constexpr Offset kSerialLimit = 1 << 15;  // below, waking threads costs more than they save

/// Entries are scattered over these arrays; small pages would cost a TLB miss for most of them.
template <class T>
Buffer<T> scatter_buffer(Offset size) {
  Buffer<T> buffer(size);
  advise_huge_pages(buffer.data(), buffer.size_bytes());
  return buffer;
}

template <class Word>
void move_to_buckets(const EntryArrays<Word>& from, const EntryArrays<Word>& to,
                     const KeyBucket& whole, EntryKey key, BucketPlan& plan, int threads) {
  const auto count = static_cast<Offset>(plan.buckets.size());
  // Allocated here, because exceptions must not leave a parallel region.
  std::vector<WriteCombiner<Word>> combiners;
  combiners.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) combiners.emplace_back(to, plan.next.data() + t * count, count);
  with_range_of(key, whole.low, plan.shift, [&](auto range_of) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      WriteCombiner<Word>& combiner = combiners[static_cast<std::size_t>(t)];
      const std::uint16_t* of_range = plan.of_range.data();
      const Share share = share_of(whole.begin, whole.end, t, threads);
      for (Offset i = share.begin; i < share.end; ++i) {
        Word word{};
        if constexpr (kHasWord<Word>) word = from.words[i];
        combiner.put(of_range[range_of(from.rows[i], from.cols + i)], from.rows[i], from.cols[i],
                     word);
      }
      combiner.finish();
    }
  });
}

/// A bucket that one thread finishes, and the arrays where its entries are now.
template <class Word>
struct Task {
  KeyBucket bucket;
  EntryArrays<Word> from;
};

/// Keys are packed relative to this one, whole rows where the bucket has several.
std::uint64_t packing_base(const KeyBucket& bucket, EntryKey key) {
  const Index first = key.row_of(bucket.low);
  return first == key.row_of(bucket.high - 1) ? bucket.low : key.first_of_row(first);
}

PackedLayout layout_of(const KeyBucket& bucket, EntryKey key) {
  PackedLayout layout;
  layout.position_bits =
      bits_of(static_cast<std::uint64_t>(std::max<Offset>(bucket.size(), 1)) - 1);
  layout.key_bits = bits_of(bucket.high - 1 - packing_base(bucket, key));
  layout.col_bits = std::min(layout.key_bits, key.col_bits);
  return layout;
}

bool fits_a_task(const KeyBucket& bucket, EntryKey key) {
  if (bucket.high - bucket.low == 1) return true;  // equal keys need no sorting
  const PackedLayout layout = layout_of(bucket, key);
  return bucket.size() <= kLargestBucket && layout.key_bits + layout.position_bits <= 64;
}

/// Divides `whole` into tasks, moving entries between `here` and `there` as often as it takes.
template <class Word>
void divide(const KeyBucket& whole, EntryKey key, const EntryArrays<Word>& here,
            const EntryArrays<Word>& there, int threads, std::vector<Task<Word>>& tasks) {
  BucketPlan plan = plan_buckets(here.rows, here.cols, whole, key, threads);
  move_to_buckets(here, there, whole, key, plan, threads);
  for (const KeyBucket& bucket : plan.buckets) {
    if (fits_a_task(bucket, key)) {
      tasks.push_back({bucket, there});
    } else {
      divide(bucket, key, there, here, threads, tasks);
    }
  }
}

/// Memory that a thread reuses from task to task.
template <class Word>
struct Scratch {
  Buffer<std::uint64_t> packed, spare;
  Buffer<Word> words;
};

/// Writes the task's part of columns, values and offsets. Returns how many entries repeat.
template <class Word>
Offset finish(const Task<Word>& task, EntryKey key, Index* cols, Word* words, Offset* offsets,
              Scratch<Word>& scratch) {
  const KeyBucket& bucket = task.bucket;
  const Offset size = bucket.size(), begin = bucket.begin;
  Offset row = key.next_row(bucket.low);
  const Offset last_row = key.next_row(bucket.high);
  const Word* from_words = nullptr;
  if constexpr (kHasWord<Word>) from_words = task.from.words + begin;
  if (bucket.high - bucket.low == 1) {
    if (task.from.cols != cols) {
      std::fill_n(cols + begin, size, key.col_of(bucket.low));
      if constexpr (kHasWord<Word>) std::copy_n(from_words, size, words + begin);
    }
    std::fill(offsets + row, offsets + last_row, begin);
    return std::max<Offset>(size - 1, 0);
  }
  if constexpr (kHasWord<Word>) {
    if (task.from.cols == cols) {
      std::copy_n(from_words, size, scratch.words.data());
      from_words = scratch.words.data();
    }
  }
  const PackedLayout layout = layout_of(bucket, key);
  const std::uint64_t base = packing_base(bucket, key);
  const Index* from_rows = task.from.rows + begin;
  const Index* from_cols = task.from.cols + begin;
  std::uint64_t* packed = scratch.packed.data();
  for (Offset i = 0; i < size; ++i) {
    packed[i] = (key(from_rows[i], from_cols[i]) - base) << layout.position_bits |
                static_cast<std::uint64_t>(i);
  }
  packed = sort_packed(packed, scratch.spare.data(), size, layout);

  const std::uint64_t position_mask = (std::uint64_t{1} << layout.position_bits) - 1;
  Offset repeats = 0;
  std::uint64_t before = ~std::uint64_t{0};
  for (Offset i = 0; i < size; ++i) {
    const std::uint64_t here = (packed[i] >> layout.position_bits) + base;
    const Offset its_row = key.row_of(here);
    while (row <= its_row) offsets[row++] = begin + i;
    cols[begin + i] = key.col_of(here);
    if constexpr (kHasWord<Word>) words[begin + i] = from_words[packed[i] & position_mask];
    repeats += here == before;
    before = here;
  }
  while (row < last_row) offsets[row++] = begin + size;
  return repeats;
}

template <class Word>
std::pair<Buffer<Offset>, Offset> sort_typed(CooMatrix& coo) {
  const Offset nnz = coo.nnz();
  const int threads = sort_threads_for(nnz);
  const EntryKey key{bits_of(static_cast<std::uint64_t>(std::max<Index>(coo.cols, 1)) - 1)};

  auto other_rows = scatter_buffer<Index>(nnz), other_cols = scatter_buffer<Index>(nnz);
  auto other_words = scatter_buffer<Word>(kHasWord<Word> ? nnz : 0);
  const EntryArrays<Word> input{coo.row_indices.data(), coo.col_indices.data(),
                                coo.values.as<Word>()};
  const EntryArrays<Word> other{other_rows.data(), other_cols.data(), other_words.data()};
  std::vector<Task<Word>> tasks;
  divide({0, nnz, 0, key.first_of_row(coo.rows)}, key, input, other, threads, tasks);
  Offset largest = 0;
  bool divided_again = false;
  for (const Task<Word>& task : tasks) {
    if (task.bucket.high - task.bucket.low > 1) largest = std::max(largest, task.bucket.size());
    divided_again |= task.from.cols == input.cols;
  }
  if (!divided_again) coo.row_indices = Buffer<Index>();

  // Allocated here, because exceptions must not leave a parallel region.
  std::vector<Scratch<Word>> scratch(static_cast<std::size_t>(threads));
  for (Scratch<Word>& mine : scratch) {
    mine.packed = Buffer<std::uint64_t>(largest);
    mine.spare = Buffer<std::uint64_t>(largest);
    mine.words = Buffer<Word>(kHasWord<Word> && divided_again ? largest : 0);
  }
  Buffer<Offset> offsets(Offset{coo.rows} + 1);
  offsets[coo.rows] = nnz;
  Offset repeats = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(+ : repeats)
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    repeats += finish(tasks[i], key, input.cols, input.words, offsets.data(),
                      scratch[static_cast<std::size_t>(omp_get_thread_num())]);
  }
  coo.row_indices = Buffer<Index>();
  return {std::move(offsets), repeats};
}

}  // namespace

int sort_threads_for(Offset work) {
  return work < kSerialLimit ? 1 : std::max(1, omp_get_max_threads());
}

std::pair<Buffer<Offset>, Offset> sort_entries(CooMatrix& coo) {
  return with_word_type(coo.values.kind(),
                        [&](auto tag) { return sort_typed<typename decltype(tag)::type>(coo); });
}

}  // namespace csrkit
