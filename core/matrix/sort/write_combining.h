// Scatters through small buffers, one per target, each emptied a cache line at a time. Without them
// every entry would touch its own page and line, more of them than a TLB and a cache hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/matrix/sort/entry_arrays.h"

namespace csrkit {

template <class Word>
class WriteCombiner {
 public:
  /// next[b] is where target b's first entry goes; the arrays of `to` are 64-byte aligned.
  WriteCombiner(const EntryArrays<Word>& to, Offset* next, Offset targets)
      : to_(to),
        next_(next),
        targets_(targets),
        first_(Buffer<Offset>::copy_of(next, targets)),
        lines_(targets) {}

  void put(std::size_t target, Index row, Index col, const Word& word) {
    Line& line = lines_[static_cast<Offset>(target)];
    const Offset at = next_[target]++;
    const Offset slot = at % kEntries;
    line.rows[slot] = row;
    line.cols[slot] = col;
    if constexpr (kHasWord<Word>) line.words[slot] = word;
    if (slot == kEntries - 1) empty(static_cast<Offset>(target), at - slot);
  }

  /// Empties all buffers.
  void finish() {
    for (Offset target = 0; target < targets_; ++target) {
      const Offset end = next_[target], begin = std::max(first_[target], end - end % kEntries);
      copy_part(lines_[target], begin, end);
    }
#if defined(__SSE2__)
    _mm_sfence();  // streaming stores are not ordered by anything weaker
#endif
  }

 private:
  static constexpr Offset kEntries = 16;  // a cache line of rows, one of columns, more of values
  struct alignas(64) Line {
    Index rows[kEntries];
    Index cols[kEntries];
    Word words[kHasWord<Word> ? kEntries : 1];
  };

  void empty(Offset target, Offset begin) {
    const Line& line = lines_[target];
    if (begin < first_[target]) {  // the neighbour owns the line's beginning
      copy_part(line, first_[target], begin + kEntries);
      return;
    }
    copy_line(line.rows, to_.rows + begin);
    copy_line(line.cols, to_.cols + begin);
    if constexpr (kHasWord<Word>) copy_line(line.words, to_.words + begin);
  }

  void copy_part(const Line& line, Offset begin, Offset end) {
    for (Offset at = begin; at < end; ++at) {
      to_.rows[at] = line.rows[at % kEntries];
      to_.cols[at] = line.cols[at % kEntries];
      if constexpr (kHasWord<Word>) to_.words[at] = line.words[at % kEntries];
    }
  }

  /// Past the cache: no thread reads the line before its bucket's turn comes.
  template <class T>
  static void copy_line(const T (&from)[kEntries], T* to) {
#if defined(__SSE2__)
    constexpr std::size_t kVectors = kEntries * sizeof(T) / sizeof(__m128i);
    for (std::size_t i = 0; i < kVectors; ++i) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i,
                       _mm_load_si128(reinterpret_cast<const __m128i*>(from) + i));
    }
#else
    std::memcpy(to, from, sizeof from);
#endif
  }

  EntryArrays<Word> to_;
  Offset* next_;
  Offset targets_;
  Buffer<Offset> first_;
  Buffer<Line> lines_;
};

}  // namespace csrkit
