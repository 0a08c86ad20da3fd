// Constants that column_bands shares with its chooser, and column_bands for a given L2, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Bytes of a row of B or C in a slice: 16 for each of eight lanes.
inline constexpr int kBandSliceBytes = 128;

/// Rows with fewer entries a band stay whole: adding to C costs more than cutting saves.
inline constexpr Index kEntriesOfABand = 3;

/// The number of bands: a band's slices of rows of B take two thirds of L2; the rest is for C.
/// Measured on an H100, docs/lab/2026-11-26-spmm-column-bands.md.
inline Index column_bands(Index cols, double l2_bytes) {
  constexpr double kShareOfL2 = 0.65, kMost = 4096;
  const double bands =
      std::ceil(static_cast<double>(cols) * kBandSliceBytes / (kShareOfL2 * l2_bytes));
  return static_cast<Index>(std::clamp(bands, 2.0, kMost));
}

/// With bands for an L2 of `l2_bytes`.
std::unique_ptr<DeviceSpmm> make_device_column_bands(const SpmmProblem& problem, double l2_bytes);

}  // namespace csrkit::gpu
