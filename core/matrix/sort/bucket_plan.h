// How entries are dealt out by key: narrow key ranges are counted, then joined into buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace csrkit {

/// (row, col) as one number, without gaps, so that its high bits divide rows and wide rows alike.
struct EntryKey {
  int col_bits = 0;
  std::uint64_t operator()(Index row, Index col) const {
    return static_cast<std::uint64_t>(row) << col_bits | static_cast<std::uint64_t>(col);
  }
  std::uint64_t first_of_row(Offset row) const {
    return static_cast<std::uint64_t>(row) << col_bits;
  }
  Index row_of(std::uint64_t key) const { return static_cast<Index>(key >> col_bits); }
  Index col_of(std::uint64_t key) const {
    return static_cast<Index>(key & ((std::uint64_t{1} << col_bits) - 1));
  }
  /// The first row that begins at this key or behind it.
  Offset next_row(std::uint64_t key) const {
    return static_cast<Offset>((key + (std::uint64_t{1} << col_bits) - 1) >> col_bits);
  }
};

/// Bits that `number` needs; 0 needs none.
int bits_of(std::uint64_t number);

/// The entries [begin, end) of a stage of the sort; their keys lie in [low, high).
struct KeyBucket {
  Offset begin = 0, end = 0;
  std::uint64_t low = 0, high = 0;
  Offset size() const { return end - begin; }
};

struct BucketPlan {
  int shift = 0;                        // (key - low) >> shift is an entry's fine range
  std::vector<std::uint16_t> of_range;  // fine range -> bucket
  std::vector<KeyBucket> buckets;       // in key order, without gaps
  std::vector<Offset> next;             // [thread][bucket]: where the thread's entries go
};

/// Divides `whole`, whose entries are given by row and column, for `threads` equal shares of it.
/// A range that is heavy enough for a bucket gets one of its own, so that dividing such a bucket
/// again makes progress.
BucketPlan plan_buckets(const Index* rows, const Index* cols, const KeyBucket& whole, EntryKey key,
                        int threads);

struct Share {
  Offset begin, end;
};
/// The thread's part of [begin, end).
Share share_of(Offset begin, Offset end, int thread, int threads);

/// Calls f with a function (row, col) -> fine range; rows alone decide where they can.
template <class F>
void with_range_of(EntryKey key, std::uint64_t low, int shift, F&& f) {
  if (shift >= key.col_bits && low == 0) {
    f([shift = shift - key.col_bits](Index row, const Index*) {
      return static_cast<std::size_t>(row >> shift);
    });
  } else {
    f([=](Index row, const Index* col) {
      return static_cast<std::size_t>((key(row, *col) - low) >> shift);
    });
  }
}

}  // namespace csrkit
