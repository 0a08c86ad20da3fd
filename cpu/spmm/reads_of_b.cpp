#include "cpu/spmm/reads_of_b.h"

#include <algorithm>
#include <bitset>
#include <vector>

namespace csrkit::cpu {

namespace {

/// The part of the rows that have the length of the row before, above which the machine foresees
/// ends.
constexpr double kForeseen = 0.7;
/// Samples of A, of neighbouring entries or rows.
constexpr Offset kSampleEntries = 4096;
constexpr Offset kMostSamples = 16;
/// Entries of a thread that are looked at one by one to find what it reads of B.
constexpr Offset kMostLookedAt = 1 << 20;

}  // namespace

double fresh_rows_of_b(const CsrMatrix& op_a) {
  // One bit per hashed column; collisions cost some per cent.
  constexpr std::size_t kSlots = std::size_t{1} << 15;
  const Offset nnz = op_a.nnz();
  if (nnz == 0) return 0;
  const Offset samples = std::clamp<Offset>(nnz / (8 * kSampleEntries), 1, kMostSamples);
  Offset seen = 0, fresh = 0;
  for (Offset n = 0; n < samples; ++n) {
    std::bitset<kSlots> named;
    const Offset begin = nnz / samples * n;
    const Offset end = std::min(begin + kSampleEntries, nnz);
    for (Offset at = begin; at < end; ++at) {
      const auto column = static_cast<std::uint32_t>(op_a.col_indices()[at]);
      const std::size_t slot = (column * 2654435761u) >> 17;  // Knuth's multiplicative hash
      if (!named[slot]) ++fresh;
      named[slot] = true;
    }
    seen += end - begin;
  }
  return static_cast<double>(fresh) / static_cast<double>(seen);
}

double rows_of_b_in_runs(const CsrMatrix& op_a) {
  constexpr Offset kRecent = 256;
  // Where a column was named last: neighbours have slots beside each other.
  constexpr std::size_t kSlots = std::size_t{1} << 13;
  struct Named {
    Index column = -1;
    Offset at = -1;
  };
  const Offset nnz = op_a.nnz();
  if (nnz == 0) return 0;
  const Offset samples = std::clamp<Offset>(nnz / (8 * kSampleEntries), 1, kMostSamples);
  std::vector<Named> named(kSlots);
  Offset fresh = 0, in_runs = 0;
  for (Offset n = 0; n < samples; ++n) {
    const Offset begin = nnz / samples * n;
    const Offset end = std::min(begin + kSampleEntries, nnz);
    const auto was_named = [&](Index column, Offset since) {
      const Named& slot = named[static_cast<std::uint32_t>(column) % kSlots];
      return slot.column == column && slot.at >= since;
    };
    for (Offset at = begin; at < end; ++at) {
      const Index column = op_a.col_indices()[at];
      if (!was_named(column, begin)) {
        const Offset recent = std::max(begin, at - kRecent);
        ++fresh;
        if (was_named(column - 1, recent) ||
            (column + 1 < op_a.cols() && was_named(column + 1, recent))) {
          ++in_runs;
        }
      }
      named[static_cast<std::uint32_t>(column) % kSlots] = {column, at};
    }
  }
  return static_cast<double>(in_runs) / static_cast<double>(fresh);
}

bool foresees_row_ends(const CsrMatrix& op_a) {
  const Offset rows = op_a.rows();
  if (rows < 2) return true;
  const Offset* const offsets = op_a.row_offsets();
  const Offset samples = std::clamp<Offset>(rows / (8 * kSampleEntries), 1, kMostSamples);
  Offset seen = 0, alike = 0;
  for (Offset n = 0; n < samples; ++n) {
    const Offset begin = std::max<Offset>(1, rows / samples * n);
    const Offset end = std::min(begin + kSampleEntries, rows);
    for (Offset row = begin; row < end; ++row) {
      if (offsets[row + 1] - offsets[row] == offsets[row] - offsets[row - 1]) ++alike;
    }
    seen += end - begin;
  }
  return static_cast<double>(alike) >= kForeseen * static_cast<double>(seen);
}

Index rows_of_b_per_thread(const CsrMatrix& op_a, int threads) {
  const Offset nnz = op_a.nnz();
  if (nnz / threads > kMostLookedAt) return op_a.cols();
  const Index* const cols = op_a.col_indices();
  std::vector<bool> is_named(static_cast<std::size_t>(op_a.cols()));
  Index named = 0;
  for (Offset at = nnz * (threads / 2) / threads; at < nnz * (threads / 2 + 1) / threads; ++at) {
    auto is_there = is_named[static_cast<std::size_t>(cols[at])];
    if (!is_there) ++named;
    is_there = true;
  }
  return named;
}

}  // namespace csrkit::cpu
