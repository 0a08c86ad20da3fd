// Coordinates to CSR in two stable passes, without atomics, so the result depends on the input
// only.
//
//   1. Entries are counted in narrow row ranges, neighbouring ranges are joined into about a
//   thousand
//      buckets of equal weight, and every thread moves its share of the input into the buckets.
//   2. Bucket by bucket (a bucket's rows and entries fit a core's cache) a counting sort by row
//   puts
//      the entries at their final place, in the arrays that the input came in.
//   3. Rows whose columns do not ascend are sorted, stably: files that are sorted by column, and
//      their mirror images, come out of pass 2 in order and skip this.
//
// Input that is sorted already is used as it is. Memory: at most twice the coordinates (rows,
// columns, values), plus the row offsets, plus a few MiB; a row that must be sorted by radix needs
// a copy of itself. A bucket is never thinner than one row, so one row with most of the entries is
// placed and sorted by a single thread (in linear time).
#include "core/sort/coo_to_csr.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace csrkit {

namespace {

constexpr Offset kFineRanges = 8192;       // their counters, 64 KiB, stay in a core's cache
constexpr Offset kBuckets = 1024;          // more would outrun the TLB while scattering
constexpr Offset kMinBucketWeight = 4096;  // less is not worth a task
constexpr Offset kInsertionLimit = 32;
constexpr Offset kRadixLimit = 1 << 14;
constexpr int kRadixBits = 11;
constexpr Offset kSerialLimit = 1 << 15;  // below, waking threads costs more than they save

int threads_for(Offset work) {
  return work < kSerialLimit ? 1 : std::max(1, omp_get_max_threads());
}

struct Nothing {};  // the "value" of kind none

/// Values are moved, not computed with, while sorting: only their size counts.
template <class F>
decltype(auto) with_word_type(ValueKind kind, F&& f) {
  switch (size_of(kind)) {
    case 2: return f(TypeTag<std::uint16_t>{});
    case 4: return f(TypeTag<std::uint32_t>{});
    case 8: return f(TypeTag<std::uint64_t>{});
    default: return f(TypeTag<Nothing>{});
  }
}

template <class Word>
inline constexpr bool kHasWord = !std::is_same_v<Word, Nothing>;

struct Share {
  Offset begin, end;
};
Share share_of(Offset count, int thread, int threads) {
  return {count / threads * thread + std::min<Offset>(thread, count % threads),
          count / threads * (thread + 1) + std::min<Offset>(thread + 1, count % threads)};
}

struct OrderScan {
  Offset out_of_order = 0;
  Offset repeats = 0;
};

OrderScan scan_order(const Index* rows, const Index* cols, Offset nnz) {
  Offset out_of_order = 0, repeats = 0;
#pragma omp parallel for schedule(static) num_threads(threads_for(nnz)) \
    reduction(+ : out_of_order, repeats)
  for (Offset i = 1; i < nnz; ++i) {
    const auto key = [&](Offset at) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(rows[at])) << 32 |
             static_cast<std::uint32_t>(cols[at]);
    };
    const std::uint64_t before = key(i - 1), here = key(i);
    out_of_order += here < before;
    repeats += here == before;
  }
  return {out_of_order, repeats};
}

Buffer<Offset> offsets_of_sorted(const Buffer<Index>& row_indices, Index rows) {
  Buffer<Offset> offsets(Offset{rows} + 1);
  const Offset nnz = row_indices.size();
  // Entry i closes the rows from its predecessor's on; the entry "nnz" closes the last ones.
#pragma omp parallel for schedule(static) num_threads(threads_for(nnz))
  for (Offset i = 0; i <= nnz; ++i) {
    const Offset first = i == 0 ? 0 : Offset{row_indices[i - 1]} + 1;
    const Offset last = i == nnz ? Offset{rows} : Offset{row_indices[i]};
    for (Offset row = first; row <= last; ++row) offsets[row] = i;
  }
  return offsets;
}

/// Row ranges of about equal weight; weight counts entries and rows, since both cost time.
struct Buckets {
  int shift = 0;                        // row >> shift is its fine range
  std::vector<std::uint16_t> of_range;  // fine range -> bucket
  std::vector<Index> first_row;         // bucket -> its first row; one more at the end
  std::vector<Offset> first_entry;      // likewise
  std::vector<Offset> next;             // [thread][bucket]: where the thread's entries go
  Offset count() const { return static_cast<Offset>(first_row.size()) - 1; }
};

Buckets plan_buckets(const Buffer<Index>& row_indices, Index rows, int threads) {
  Buckets buckets;
  while ((Offset{rows - 1} >> buckets.shift) + 1 > kFineRanges) ++buckets.shift;
  const int shift = buckets.shift;
  const Offset ranges = (Offset{rows - 1} >> shift) + 1;

  std::vector<Offset> counts(static_cast<std::size_t>(threads * ranges));
#pragma omp parallel num_threads(threads)
  {
    // The runtime may grant fewer threads than asked for; shares are what must all be done.
#pragma omp for schedule(static, 1)
    for (int t = 0; t < threads; ++t) {
      std::vector<Offset> mine(static_cast<std::size_t>(ranges));
      const Share share = share_of(row_indices.size(), t, threads);
      for (Offset i = share.begin; i < share.end; ++i) ++mine[row_indices[i] >> shift];
      std::copy(mine.begin(), mine.end(), counts.begin() + t * ranges);
    }
  }

  const Offset target =
      std::max(kMinBucketWeight, (row_indices.size() + rows + kBuckets - 1) / kBuckets);
  buckets.of_range.resize(static_cast<std::size_t>(ranges));
  buckets.first_row = {0};
  buckets.first_entry = {0};
  Offset weight = 0, entries = 0;
  for (Offset range = 0; range < ranges; ++range) {
    buckets.of_range[range] = static_cast<std::uint16_t>(buckets.first_row.size() - 1);
    for (int t = 0; t < threads; ++t) {
      weight += counts[t * ranges + range];
      entries += counts[t * ranges + range];
    }
    weight += Offset{1} << shift;
    if (weight >= target || range + 1 == ranges) {
      buckets.first_row.push_back(static_cast<Index>(std::min<Offset>(rows, (range + 1) << shift)));
      buckets.first_entry.push_back(entries);
      weight = 0;
    }
  }

  const Offset count = buckets.count();
  buckets.next.resize(static_cast<std::size_t>(threads * count));
  for (int t = 0; t < threads; ++t) {
    for (Offset range = 0; range < ranges; ++range) {
      buckets.next[t * count + buckets.of_range[range]] += counts[t * ranges + range];
    }
  }
  for (Offset bucket = 0; bucket < count; ++bucket) {
    Offset position = buckets.first_entry[bucket];
    for (int t = 0; t < threads; ++t) {
      position += std::exchange(buckets.next[t * count + bucket], position);
    }
  }
  return buckets;
}

/// Memory that a thread reuses from row to row.
template <class Word>
struct RowScratch {
  std::vector<std::uint64_t> keys;
  std::vector<Word> words;
  std::vector<Index> cols;
};

template <class Word>
void radix_sort_row(Index* cols, Word* words, Offset length, RowScratch<Word>& scratch) {
  Index largest = 0;
  for (Offset i = 0; i < length; ++i) largest = std::max(largest, cols[i]);
  Buffer<Index> other_cols(length);
  Buffer<Word> other_words(kHasWord<Word> ? length : 0);
  Index* from_cols = cols;
  Index* to_cols = other_cols.data();
  Word* from_words = words;
  Word* to_words = other_words.data();
  scratch.keys.resize(std::size_t{1} << kRadixBits);
  for (int shift = 0; (largest >> shift) != 0; shift += kRadixBits) {
    const auto digit = [&](Index col) { return (col >> shift) & ((1 << kRadixBits) - 1); };
    std::fill(scratch.keys.begin(), scratch.keys.end(), 0);
    for (Offset i = 0; i < length; ++i) ++scratch.keys[digit(from_cols[i])];
    std::uint64_t position = 0;
    for (auto& key : scratch.keys) position += std::exchange(key, position);
    for (Offset i = 0; i < length; ++i) {
      const std::uint64_t to = scratch.keys[digit(from_cols[i])]++;
      to_cols[to] = from_cols[i];
      if constexpr (kHasWord<Word>) to_words[to] = from_words[i];
    }
    std::swap(from_cols, to_cols);
    std::swap(from_words, to_words);
    if (shift + kRadixBits > 30) break;
  }
  if (from_cols != cols) {
    std::copy_n(from_cols, length, cols);
    if constexpr (kHasWord<Word>) std::copy_n(from_words, length, words);
  }
}

/// Sorts one row by column, stably.
template <class Word>
void sort_row(Index* cols, Word* words, Offset length, RowScratch<Word>& scratch) {
  if (length <= kInsertionLimit) {
    for (Offset i = 1; i < length; ++i) {
      const Index col = cols[i];
      [[maybe_unused]] Word word{};
      if constexpr (kHasWord<Word>) word = words[i];
      Offset at = i;
      for (; at > 0 && cols[at - 1] > col; --at) {
        cols[at] = cols[at - 1];
        if constexpr (kHasWord<Word>) words[at] = words[at - 1];
      }
      cols[at] = col;
      if constexpr (kHasWord<Word>) words[at] = word;
    }
  } else if (length > kRadixLimit) {
    radix_sort_row(cols, words, length, scratch);
  } else if constexpr (!kHasWord<Word>) {
    std::sort(cols, cols + length);  // equal columns cannot be told apart
  } else {
    // The position in the low half makes every key different, which makes the sort stable.
    scratch.keys.resize(static_cast<std::size_t>(length));
    for (Offset i = 0; i < length; ++i) {
      scratch.keys[i] = static_cast<std::uint64_t>(cols[i]) << 32 | static_cast<std::uint64_t>(i);
    }
    std::sort(scratch.keys.begin(), scratch.keys.end());
    scratch.words.assign(words, words + length);
    for (Offset i = 0; i < length; ++i) {
      cols[i] = static_cast<Index>(scratch.keys[i] >> 32);
      words[i] = scratch.words[scratch.keys[i] & 0xffffffffu];
    }
  }
}

/// Returns how many entries repeat their predecessor's column.
template <class Word>
Offset order_row(Index* cols, Word* words, Offset length, RowScratch<Word>& scratch) {
  bool ascending = true;
  for (Offset i = 1; i < length; ++i) ascending &= cols[i - 1] < cols[i];
  if (ascending) return 0;
  sort_row(cols, words, length, scratch);
  Offset repeats = 0;
  for (Offset i = 1; i < length; ++i) repeats += cols[i - 1] == cols[i];
  return repeats;
}

/// Sorts `coo` by row and column; its row indices are gone afterwards. Returns offsets and repeats.
template <class Word>
std::pair<Buffer<Offset>, Offset> sort_entries(CooMatrix& coo) {
  const Offset nnz = coo.nnz();
  const int threads = threads_for(nnz);
  Buckets buckets = plan_buckets(coo.row_indices, coo.rows, threads);
  const Offset count = buckets.count();

  Buffer<Index> bucket_rows(nnz), bucket_cols(nnz);
  Buffer<Word> bucket_words(kHasWord<Word> ? nnz : 0);
  Index* cols = coo.col_indices.data();
  Word* words = coo.values.as<Word>();
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    Offset* next = buckets.next.data() + t * count;
    const Share share = share_of(nnz, t, threads);
    for (Offset i = share.begin; i < share.end; ++i) {
      const Index row = coo.row_indices[i];
      const Offset to = next[buckets.of_range[row >> buckets.shift]]++;
      bucket_rows[to] = row;
      bucket_cols[to] = cols[i];
      if constexpr (kHasWord<Word>) bucket_words[to] = words[i];
    }
  }
  coo.row_indices = Buffer<Index>();

  Buffer<Offset> offsets(Offset{coo.rows} + 1);
  offsets[0] = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (Offset bucket = 0; bucket < count; ++bucket) {
    const Index first_row = buckets.first_row[bucket], last_row = buckets.first_row[bucket + 1];
    const Offset begin = buckets.first_entry[bucket], end = buckets.first_entry[bucket + 1];
    // end_of[r] counts row r, then is its start, and walks to its end while entries are placed.
    Offset* end_of = offsets.data() + 1;
    std::fill(end_of + first_row, end_of + last_row, 0);
    for (Offset i = begin; i < end; ++i) ++end_of[bucket_rows[i]];
    Offset position = begin;
    for (Index row = first_row; row < last_row; ++row) {
      position += std::exchange(end_of[row], position);
    }
    for (Offset i = begin; i < end; ++i) {
      const Offset to = end_of[bucket_rows[i]]++;
      cols[to] = bucket_cols[i];
      if constexpr (kHasWord<Word>) words[to] = bucket_words[i];
    }
  }
  bucket_rows = Buffer<Index>();
  bucket_cols = Buffer<Index>();
  bucket_words = Buffer<Word>();

  // Exceptions must not leave a parallel region; a row that finds no memory reports it here.
  bool out_of_memory = false;
  Offset repeats = 0;
#pragma omp parallel num_threads(threads) reduction(+ : repeats)
  {
    RowScratch<Word> scratch;
#pragma omp for schedule(dynamic, 1)
    for (Offset bucket = 0; bucket < count; ++bucket) {
      try {
        for (Index row = buckets.first_row[bucket]; row < buckets.first_row[bucket + 1]; ++row) {
          const Offset from = offsets[row];
          repeats += order_row(cols + from, kHasWord<Word> ? words + from : nullptr,
                               offsets[row + 1] - from, scratch);
        }
      } catch (const std::exception&) {
#pragma omp atomic write
        out_of_memory = true;
      }
    }
  }
  if (out_of_memory) throw MemoryError("not enough memory to sort the entries of a long row");
  return {std::move(offsets), repeats};
}

[[noreturn]] void refuse_duplicate(const Buffer<Offset>& offsets, const Buffer<Index>& cols,
                                   Index rows, const std::string& where) {
  for (Index row = 0; row < rows; ++row) {
    for (Offset at = offsets[row] + 1; at < offsets[row + 1]; ++at) {
      if (cols[at] != cols[at - 1]) continue;
      throw InputError(where + ": expected every entry once, found row " + std::to_string(row) +
                       ", column " + std::to_string(cols[at]) +
                       " (counted from 0) more than once; --duplicates=sum adds such entries up, "
                       "--duplicates=first keeps the first");
    }
  }
  throw Error(where + ": a duplicate was counted but is not there");
}

/// Sums go through double and are rounded once, whatever the kind.
template <class Value>
CsrMatrix merge_repeats(const CooMatrix& coo, const Buffer<Offset>& offsets, bool add) {
  constexpr bool kHasValue = !std::is_same_v<Value, ImplicitOne>;
  const Index rows = coo.rows;
  const Index* cols = coo.col_indices.data();
  Buffer<Offset> merged_offsets(Offset{rows} + 1);
  merged_offsets[0] = 0;
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads_for(coo.nnz()))
  for (Index row = 0; row < rows; ++row) {
    Offset unique = 0;
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      unique += at == offsets[row] || cols[at] != cols[at - 1];
    }
    merged_offsets[row + 1] = unique;
  }
  for (Index row = 0; row < rows; ++row) merged_offsets[row + 1] += merged_offsets[row];

  Buffer<Index> merged_cols(merged_offsets[rows]);
  ValueArray merged_values(coo.values.kind(), merged_offsets[rows]);
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads_for(coo.nnz()))
  for (Index row = 0; row < rows; ++row) {
    Offset to = merged_offsets[row];
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++to) {
      Offset end = at + 1;
      while (end < offsets[row + 1] && cols[end] == cols[at]) ++end;
      merged_cols[to] = cols[at];
      if constexpr (kHasValue) {
        const Value* values = coo.values.as<Value>();
        Value merged = values[at];
        if (add && end > at + 1) {
          double sum = load_as<double>(values[at]);
          for (Offset i = at + 1; i < end; ++i) sum += load_as<double>(values[i]);
          merged = store_as<Value>(sum);
        }
        merged_values.template as<Value>()[to] = merged;
      }
      at = end;
    }
  }
  return CsrMatrix(rows, coo.cols, std::move(merged_offsets), std::move(merged_cols),
                   std::move(merged_values));
}

}  // namespace

Duplicates parse_duplicates(const std::string& name) {
  if (name == "sum") return Duplicates::sum;
  if (name == "first") return Duplicates::first;
  if (name == "error") return Duplicates::error;
  throw UsageError("unknown treatment of duplicates \"" + name +
                   "\"; there are: sum, first, error");
}

CsrMatrix coo_to_csr(CooMatrix coo, Duplicates duplicates, const std::string& where,
                     CooToCsrReport* report) {
  const OrderScan scan = scan_order(coo.row_indices.data(), coo.col_indices.data(), coo.nnz());
  Buffer<Offset> offsets;
  Offset repeats = scan.repeats;
  if (scan.out_of_order == 0) {
    offsets = offsets_of_sorted(coo.row_indices, coo.rows);
    coo.row_indices = Buffer<Index>();
  } else {
    std::tie(offsets, repeats) = with_word_type(coo.values.kind(), [&](auto tag) {
      return sort_entries<typename decltype(tag)::type>(coo);
    });
  }
  if (report != nullptr) *report = {repeats, scan.out_of_order};
  if (repeats > 0) {
    if (duplicates == Duplicates::error) {
      refuse_duplicate(offsets, coo.col_indices, coo.rows, where);
    }
    return with_value_type(coo.values.kind(), [&](auto tag) {
      return merge_repeats<typename decltype(tag)::type>(coo, offsets,
                                                         duplicates == Duplicates::sum);
    });
  }
  return CsrMatrix(coo.rows, coo.cols, std::move(offsets), std::move(coo.col_indices),
                   std::move(coo.values));
}

}  // namespace csrkit
