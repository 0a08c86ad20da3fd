// What column_bands and its chooser agree on, and column_bands with bands of any width, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// The slice of a row of B or C that one launch covers: 16 bytes for each of eight lanes.
inline constexpr int kBandSliceBytes = 128;

/// Rows with fewer entries a band than these stay whole: adding to C costs more than it saves.
inline constexpr Index kEntriesOfABand = 3;

/// How many bands: the slices of the rows of B that one names take two thirds of L2, which holds C,
/// too.
/// Measured on an H100, docs/lab/2026-11-26-spmm-column-bands.md.
inline Index column_bands(Index cols, double l2_bytes) {
  constexpr double kShareOfL2 = 0.65, kMost = 4096;
  const double bands =
      std::ceil(static_cast<double>(cols) * kBandSliceBytes / (kShareOfL2 * l2_bytes));
  return static_cast<Index>(std::clamp(bands, 2.0, kMost));
}

/// As on a card whose L2 has so many bytes.
std::unique_ptr<DeviceSpmm> make_device_column_bands(const SpmmProblem& problem, double l2_bytes);

}  // namespace csrkit::gpu
