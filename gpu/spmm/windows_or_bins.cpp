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

}  // namespace

double log_windows_over_bins(const SpmmProblem& problem) {
  constexpr Offset kLongRows = 64;  // shorter ones are not for tensor cores
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (problem.semiring != Semiring::plus_times || has_narrow_operands(problem)) return kNever;
  SpmmSizes sizes = {problem.a.rows(), problem.a.cols(), problem.a.nnz(), problem.dense_cols};
  if (problem.transpose_a) std::swap(sizes.rows, sizes.cols);
  if (sizes.nnz == 0 || sizes.nnz < kLongRows * sizes.rows) return kNever;
  const WindowShape shape(sizes, window_kind_of(problem.b));
  const int multiprocessors = current_multiprocessors();
  // By measurement row_bins takes as long for 41 columns as for 64, and for 200 as for 256: slices
  // that are not full cost no more (docs/lab/2026-11-27-spmm-few-columns.md). For 602 it takes up
  // to 1.2 times as long as for 640, but not where neighbouring rows share columns, as they do
  // where windows are full.
  constexpr double kUnfilled = 1;
  SpmmSizes in_words = sizes;
  in_words.dense_cols = static_cast<Index>(
      (Offset{sizes.dense_cols} * static_cast<Offset>(size_of(problem.b)) + 3) / 4);
  const double gather = gather_kilocycles(in_words, multiprocessors, kUnfilled);
  const auto takes = [&](double entries) { return shape.kilocycles(entries, multiprocessors); };
  const double even = takes(shape.mean_entries());
  if (even >= gather || !why_no_dense_windows(problem).empty()) return kNever;
  const double expected =
      rows_are_on_host(problem) ? takes(fullest_window(problem.a, shape)) : even;
  return std::log(expected / gather);
}

}  // namespace csrkit::gpu
