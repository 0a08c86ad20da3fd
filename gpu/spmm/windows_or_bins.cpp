#include "gpu/spmm/windows_or_bins.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "gpu/device/device_info.h"
#include "gpu/spmm/dense_windows/dense_windows.h"
#include "gpu/spmm/dense_windows/shape.h"
#include "gpu/spmm/panels_or_bins.h"
#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// An estimate of the entries in the fullest windows: those of the fullest row of tiles, in the
/// fullest quarter of its columns. (At K = 32 and 4,000 columns a block works on a quarter.) It
/// reads one row offset a tile, and a sample of the columns.
double fullest_window(const CsrMatrix& a, const WindowShape& shape) {
  constexpr Offset kSample = 512, kQuarters = 4;
  const Offset* offsets = a.row_offsets();
  Offset begin = 0, size = 0;
  for (Offset row = 0; row < a.rows(); row += kTileRows) {
    const Offset here = offsets[std::min<Offset>(row + kTileRows, a.rows())] - offsets[row];
    if (here <= size) continue;
    begin = offsets[row];
    size = here;
  }
  Offset hits[kQuarters] = {};
  const Offset sample = std::min(kSample, size);
  for (Offset i = 0; i < sample; ++i) {
    ++hits[a.col_indices()[begin + size * i / sample] * kQuarters / a.cols()];
  }
  const Offset most = *std::max_element(std::begin(hits), std::end(hits));
  return static_cast<double>(size * most * kQuarters) /
         static_cast<double>(std::max(sample, Offset{1}) * shape.windows);
}

/// The shape of dense_windows and what row_bins is expected to take, in thousands of cycles.
struct Expected {
  WindowShape windows;
  double bins;
  int multiprocessors;

  double log_over_bins(double entries) const {
    return std::log(windows.kilocycles(entries, multiprocessors) / bins);
  }
};

Expected expected_of(const SpmmSizes& sizes, ValueKind kind_of_b, int multiprocessors) {
  // By measurement row_bins takes as long for 41 columns as for 64, and for 200 as for 256: slices
  // that are not full cost no more (docs/lab/2026-11-27-spmm-few-columns.md). For 602 it takes up
  // to 1.2 times as long as for 640, but not where neighbouring rows share columns, as they do
  // where windows are full.
  constexpr double kUnfilled = 1;
  SpmmSizes in_words = sizes;
  in_words.dense_cols = static_cast<Index>(
      (Offset{sizes.dense_cols} * static_cast<Offset>(size_of(kind_of_b)) + 3) / 4);
  return {WindowShape(sizes, window_kind_of(kind_of_b)),
          gather_kilocycles(in_words, multiprocessors, kUnfilled), multiprocessors};
}

bool has_rows_for_windows(const SpmmSizes& sizes) {
  constexpr Offset kLongRows = 64;  // shorter ones are not for tensor cores
  return sizes.nnz > 0 && sizes.nnz >= kLongRows * sizes.rows;
}

}  // namespace

double log_even_windows_over_bins(const SpmmSizes& sizes, ValueKind kind_of_b,
                                  int multiprocessors) {
  if (!has_rows_for_windows(sizes)) return kNever;
  const Expected expected = expected_of(sizes, kind_of_b, multiprocessors);
  return expected.log_over_bins(expected.windows.mean_entries());
}

double log_windows_over_bins(const SpmmProblem& problem) {
  if (problem.semiring != Semiring::plus_times || has_narrow_operands(problem)) return kNever;
  SpmmSizes sizes = {problem.a.rows(), problem.a.cols(), problem.a.nnz(), problem.dense_cols};
  if (problem.transpose_a) std::swap(sizes.rows, sizes.cols);
  const int multiprocessors = current_multiprocessors();
  const double even = log_even_windows_over_bins(sizes, problem.b, multiprocessors);
  if (even >= 0 || !why_no_dense_windows(problem).empty()) return kNever;
  if (!rows_are_on_host(problem)) return even;
  const Expected expected = expected_of(sizes, problem.b, multiprocessors);
  return expected.log_over_bins(fullest_window(problem.a, expected.windows));
}

}  // namespace csrkit::gpu
