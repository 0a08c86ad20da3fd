#include "gpu/spmm/panels_or_bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/spmm/row_panels/panel.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

namespace {

constexpr Index kFewestLanes = 8;         // of a panel
constexpr double kStartKilocycles = 5.9;  // of any product

struct Weights {
  int b_bytes;
  PanelTerms of_terms;
};
/// Fitted to records by tests/gpu/spmm/likeness_test.cpp.
constexpr Weights kWeights[] = {
#define CSRKIT_WEIGHTS(b_bytes, ...) {b_bytes, {__VA_ARGS__}},
#define CSRKIT_MEASURED(...)
#include "gpu/spmm/likeness.inc"
#undef CSRKIT_MEASURED
#undef CSRKIT_WEIGHTS
};

/// 1 + log(bytes of B and C / bytes of L2), from 0 (about a third of L2) to 4.
double beyond_l2(const SpmmProfile& profile) {
  const double bytes = (static_cast<double>(profile.rows) + profile.cols) *
                       static_cast<double>(profile.dense_cols) * profile.b_bytes;
  return 1 + std::clamp(std::log(bytes / profile.l2_bytes), -1.0, 3.0);
}

/// Entries of a part: row_tasks/maker.cu cuts the lists of panels that are longer.
double part_entries(const SpmmProfile& profile) {
  constexpr Offset kManyEntries = 5'000'000;
  constexpr double kNarrowPart = 64, kPart = 128, kLargePart = 256;
  if (profile.nnz >= kManyEntries) return kLargePart;
  const bool is_narrow = profile.dense_cols <= kFewestLanes * 16 / profile.b_bytes;
  return (is_narrow ? kNarrowPart : kPart) * panel_rows(profile.b_bytes) / 4;
}

/// log(3 * places for warps / warps of all panels), at least 0: it grows the fewer of three rounds
/// of warps the panels fill. A panel has a part of a warp if there are few columns, and several
/// warps if there are several slices of columns or if its list is cut.
double idle_places(const SpmmProfile& profile) {
  constexpr double kInTurn = 3;
  constexpr Index kLanes = 32, kTiledCols = 64;
  const bool is_tiled = profile.b_bytes == 2;
  const Index width = 16 / profile.b_bytes, cols = profile.dense_cols;
  const double panels =
      std::max(static_cast<double>(profile.rows) / panel_rows(profile.b_bytes),
               static_cast<double>(profile.nnz) / profile.sample.sharing() / part_entries(profile));
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

/// Thousands of clock cycles of row_bins.
double bins_kilocycles(const SpmmProfile& profile) {
  // What the weights were fitted with.
  constexpr double kUnfilled = 1.3;
  constexpr Index kSlice = 64, kVector = 4;
  const Index words = std::max(profile.dense_cols * profile.b_bytes / 4, 1);
  const bool is_one_slice = words > kSlice && words < 2 * kSlice && words % kVector == 0;
  return gather_kilocycles({profile.rows, profile.cols, profile.nnz, words},
                           profile.multiprocessors, is_one_slice ? 1 : kUnfilled);
}

/// The columns that full slices multiply in the time that slices of these take. A last slice takes
/// at least `least` of the time of a full one; the rest grows with its columns.
double full_columns(double cols, double slice, double least) {
  const double before = std::ceil(cols / slice) - 1;
  return slice * (before + least + (1 - least) * (cols / slice - before));
}

/// The latency of the longest row in row_panels. A part of its list waits for B in every step. At
/// the end the parts' sums are added up, first in groups of up to 32 and then the groups, with a
/// wait for L2 each. Both as log(1 + wait / time of row_bins).
struct LongestList {
  double steps, meeting;
};
LongestList longest_list(const SpmmProfile& profile) {
  constexpr double kCut = 1.25, kTogether = 32, kStepEntries = 8;
  constexpr double kWait = 0.875, kStep = 0.5;  // thousands of cycles
  const auto longest = static_cast<double>(profile.longest);
  const double part = part_entries(profile);
  const double parts = longest > kCut * part ? std::ceil(longest / part) : 0;
  const double groups = parts > kTogether ? std::ceil(parts / kTogether) : 0;
  // Two slots are added at once, except for panels of eight rows and for rows in pieces.
  const double at_once = profile.b_bytes == 2 || profile.has_pieces() ? 1 : 2;
  const double product = bins_kilocycles(profile);
  return {std::log1p(kStep * std::min(longest, part) / kStepEntries / product),
          std::log1p(kWait * (std::min(parts, kTogether) + groups) / at_once / product)};
}

}  // namespace

// An entry takes a fixed time and a time for each column. Rows that do not fill lines take as long
// as wider ones (docs/lab/2026-11-26-spmm-choice-two-cards.md).
double gather_kilocycles(const SpmmSizes& sizes, int multiprocessors, double unfilled) {
  constexpr double kEntry = 1.15e-3, kProduct = 0.0747e-3;  // of a multiprocessor
  constexpr double kLeastOfAnEntry = 2.9e-3;
  constexpr Index kLine = 32, kSlice = 64;
  const double entries = static_cast<double>(sizes.nnz) / multiprocessors;
  double cols = sizes.dense_cols;
  if (cols > kLine && sizes.dense_cols % kLine != 0) {
    cols = unfilled * kSlice * std::ceil(cols / kSlice);
  }
  return kStartKilocycles + entries * std::max(kLeastOfAnEntry, kEntry + kProduct * cols);
}

PanelTerms panel_terms(const SpmmProfile& profile) {
  constexpr double kNarrowest = 16, kWidest = 128, kLine = 32, kSlice = 64;  // columns of 4 bytes
  constexpr double kShortList = 16, kShortMean = 9, kFewSectors = 100;
  constexpr double kLeastOfLast = 2.0 / 3;
  constexpr Index kVeryFewColumns = 3, kSectorBytes = 32;
  const PanelSample& sample = profile.sample;
  const double nnz = static_cast<double>(profile.nnz), mean = nnz / profile.rows;
  const double words = profile.dense_cols * profile.b_bytes / 4.0;
  const double width = std::log2(std::clamp(words, kNarrowest, kWidest) / kNarrowest) /
                       std::log2(kWidest / kNarrowest);
  const double sharing = std::log(sample.sharing());
  const double short_rows = std::log(std::max(kShortMean / mean, 1.0));
  const double list = std::max(mean * panel_rows(profile.b_bytes) / sample.sharing(), 1e-3);
  const LongestList longest = longest_list(profile);
  const bool has_pieces = profile.has_pieces();
  // row_bins takes rows of 256 to 512 bytes as one slice, unless rows fill lines or entries are
  // few.
  const bool is_one_slice = profile.b_bytes != 2 && !has_pieces && words > kSlice &&
                            words < kWidest && std::fmod(words, kLine) != 0 &&
                            profile.nnz >= kEntriesAtOnce;
  // If rows end inside sectors, two slices write parts of the same sector. Parts that do not meet
  // in L2 are read again. The shorter the rows, the more such sectors.
  const double one_slice = profile.b_bytes == 4 ? kSlice : kLine;  // such a row is in one slice
  const bool has_ends = profile.b_bytes != 8 && !has_pieces && words > one_slice &&
                        profile.dense_cols * profile.b_bytes % kSectorBytes != 0 &&
                        !(profile.b_bytes == 4 && is_one_slice);
  const double ends = has_ends ? std::sqrt(kFewSectors / words) : 0;
  // A last slice of few columns costs more than its share: row_bins as much as a full one of 64,
  // row_panels most of a full one of 128 (docs/lab/2026-11-28-spmm-fourth-set.md).
  const bool has_slices = profile.b_bytes != 2 && !has_pieces && words > kSlice && !is_one_slice;
  const double of_panels = full_columns(words, kWidest, kLeastOfLast);
  const double of_bins = full_columns(words, kSlice, 1);
  const double last_slices = has_slices ? std::log(of_panels / of_bins) : 0;
  // In 16 bits tiles are read element by element if rows begin anywhere.
  const bool reads_elements = profile.b_bytes == 2 && profile.is_off_vectors && !has_pieces;
  // Sharing does not shorten the start, which counts in small products.
  const double start = kStartKilocycles / bins_kilocycles(profile);
  const double written = 1 / (1 + mean);  // the share of C's rows in all rows moved, of B and C
  return {1,
          width,
          sharing,
          sharing * short_rows,
          std::log(list / kShortList) * idle_places(profile),
          sharing * start,
          has_pieces ? width : 0,
          is_one_slice ? sharing : 0,
          profile.dense_cols <= kVeryFewColumns ? 1.0 : 0.0,
          ends,
          ends * written * beyond_l2(profile),
          last_slices,
          longest.steps,
          longest.meeting,
          reads_elements ? 1.0 : 0.0,
          has_pieces ? 1.0 : 0.0};
}

double log_panels_over_bins(const SpmmProfile& profile) {
  const auto* const weights =
      std::find_if(std::begin(kWeights), std::end(kWeights),
                   [&](const Weights& each) { return each.b_bytes == profile.b_bytes; });
  const PanelTerms terms = panel_terms(profile);
  return near_zero(std::inner_product(terms.begin(), terms.end(), weights->of_terms.begin(), 0.0));
}

}  // namespace csrkit::gpu
