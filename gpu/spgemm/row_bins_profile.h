// What row_bins knows of every row of C, and the lists of rows that are made alike.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/row_bins_rules.h"

namespace csrkit::gpu {

/// Arrays of one number per row of A, on the device; `counts` has one more, 0.
struct RowProfile {
  std::uint32_t* products = nullptr;  // 2^32 - 1 stands for that and more
  Index* first_word = nullptr;        // of the columns that the row can have
  Index* words = nullptr;
  std::uint8_t* bin = nullptr;      // CountBin, then MakeBin
  std::uint32_t* counts = nullptr;  // entries of C
};

/// The numbers that the host has to know.
struct BinTotals {
  std::uint32_t rows[kMostBins];    // in each bin
  std::uint32_t placed[kMostBins];  // of them, in the list
  unsigned long long products;
  std::uint32_t most_words;  // of a row in CountBin::parts
  std::uint32_t unused;
  unsigned long long nnz;  // of C; filled in by whoever knows
};

/// Fills the profile, counts included where they are known without counting, and the totals, which
/// must be zero.
void profile_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, const BinRules& rules,
                  const RowProfile& profile, BinTotals* totals, cudaStream_t stream);

/// Replaces each row's CountBin by its MakeBin; counts must be complete.
void choose_make_bins(const DeviceCsrView<void>& a, const BinRules& rules,
                      const RowProfile& profile, BinTotals* totals, cudaStream_t stream);

/// The rows of bin 1, then those of bin 2, and so on; bin 0 is in no list. Neighbours stay
/// neighbours, but the order of blocks of rows differs from run to run; no result depends on it.
void list_bins(Index rows, const std::uint8_t* bin, BinTotals* totals, Index* list,
               cudaStream_t stream);

}  // namespace csrkit::gpu
