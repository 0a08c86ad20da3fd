// The profile of adaptive_rows: facts about every row of C, and their totals.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/adaptive_rows/rules/rules.h"

namespace csrkit::gpu {

/// Arrays of one number per row of A, on the device.
struct RowProfile {
  std::uint32_t* products = nullptr;  // 2^32 - 1: so many or more
  Index* first_word = nullptr;        // the word (32 columns) of the row's first possible column
  Index* words = nullptr;
  std::uint8_t* bin = nullptr;      // CountBin, then MakeBin
  std::uint32_t* counts = nullptr;  // entries of C

  /// Twins: up to kMostTwins rows of A with the same columns. The first one met is counted for all.
  /// Which rows are grouped differs from run to run; no result depends on it.
  // by a hash of columns: 1 + the last row that found no twin; 0: none
  std::uint32_t* met = nullptr;
  int log2_met = 0;          // of the length of `met`
  Index* counted = nullptr;  // of a CountBin::twin: the row that is counted
  // of that row: how many rows have found it; may exceed kMostTwins
  std::uint32_t* twins = nullptr;
  Index* twin_rows = nullptr;  // and the first kMostTwins - 1 of these rows

  /// The bits that counting set, a bit for every column that a row has, where they are kept for
  /// making.
  static constexpr std::uint32_t kNotKept = ~0u;
  /// Set in first_bits where not all words of the range are kept: `bits` then holds the number of
  /// words that have a bit (kNotKept: too many), and for each its number in the range and its bits.
  static constexpr std::uint32_t kInPairs = 1u << 31;
  std::uint32_t* first_bits = nullptr;  // of rows in bit ranges: where their words begin in `bits`
  std::uint32_t* bits = nullptr;

  /// Rows that counting has made already: where their entries begin in the buffer of staged rows.
  static constexpr std::uint32_t kNotStaged = ~0u;
  std::uint32_t* staged = nullptr;  // null: there is no such row
};

/// Totals that the host waits for.
struct HostTotals {
  std::uint32_t rows[kMostBins];    // in each bin
  std::uint32_t long_rows, chunks;  // of A
  unsigned long long products;
  unsigned long long parts;  // of the rows in CountBin::parts
  unsigned long long nnz;    // of C
  unsigned long long most_part_words;
  unsigned long long hub_entries;    // of A, in the rows of CountBin::hubs
  unsigned long long hub_products;   // of these rows
  HubTotals long_row_totals;         // of rows of A that are, or may be, hubs
  unsigned long long longest_alone;  // nanoseconds of the slowest row, if more than kLeastCut
  unsigned long long kept_words;     // of bits
  unsigned long long longest;        // products of a row in a bit range
  unsigned long long sampled_products, sampled_entries;  // of some rows of C
  // The most shared memory that a row needs in the bin of large teams, and in those of blocks.
  std::uint32_t bytes_of_large_team, bytes_of_block, bytes_of_whole;
};

struct BinTotals : HostTotals {
  std::uint32_t placed[kMostBins];        // rows that are in their list, from its end on
  std::uint32_t placed_first[kMostBins];  // rows that are in it, from its start on
  unsigned long long parts_placed;        // parts that are in their list
};

/// A row of A with more than BinRules::fewest_spread entries; several blocks profile it, a chunk
/// each.
struct LongRow {
  unsigned long long products;
  Index row;
  Index first, last;  // columns of C
  std::uint32_t chunks_left;
};
struct LongRowChunk {
  std::uint32_t long_row, number;
};

/// Arrays with room for all long rows that a matrix can have.
struct LongRows {
  LongRow* rows = nullptr;
  LongRowChunk* chunks = nullptr;

  static Offset most_rows(Offset nnz, Offset fewest) { return nnz / (fewest + 1); }
  static Offset most_chunks(Offset nnz, Offset fewest) {
    const Offset rows = most_rows(nnz, fewest);
    return rows > 0 ? nnz / kSpreadSources + rows : 0;
  }
};

/// Whether a fourth of A's rows or more have the columns of the row after them, by a sample. Waits.
bool has_twins_side_by_side(const DeviceCsrView<void>& a, DeviceMemory& memory);

/// Fills the profile (counts only where they need no counting) and adds to the totals, which must
/// be zero but for sampled rows.
void profile_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, const BinRules& rules,
                  const RowProfile& profile, const LongRows& long_rows, BinTotals* totals,
                  cudaStream_t stream);

/// The part of profile_rows that is left for long rows.
void profile_chunks(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                    const BinRules& rules, const RowProfile& profile, const LongRows& long_rows,
                    BinTotals* totals, cudaStream_t stream);

#ifdef __CUDACC__
/// A row of C and its twins, which are made together.
class TwinRows {
 public:
  __device__ TwinRows(const RowProfile& profile, Index row)
      : row_(row),
        count_(1 + static_cast<int>(min(profile.twins[row], std::uint32_t{kMostTwins - 1}))),
        others_(profile.twin_rows + Offset{row} * (kMostTwins - 1)) {}

  __device__ int count() const { return count_; }
  /// Numbers beyond the last stand for the first.
  __device__ Index operator[](int twin) const {
    return twin > 0 && twin < count_ ? others_[twin - 1] : row_;
  }

 private:
  Index row_;
  int count_;
  const Index* others_;
};
#endif

}  // namespace csrkit::gpu
