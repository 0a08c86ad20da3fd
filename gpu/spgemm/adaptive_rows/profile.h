// What adaptive_rows knows of every row of C, and the lists of rows that are made alike.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/adaptive_rows/rules.h"
#include "gpu/spgemm/adaptive_rows/side_streams.h"

namespace csrkit::gpu {

/// Arrays of one number per row of A, on the device.
struct RowProfile {
  std::uint32_t* products = nullptr;  // 2^32 - 1 stands for that and more
  Index* first_word = nullptr;        // of the columns that the row can have
  Index* words = nullptr;
  std::uint8_t* bin = nullptr;      // CountBin, then MakeBin
  std::uint32_t* counts = nullptr;  // entries of C

  /// Rows of A with the same columns, kMostTwins at most: the first that was met is counted for
  /// all. Which rows are together differs from run to run; no result depends on it.
  std::uint32_t* met = nullptr;    // by a hash of columns: 1 + the last row that joined no other
  int log2_met = 0;                // of the length of `met`
  Index* counted = nullptr;        // of a CountBin::twin: the row that is counted
  std::uint32_t* twins = nullptr;  // of that row: how many have found it, beyond the most, too
  Index* twin_rows = nullptr;      // and the first kMostTwins - 1 of them

  /// A bit for every column that a row has, as counting found them, where they are kept.
  static constexpr std::uint32_t kNotKept = ~0u;
  /// Where not all words of the range are kept, but those that have a bit: how many they are
  /// (kNotKept: too many), and each behind its number in the range.
  static constexpr std::uint32_t kInPairs = 1u << 31;
  std::uint32_t* first_bits = nullptr;  // of rows in bit ranges: where their words stand in `bits`
  std::uint32_t* bits = nullptr;
};

/// The numbers that the host has to know.
struct HostTotals {
  std::uint32_t rows[kMostBins];    // in each bin
  std::uint32_t long_rows, chunks;  // of A
  unsigned long long products;
  unsigned long long parts;  // of the rows in CountBin::parts
  unsigned long long nnz;    // of C
  unsigned long long most_part_words;
  unsigned long long hub_entries;    // of A, in the rows of CountBin::hubs
  unsigned long long hub_products;   // of these rows
  HubTotals long_row_totals;         // of rows of A that are hubs or might be
  unsigned long long longest_alone;  // nanoseconds of a row, if more than kLeastCut
  unsigned long long kept_words;     // of bits
  unsigned long long longest;        // products of a row in a bit range
};

struct BinTotals : HostTotals {
  std::uint32_t placed[kMostBins];  // of the rows, in the list
  std::uint32_t placed_first[kMostBins];
  unsigned long long parts_placed;  // of the parts, in the list
};

/// A row of A with more than BinRules::fewest_spread entries, and a share of one.
struct LongRow {
  unsigned long long products;
  Index row;
  Index first, last;  // columns of C
  std::uint32_t chunks_left;
};
struct LongRowChunk {
  std::uint32_t long_row, number;
};

/// Room for those that a matrix may have.
struct LongRows {
  LongRow* rows = nullptr;
  LongRowChunk* chunks = nullptr;

  static Offset most_rows(Offset nnz, Offset fewest) { return nnz / (fewest + 1); }
  static Offset most_chunks(Offset nnz, Offset fewest) {
    const Offset rows = most_rows(nnz, fewest);
    return rows > 0 ? nnz / kSpreadSources + rows : 0;
  }
};

/// Fills the profile, counts included where they are known without counting, and the totals, which
/// must be zero.
void profile_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, const BinRules& rules,
                  const RowProfile& profile, const LongRows& long_rows, BinTotals* totals,
                  cudaStream_t stream);

/// Where the offsets of C go: to one of the two, or to neither.
struct NewOffsets {
  std::uint32_t* narrow = nullptr;
  Offset* wide = nullptr;
};

/// How many numbers choose_make_bins keeps of the sums of its blocks.
inline Offset states_of_sums(Index rows) { return Offset{rows} / 256 + 1; }

/// Replaces each row's CountBin by its MakeBin; counts must be complete. Adds them up to the
/// offsets of C, if there is a place for them; the last is the totals' nnz. `states` must be zero.
void choose_make_bins(const DeviceCsrView<void>& a, const BinRules& rules,
                      const RowProfile& profile, const NewOffsets& offsets,
                      unsigned long long* states, BinTotals* totals, cudaStream_t stream);

/// The rows of bin 1, then those of bin 2, and so on; bin 0 is in no list. Neighbours stay
/// neighbours, but the order of blocks of rows differs from run to run; no result depends on it.
/// `of_profile` knows the longest row in a bit range: where that is long, rows of more than a
/// fourth of its products come first in their bins. Tells the host the totals first.
void list_bins(Index rows, const RowProfile& profile, const BinTotals* of_profile,
               BinTotals* totals, Index* list, const Told<HostTotals>::Place& host,
               cudaStream_t stream);

/// Some rows, all in one bin.
struct RowList {
  const Index* rows = nullptr;
  Offset count = 0;
};

/// The parts of the rows of CountBin::parts: those of one row stand one after another.
struct RowParts {
  Offset count = 0;
  Index* rows = nullptr;                       // whose part it is
  std::uint32_t* numbers = nullptr;            // which of that row's
  std::uint32_t* counts = nullptr;             // entries of C in it
  std::uint32_t* products = nullptr;           // 2^32 - 1 stands for that and more
  std::uint32_t* starts = nullptr;             // entries of C in the row's parts before
  int most_words = 0;                          // of any part
  static constexpr std::uint64_t kBytes = 20;  // each
};

/// Which columns a part is about, in words.
struct PartOfRow {
  Index row;
  Index first_word;
  int words;
};

#ifdef __CUDACC__
inline __device__ PartOfRow part_of_row(const RowProfile& profile, const BinRules& rules,
                                        const RowParts& parts, Offset number) {
  const Index row = parts.rows[number];
  const Index words = profile.words[row];
  const auto width =
      static_cast<int>(rules.part_words(profile.products[row], static_cast<std::uint32_t>(words)));
  const int skipped = static_cast<int>(parts.numbers[number]) * width;
  return {row, profile.first_word[row] + skipped, min(words - skipped, width)};
}
#endif

/// Fills `rows` and `numbers` of as many parts as the totals say; rows come in any order.
void list_parts(const RowList& list, const RowProfile& profile, const BinRules& rules,
                const RowParts& parts, BinTotals* totals, cudaStream_t stream);

/// From the counts of parts, where each starts in its row, and the counts of the rows.
void sum_parts(const RowParts& parts, const RowProfile& profile, cudaStream_t stream);

}  // namespace csrkit::gpu
