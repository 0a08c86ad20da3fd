#include "gpu/spmm/bands_or_bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpu/spmm/column_bands/column_bands.h"
#include "gpu/spmm/row_bins/slice_width.h"

namespace csrkit::gpu {

namespace {

/// Bytes of a row of B that row_bins reads before the next slice.
double bins_slice_bytes(const SpmmProfile& profile, const CardRates& card) {
  constexpr double kWide = 256;
  if (narrow_slices_pay(profile.nnz, profile.cols, profile.b_bytes, card.l2_bytes)) {
    return kBandSliceBytes;
  }
  return std::clamp(1.0 * profile.dense_cols * profile.b_bytes, 1.0 * kBandSliceBytes, kWide);
}

/// Rows of B that half of L2 holds: the other half holds copies of the same lines, for the
/// multiprocessors near it.
double rows_held(double slice_bytes, const CardRates& card) {
  return card.l2_bytes / 2 / slice_bytes;
}

/// One in so many rows of B is looked at, and caches have so much less room, which leaves what they
/// miss as it is (Waldspurger et al., "Efficient MRC construction with SHARDS", FAST 2015).
constexpr Offset kRowsEach = 64;

bool is_looked_at(Index row_of_b) {
  return static_cast<std::uint32_t>(row_of_b) * 0x9e3779b1u < (std::uint64_t{1} << 32) / kRowsEach;
}

/// Where row_bins misses less, L2 holds what it reads, and bands only read A and C more often.
constexpr double kLeastMissed = 0.15;

/// A cache that fills with the rows of B that entries name. Once it is full it forgets what was not
/// named for as long as that took, so it misses what is new at the end of that time: how much, the
/// last tenth of its rows tells (after Che, Tung, Wang, "Hierarchical web caching systems:
/// modeling, design and experimental results", IEEE JSAC 20(7), 2002).
struct FillingCache {
  Offset nearly, full;  // rows that are looked at
  Offset nearly_at = 0, full_at = 0;

  explicit FillingCache(double rows)
      : nearly(static_cast<Offset>(0.9 * rows / kRowsEach)),
        full(static_cast<Offset>(rows / kRowsEach)) {}
  bool is_full() const { return full_at > 0; }
  void take_new_row(Offset rows, Offset entries) {
    if (rows == nearly) nearly_at = entries;
    if (rows == full) full_at = entries;
  }
  double missed() const {
    if (!is_full()) return 0;
    const auto rows = static_cast<double>((full - nearly) * kRowsEach);
    return std::min(rows / static_cast<double>(std::max<Offset>(full_at - nearly_at, 1)), 1.0);
  }
};

/// Adds what caches of row_bins' and of column_bands' slices miss, over entries [begin, end).
void add_missed(const CsrMatrix& a, Offset begin, Offset end, std::array<FillingCache, 2> caches,
                double weight, BandSample& sample) {
  constexpr int kBits = 64;
  std::vector<std::uint64_t> named(static_cast<std::size_t>(a.cols()) / kBits + 1);
  Offset rows = 0;
  for (Offset at = begin; at < end && !caches[1].is_full(); ++at) {
    const Index col = a.col_indices()[at];
    if (!is_looked_at(col)) continue;
    std::uint64_t& word = named[static_cast<std::size_t>(col) / kBits];
    const std::uint64_t bit = std::uint64_t{1} << col % kBits;
    if ((word & bit) != 0) continue;
    word |= bit;
    ++rows;
    for (FillingCache& cache : caches) cache.take_new_row(rows, at + 1 - begin);
  }
  sample.missed_by_bins += weight * caches[0].missed();
  sample.missed += weight * caches[1].missed();
}

/// Which rows are cut: among evenly spread entries a row of n entries occurs n times as often as a
/// row of one.
void count_cuts(const CsrMatrix& a, Index shortest_cut, BandSample& sample) {
  constexpr Offset kEntries = 256;
  const Offset* const offsets = a.row_offsets();
  for (Offset i = 0; i < kEntries; ++i) {
    const Offset entry = (2 * i + 1) * a.nnz() / (2 * kEntries);
    const Offset* const behind = std::upper_bound(offsets, offsets + a.rows() + 1, entry);
    const Offset length = behind[0] - behind[-1];
    if (length < shortest_cut) continue;
    sample.cut_entries += 1.0 / kEntries;
    sample.cut_rows += static_cast<double>(a.nnz()) / kEntries / static_cast<double>(length);
  }
}

}  // namespace

bool bands_may_pay(const SpmmProfile& profile, const CardRates& card) {
  constexpr Offset kShortMean = 8;
  constexpr double kTimesL2 = 0.9;  // below, slices of shuffled graphs stay in L2
  return profile.cols * bins_slice_bytes(profile, card) > kTimesL2 * card.l2_bytes &&
         profile.nnz > kShortMean * profile.rows && !profile.has_pieces() &&
         bands_pay(profile, {}, card);
}

BandSample sample_for_bands(const SpmmProblem& problem, const SpmmProfile& profile,
                            const CardRates& card) {
  constexpr Offset kStretches = 2;
  constexpr double kFills = 2;  // entries over rows, of a cache that misses much
  BandSample sample = {0, 0, 0, 0};
  if (!rows_are_seen(problem)) return sample;
  const CsrMatrix& a = problem.a;
  const double held = rows_held(kBandSliceBytes, card);
  const Offset most = std::min(a.nnz() / kStretches, static_cast<Offset>(kFills * held));
  for (Offset i = 0; i < kStretches; ++i) {
    const Offset begin = (a.nnz() - most) * (2 * i + 1) / (2 * kStretches);
    add_missed(a, begin, begin + most,
               {FillingCache(rows_held(bins_slice_bytes(profile, card), card)), FillingCache(held)},
               1.0 / kStretches, sample);
    if (i == 0 && sample.missed_by_bins * kStretches < kLeastMissed) return sample;
  }
  count_cuts(a, kEntriesOfABand * column_bands(a.cols(), card.l2_bytes), sample);
  return sample;
}

/// Seconds, by the bytes that L2 and memory move, at least as long as memory takes for them at 0.88
/// of its rate. The factors are fitted to 108 products of 28 generated graphs and meshes on an H200
/// (docs/lab/2026-11-29-spmm-bands-of-shuffled-graphs.md).
bool bands_pay(const SpmmProfile& profile, const BandSample& sample, const CardRates& card) {
  constexpr double kWorthIt = 0.92;  // of the time: the analysis takes longer, and the model errs
  constexpr double kL2BytesOfACycle = 32;
  if (sample.missed_by_bins < kLeastMissed) return false;
  const double by_l2 = 1 / (kL2BytesOfACycle * card.cycles_per_second);
  const double by_memory = 1 / card.memory_bytes_per_second;
  const auto nnz = static_cast<double>(profile.nnz), rows = static_cast<double>(profile.rows);
  const double entry_bytes = sizeof(Index) + static_cast<double>(profile.b_bytes);
  const double row_bytes = static_cast<double>(profile.dense_cols) * profile.b_bytes;

  const double gathered = nnz * row_bytes;
  const double a_and_c =
      nnz * entry_bytes * row_bytes / bins_slice_bytes(profile, card) + rows * row_bytes;
  const double bins =
      std::max(gathered * (0.49 * by_l2 + 0.64 * sample.missed_by_bins * by_memory) +
                   2.1 * a_and_c * by_memory,
               (gathered * sample.missed_by_bins + a_and_c) / 0.88 * by_memory);

  const double count = column_bands(profile.cols, card.l2_bytes);
  const double of_band = std::max(1 - rows_held(kBandSliceBytes, card) * count / profile.cols, 0.0);
  const double missed_if_cut = sample.cut_entries * std::min(of_band, sample.missed);
  const double missed_if_whole = (1 - sample.cut_entries) * sample.missed;
  const double of_slice = nnz * kBandSliceBytes;  // gathered
  const double a_and_c_of_slice = nnz * entry_bytes + rows * kBandSliceBytes;
  const double passes = sample.cut_rows * (2 * count - 1) * kBandSliceBytes;  // over rows of C
  const double b_once = 1.0 * profile.cols * kBandSliceBytes;
  const double bands = std::max(
      of_slice * (0.67 * by_l2 + (0.41 * missed_if_cut + 0.64 * missed_if_whole) * by_memory) +
          (1.37 * a_and_c_of_slice + 1.6 * passes) * by_memory,
      (of_slice * (missed_if_cut + missed_if_whole) + b_once + a_and_c_of_slice + passes) / 0.88 *
          by_memory);
  return bands * std::ceil(row_bytes / kBandSliceBytes) < kWorthIt * bins;
}

}  // namespace csrkit::gpu
