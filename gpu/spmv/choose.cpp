#include "gpu/spmv/choose.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/base/error.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

constexpr double kL2Share = 0.636;         // share of L2 that stays from product to product
constexpr double kCachedShare = 0.8;       // up to this share the costs of cached matrices hold
constexpr double kL2BytesPerCycle = 26.8;  // from L2 to one multiprocessor

/// The quantities that decide the time of one product by a kernel.
struct Work {
  std::uint64_t stored_bytes;
  double entries = 0;           // padding included
  double gathered_sectors = 0;  // of x
  bool parts_meet = false;      // parts of a cut row, or of a slice, are added up in device memory
};

Work work_of(const std::string& kernel, const SpmvProfile& profile) {
  const auto nnz = static_cast<double>(profile.nnz);
  const auto sectors = static_cast<double>(profile.gathered_sectors);
  if (kernel == "jagged") {
    const bool is_cut = profile.longest_slice > Offset{jagged::kThreads} * profile.jagged_height;
    return {profile.jagged_bytes, static_cast<double>(profile.jagged_places), sectors, is_cut};
  }
  if (kernel == "csr_balanced") return {profile.csr_bytes, nnz, sectors};
  const auto places = static_cast<double>(profile.sell_places);
  const bool is_shared = profile.warps_per_slice > 1;
  if (kernel == "sell") return {profile.sell_bytes, places, sectors * places / nnz, is_shared};
  if (kernel == "compressed") {
    return {profile.compressed_bytes, places, sectors * places / nnz, is_shared};
  }
  if (kernel == "bsr") {
    return {profile.bsr_bytes, static_cast<double>(profile.bsr_places), sectors};
  }
  if (kernel == "stencil") {
    return {profile.stencil_bytes, static_cast<double>(profile.stencil_places)};
  }
  throw UsageError("no model of " + kernel);
}

/// The cost of a kernel if A stays in L2, fitted to products of 207 matrices in three kinds
/// (docs/lab/2026-11-26-spmm-choice-blind.md), starts also to 66 others on an H100
/// (docs/lab/2026-11-26-blind-hunt.md), jagged anew to 142 on one
/// (docs/lab/2026-11-26-spmv-kept.md). Microseconds, and cycles of all multiprocessors together,
/// which are properties of the kernels and not of a card.
struct CachedCosts {
  const char* kernel;
  double start, meeting;          // microseconds
  double step;                    // of an entry of the longest row, beside others; of a diagonal
  double unevenness;              // microseconds, times the logarithm of longest row to mean row
  double bytes, crowded_bytes;    // times what L2 takes for them; those beyond a quarter of L2
  double entry, row;              // cycles
  double sector, distant_sector;  // cycles; times the logarithm of x to L1
};
constexpr const char* kPaddedJagged = "jagged, padded";
constexpr CachedCosts kCachedCosts[] = {
    {"jagged", 6.35, 0.13, 0, 0.18, 0, 0.12, 0.30, 0.97, 0.74, 0.185},
    {kPaddedJagged, 5.81, 0.20, 0, 0.20, 0, 0.23, 0.265, 0, 0.45, 0.54},
    {"csr_balanced", 8.00, 0, 0, 0.29, 0, 1.58, 0.58, 0, 1.16, 0.12},
    {"sell", 5.08, 1.26, 0.230, 0, 1.24, 0, 0, 0, 0.68, 0.20},
    {"compressed", 5.20, 0, 0.514, 0, 1.45, 0, 0.16, 0, 0.49, 0.12},
    {"bsr", 5.70, 0, 0.021, 0, 1.22, 0.21, 0.19, 4.98, 0.25, 0.09},
    {"stencil", 5.40, 0, 0.060, 0, 0.73, 0, 0.15, 0, 0, 0}};

double cached_seconds(const std::string& kernel, const Work& work, const SpmvProfile& profile) {
  constexpr double kL1Bytes = 250e3, kMostDistant = 2.5;  // further than that was not measured
  const std::string name = kernel == "jagged" && profile.jagged_is_padded ? kPaddedJagged : kernel;
  const auto* costs = std::find_if(std::begin(kCachedCosts), std::end(kCachedCosts),
                                   [&](const CachedCosts& each) { return name == each.kernel; });
  const double rows = profile.rows, nnz = static_cast<double>(profile.nnz);
  const auto longest = static_cast<double>(profile.longest_slice);
  // A row of a stencil has its diagonals one after the other.
  const double steps =
      kernel == "stencil" ? work.entries / rows : longest / profile.warps_per_slice;
  const double microseconds = costs->start + (work.parts_meet ? costs->meeting : 0) +
                              costs->step * steps +
                              costs->unevenness * std::log(std::max(longest * rows / nnz, 1.0));
  const auto bytes = static_cast<double>(work.stored_bytes + profile.vector_bytes);
  const double crowded = std::max(bytes - profile.card.l2_bytes / 4, 0.0);
  const double distance =
      std::clamp(std::log(static_cast<double>(profile.x_bytes) / kL1Bytes), 0.0, kMostDistant);
  const double cycles = (costs->bytes * bytes + costs->crowded_bytes * crowded) / kL2BytesPerCycle +
                        costs->entry * work.entries + costs->row * rows +
                        (costs->sector + costs->distant_sector * distance) * work.gathered_sectors;
  return microseconds * 1e-6 + cycles / profile.card.cycles_per_second;
}

/// The cost of a kernel if A comes from memory, from products of large matrices
/// (docs/lab/2026-11-22-spmv-h200.md).
struct StreamedCosts {
  const char* kernel;
  double bandwidth_share;    // of the copy bandwidth, that its loads reach
  double entries_per_cycle;  // if memory were infinitely fast; 0: it never waits for them
  double step_seconds;       // a lane's next entry: its column, then x
  double start_seconds;
  bool gathers;  // elements of x are read one by one, always
};
constexpr StreamedCosts kStreamedCosts[] = {{"jagged", 1, 0, 0, 0, true},
                                            {"csr_balanced", 1, 0, 0, 2.3e-6, true},
                                            {"sell", 0.85, 1.72, 0.25e-6, 0, false},
                                            {"compressed", 0.80, 1.34, 0.25e-6, 0, false},
                                            {"bsr", 0.85, 1.53, 0.016e-6, 0, false},
                                            {"stencil", 0.95, 3.25, 0, 0, false}};

double streamed_seconds(const std::string& kernel, const Work& work, const SpmvProfile& profile) {
  constexpr double kLaunchSeconds = 2.7e-6, kCutSeconds = 2.0e-6;
  constexpr double kCopyShare = 0.893;  // of the memory's bandwidth, that a copy reaches
  constexpr double kSectorsPerCycle = 0.5625;
  const auto* costs =
      std::find_if(std::begin(kStreamedCosts), std::end(kStreamedCosts),
                   [&](const StreamedCosts& each) { return kernel == each.kernel; });
  const CardRates& card = profile.card;
  const auto bytes = static_cast<double>(work.stored_bytes + profile.vector_bytes);
  const double bandwidth =
      costs->bandwidth_share * (bytes <= kL2Share * card.l2_bytes
                                    ? kL2BytesPerCycle * card.cycles_per_second
                                    : kCopyShare * card.memory_bytes_per_second);
  double seconds = bytes / bandwidth;
  if (kernel == "jagged") {
    const double kept = std::min(bytes, jagged::kKeptOfL2 * card.l2_bytes);
    seconds = kept / (kL2BytesPerCycle * card.cycles_per_second) +
              (bytes - kept) / (kCopyShare * card.memory_bytes_per_second);
  }
  if (costs->entries_per_cycle > 0) {
    seconds = std::max(seconds, work.entries / (costs->entries_per_cycle * card.cycles_per_second));
  }
  seconds +=
      kLaunchSeconds + costs->start_seconds +
      costs->step_seconds * static_cast<double>(profile.longest_slice) / profile.warps_per_slice;
  if (kernel == "jagged" && work.parts_meet) seconds += kCutSeconds;
  // Formats in slices read x for 32 rows at once. That costs nothing unless so many sectors are
  // gathered that columns must be scattered.
  const double gathered = costs->gathers ? work.gathered_sectors
                                         : std::max(0.0, 2 * work.gathered_sectors - work.entries);
  seconds += gathered / (kSectorsPerCycle * card.cycles_per_second);
  return seconds;
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

}  // namespace

double model_seconds(const std::string& kernel, const SpmvProfile& profile) {
  const Work work = work_of(kernel, profile);
  // The same model for all kernels, as their times are compared.
  const auto as_csr = static_cast<double>(profile.csr_bytes + profile.vector_bytes);
  return as_csr <= kCachedShare * profile.card.l2_bytes ? cached_seconds(kernel, work, profile)
                                                        : streamed_seconds(kernel, work, profile);
}

SpmvChoice choose_spmv(const SpmvProfile& profile) {
  if (profile.nnz == 0) return {"csr_balanced", "A has no entries"};
  struct Candidate {
    const char* kernel;
    std::uint64_t bytes;  // beside CSR
  };
  const Candidate candidates[] = {
      {"csr_balanced", 0},          {"jagged", profile.jagged_bytes},
      {"sell", profile.sell_bytes}, {"compressed", profile.compressed_bytes},
      {"bsr", profile.bsr_bytes},   {"stencil", profile.stencil_bytes}};
  const Candidate* best = &candidates[0];
  bool had_room = true;
  for (const Candidate& candidate : candidates) {
    if (candidate.bytes == 0 && &candidate != best) continue;  // not for this matrix
    if (candidate.bytes > profile.available_bytes) {
      had_room = false;
      continue;
    }
    if (model_seconds(candidate.kernel, profile) < model_seconds(best->kernel, profile)) {
      best = &candidate;
    }
  }
  char text[160];
  if (best == &candidates[0]) {
    std::snprintf(text, sizeof text, "A as CSR is %.1f MB, %.1f us by the model; %s",
                  megabytes(profile.csr_bytes), model_seconds("csr_balanced", profile) * 1e6,
                  had_room ? "no format is faster" : "other formats find no room");
  } else {
    std::snprintf(text, sizeof text,
                  "%.1f MB in the place of %.1f MB: %.1f us by the model, csr_balanced %.1f us",
                  megabytes(best->bytes), megabytes(profile.csr_bytes),
                  model_seconds(best->kernel, profile) * 1e6,
                  model_seconds("csr_balanced", profile) * 1e6);
  }
  return {best->kernel, text};
}

}  // namespace csrkit::gpu
