#include "gpu/spmm/panels_or_bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/spmm/row_panels/panel.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

namespace {

struct Weights {
  int b_bytes;
  PanelTerms of_terms;
};
/// Made of records by tests/gpu/spmm/likeness_test.cpp.
constexpr Weights kWeights[] = {
#define CSRKIT_WEIGHTS(b_bytes, ...) {b_bytes, {__VA_ARGS__}},
#define CSRKIT_MEASURED(...)
#include "gpu/spmm/likeness.inc"
#undef CSRKIT_MEASURED
#undef CSRKIT_WEIGHTS
};

/// The logarithm of how much larger than L2 B and C are, above that of a third.
double beyond_l2(const SpmmProfile& profile) {
  const double bytes = (static_cast<double>(profile.rows) + profile.cols) *
                       static_cast<double>(profile.dense_cols) * profile.b_bytes;
  return 1 + std::clamp(std::log(bytes / profile.l2_bytes), -1.0, 3.0);
}

/// The logarithm of how many places for warps panels leave empty, of three times as many. A panel
/// has a part of a warp where there are few columns, and several where there are several slices of
/// columns or where its list is cut.
double idle_places(const SpmmProfile& profile) {
  constexpr double kInTurn = 3;
  constexpr Index kLanes = 32, kFewestLanes = 8, kTiledCols = 64;
  const bool is_tiled = profile.b_bytes == 2;
  const Index width = 16 / profile.b_bytes, cols = profile.dense_cols;
  const Index panel_rows = gpu::panel_rows(profile.b_bytes);
  const double part = (cols <= kFewestLanes * width ? 64 : 128) * panel_rows / 4.0;
  const double panels =
      std::max(static_cast<double>(profile.rows) / panel_rows,
               static_cast<double>(profile.nnz) / profile.sample.sharing() / part);
  double warps_each = std::ceil(static_cast<double>(cols) / kTiledCols);
  if (!is_tiled) {
    const Index lanes = cols <= kFewestLanes * width ? kFewestLanes
                        : cols <= kLanes / 2 * width ? kLanes / 2
                                                     : kLanes;
    warps_each = std::ceil(static_cast<double>(cols) / (lanes * width)) * lanes / kLanes;
  }
  const double places = (is_tiled ? 32.0 : 20.0) * profile.multiprocessors;
  return std::log(std::max(kInTurn * places / (panels * warps_each), 1.0));
}

/// The logarithm of what row_panels takes because the parts of a very long row meet in the end, one
/// after the other, beside what the product takes without. That time is the same however short the
/// product is (docs/lab/2026-11-26-spmv-waves.md). Where such rows are seen among sampled entries
/// other terms know of them, but for pieces.
double meeting_of_parts(const SpmmProfile& profile) {
  constexpr Offset kVeryLongRow = 1500;
  constexpr double kOfVectors = 14, kOfPieces = 40;  // thousands of cycles
  const bool reads_pieces = profile.b_bytes != 2 && profile.has_pieces();
  if (profile.longest_found < kVeryLongRow) return 0;
  if (profile.longest_seen >= kVeryLongRow && !reads_pieces) return 0;
  const Index words = std::max(profile.dense_cols * profile.b_bytes / 4, 1);
  const SpmmSizes sizes = {profile.rows, profile.cols, profile.nnz, words};
  return std::log1p((reads_pieces ? kOfPieces : kOfVectors) /
                    gather_kilocycles(sizes, profile.multiprocessors));
}

}  // namespace

// Gathering, an entry takes some time whatever the number of columns, and rows that do not fill
// lines take that of more columns (docs/lab/2026-11-26-spmm-choice-two-cards.md), but for those
// that row_bins has as one slice.
double gather_kilocycles(const SpmmSizes& sizes, int multiprocessors) {
  constexpr double kStart = 5.9, kEntry = 1.15e-3, kProduct = 0.0747e-3;  // of a multiprocessor
  constexpr double kLeastOfAnEntry = 2.9e-3, kUnfilled = 1.3;
  constexpr Index kLine = 32, kSlice = 64, kVector = 4;
  const double entries = static_cast<double>(sizes.nnz) / multiprocessors;
  double cols = sizes.dense_cols;
  if (cols > kLine && sizes.dense_cols % kLine != 0) {
    const bool is_one_slice = cols > kSlice && cols < 2 * kSlice && sizes.dense_cols % kVector == 0;
    cols = (is_one_slice ? 1 : kUnfilled) * kSlice * std::ceil(cols / kSlice);
  }
  return kStart + entries * std::max(kLeastOfAnEntry, kEntry + kProduct * cols);
}

PanelTerms panel_terms(const SpmmProfile& profile) {
  constexpr double kNarrowest = 16, kWidest = 128, kLine = 32, kSlice = 64;  // columns of 4 bytes
  constexpr double kShortList = 16, kShortMean = 9, kFewSectors = 100, kMillion = 1e6;
  constexpr Index kVeryFewColumns = 3, kSectorBytes = 32;
  const PanelSample& sample = profile.sample;
  const double nnz = static_cast<double>(profile.nnz), mean = nnz / profile.rows;
  const double words = profile.dense_cols * profile.b_bytes / 4.0;
  const double width = std::log2(std::clamp(words, kNarrowest, kWidest) / kNarrowest) /
                       std::log2(kWidest / kNarrowest);
  const double sharing = std::log(sample.sharing());
  const double short_rows = std::log(std::max(kShortMean / mean, 1.0));
  const double list =
      sample.panels > 0 ? static_cast<double>(sample.distinct) / static_cast<double>(sample.panels)
                        : mean * panel_rows(profile.b_bytes) / sample.sharing();
  const bool has_pieces = profile.has_pieces();
  // row_bins has 256 to 512 bytes of a row as one slice, unless rows fill lines or entries are few.
  const bool is_one_slice = profile.b_bytes != 2 && !has_pieces && words > kSlice &&
                            words < kWidest && std::fmod(words, kLine) != 0 &&
                            profile.nnz >= kEntriesAtOnce;
  // Rows that end inside sectors: two slices write parts of one, the more of them the shorter rows
  // are, and parts that do not meet in L2 are read again.
  const bool has_ends = profile.b_bytes != 8 && !has_pieces && words > kLine &&
                        profile.dense_cols * profile.b_bytes % kSectorBytes != 0 &&
                        !(profile.b_bytes == 4 && is_one_slice);
  const double ends = has_ends ? std::sqrt(kFewSectors / words) : 0;
  // A slice that is hardly filled costs row_bins what a full one does.
  const bool has_slices = profile.b_bytes != 2 && !has_pieces && words > kSlice && !is_one_slice;
  const double unfilled = has_slices ? std::log(std::ceil(words / kSlice) * kSlice / words) : 0;
  const double written = 1 / (1 + mean);  // rows of C beside those and the reads of B
  return {1,
          width,
          sharing,
          sharing * short_rows,
          std::log(list / kShortList) * idle_places(profile),
          sharing * std::log(nnz / kMillion),
          std::log(profile.near.of_16) - sharing,
          has_pieces ? width : 0,
          is_one_slice ? sharing : 0,
          profile.dense_cols <= kVeryFewColumns ? 1.0 : 0.0,
          ends,
          ends * written * beyond_l2(profile),
          ends * sharing,
          unfilled};
}

double known_of_panels(const SpmmProfile& profile) {
  constexpr double kInTiles = 0.08;  // docs/lab/2026-11-26-spmm-choice-blind.md
  const bool reads_elements =
      profile.b_bytes == 2 && profile.is_off_vectors && !profile.has_pieces();
  return meeting_of_parts(profile) + (reads_elements ? kInTiles : 0);
}

double log_panels_over_bins(const SpmmProfile& profile) {
  const auto* const weights =
      std::find_if(std::begin(kWeights), std::end(kWeights),
                   [&](const Weights& each) { return each.b_bytes == profile.b_bytes; });
  const PanelTerms terms = panel_terms(profile);
  return near_zero(std::inner_product(terms.begin(), terms.end(), weights->of_terms.begin(),
                                      known_of_panels(profile)));
}

}  // namespace csrkit::gpu
