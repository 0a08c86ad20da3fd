#include "gpu/spmv/choose.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/base/error.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

constexpr double kCachedShare = 0.8;       // of L2: up to it A as CSR counts as cached
constexpr double kL2BytesPerCycle = 26.8;  // from L2 to one multiprocessor
constexpr double kCopyShare = 0.893;       // of the memory's bandwidth, that a copy reaches

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
  if (kernel == "csr_scalar") return {profile.csr_bytes, places, sectors};  // a warp has a slice
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

/// The costs of a kernel: microseconds, and cycles of all multiprocessors together, which are
/// properties of the kernels and not of a card.
struct Costs {
  const char* kernel;
  double start, meeting;  // microseconds
  double step;            // of an entry of the longest row, beside others; of a diagonal
  double unevenness;      // microseconds, times the logarithm of longest row to mean row
  double bytes;           // times what L2 takes for them
  double more_bytes;      // cached: also beyond a quarter of L2; streamed: times what a copy takes
  double entry, row;      // cycles
  double sector, distant_sector;  // cycles; times the logarithm of x to L1
  double scattered_sector = 0;    // cycles, of those beyond one for two entries
};
constexpr const char* kPaddedJagged = "jagged, padded";

/// If A stays in L2. Fitted to products of 207 matrices in three kinds
/// (docs/lab/2026-11-26-spmm-choice-blind.md), starts also to 66 others on an H100
/// (docs/lab/2026-11-26-blind-hunt.md), jagged anew to 142 on one
/// (docs/lab/2026-11-26-spmv-kept.md), csr_scalar to 85 products whose rows have at most 64 entries
/// (docs/lab/2026-11-28-seventh-set.md).
constexpr Costs kCachedCosts[] = {
    {"jagged", 6.35, 0.13, 0, 0.18, 0, 0.12, 0.30, 0.97, 0.74, 0.185},
    {kPaddedJagged, 5.81, 0.20, 0, 0.20, 0, 0.23, 0.265, 0, 0.45, 0.54},
    {"csr_balanced", 8.00, 0, 0, 0.29, 0, 1.58, 0.58, 0, 1.16, 0.12},
    {"csr_scalar", 5.13, 0, 0.145, 0, 0, 0.526, 0.343, 0, 0.348, 1.057},
    {"sell", 5.08, 1.26, 0.230, 0, 1.24, 0, 0, 0, 0.68, 0.20},
    {"compressed", 5.20, 0, 0.514, 0, 1.45, 0, 0.16, 0, 0.49, 0.12},
    {"bsr", 5.70, 0, 0.021, 0, 1.22, 0.21, 0.19, 4.98, 0.25, 0.09},
    {"stencil", 5.40, 0, 0.060, 0, 0.73, 0, 0.15, 0, 0, 0}};

/// If most of A comes from memory. Fitted to 147 products of 46 to 570 MB as CSR, in f64 and f32
/// (docs/lab/2026-11-28-spmv-streamed.md).
constexpr Costs kStreamedCosts[] = {
    {"jagged", 4.0, 0, 0, 0, 1.52, 0.952, 0.227, 1.10, 0, 0.180, 0.243},
    {kPaddedJagged, 4.0, 10.1, 0, 0, 1.44, 1.17, 0.060, 0, 0.052, 0, 0.546},
    {"csr_balanced", 13.1, 0, 0, 0.126, 0, 1.15, 0.254, 0.853, 0.271, 0, 0.482},
    {"sell", 4.89, 20.3, 0.261, 0, 0, 0.691, 0, 1.74, 0, 0.223, 0.326},
    {"compressed", 4.0, 11.9, 0.536, 4.15, 0, 0.889, 0.289, 1.29, 0, 0.147, 0.52},
    {"bsr", 4.0, 0, 0.068, 6.96, 0, 0.497, 0, 16.4, 0, 0},
    {"stencil", 4.0, 0, 0.093, 0, 0.836, 0.812, 0.045, 0.40, 0, 0}};

template <std::size_t count>
const Costs& costs_of(const Costs (&table)[count], const std::string& name) {
  const Costs* const found = std::find_if(std::begin(table), std::end(table),
                                          [&](const Costs& each) { return name == each.kernel; });
  if (found == std::end(table)) throw UsageError("no model of " + name + " for so large a matrix");
  return *found;
}

/// Everything but the bytes, in seconds.
double seconds_without_bytes(const Costs& costs, const Work& work, const SpmvProfile& profile) {
  constexpr double kL1Bytes = 250e3, kMostDistant = 2.5;  // further than that was not measured
  const double rows = profile.rows, nnz = static_cast<double>(profile.nnz);
  const auto longest = static_cast<double>(profile.longest_slice);
  const bool is_stencil = std::string(costs.kernel) == "stencil";
  // A row of a stencil has its diagonals one after the other.
  const int warps = std::string(costs.kernel) == "csr_scalar" ? 1 : profile.warps_per_slice;
  const double steps = is_stencil ? work.entries / rows : longest / warps;
  const double microseconds = costs.start + (work.parts_meet ? costs.meeting : 0) +
                              costs.step * steps +
                              costs.unevenness * std::log(std::max(longest * rows / nnz, 1.0));
  const double distance =
      std::clamp(std::log(static_cast<double>(profile.x_bytes) / kL1Bytes), 0.0, kMostDistant);
  const double scattered = std::max(2 * work.gathered_sectors - work.entries, 0.0);
  const double cycles = costs.entry * work.entries + costs.row * rows +
                        (costs.sector + costs.distant_sector * distance) * work.gathered_sectors +
                        costs.scattered_sector * scattered;
  return microseconds * 1e-6 + cycles / profile.card.cycles_per_second;
}

bool is_cached(const SpmvProfile& profile) {
  const auto as_csr = static_cast<double>(profile.csr_bytes + profile.vector_bytes);
  return as_csr <= kCachedShare * profile.card.l2_bytes;
}

/// Whether its model holds: it was measured on no others.
bool may_be_scalar(const SpmvProfile& profile) {
  constexpr Offset kLongest = 64, kLongestMean = 4;
  return is_cached(profile) && profile.longest_slice <= kLongest && profile.sell_places > 0 &&
         profile.nnz <= kLongestMean * profile.rows;
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

}  // namespace

double model_seconds(const std::string& kernel, const SpmvProfile& profile) {
  const CardRates& card = profile.card;
  const Work work = work_of(kernel, profile);
  // The same model for all kernels, as their times are compared.
  const bool cached = is_cached(profile);
  const std::string name = kernel == "jagged" && profile.jagged_is_padded ? kPaddedJagged : kernel;
  const Costs& costs = cached ? costs_of(kCachedCosts, name) : costs_of(kStreamedCosts, name);

  const double l2_bandwidth = kL2BytesPerCycle * card.cycles_per_second;
  const auto bytes = static_cast<double>(work.stored_bytes + profile.vector_bytes);
  const double kept = cached ? bytes : std::min(bytes, jagged::kKeptOfL2 * card.l2_bytes);
  const double of_more = cached ? std::max(bytes - card.l2_bytes / 4, 0.0) / l2_bandwidth
                                : (bytes - kept) / (kCopyShare * card.memory_bytes_per_second);
  const double seconds = costs.bytes * kept / l2_bandwidth + costs.more_bytes * of_more +
                         seconds_without_bytes(costs, work, profile);
  // Matrices far larger than those of the fit are bound by what memory gives, whatever the kernel.
  return cached ? seconds : std::max(seconds, of_more);
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
  if (may_be_scalar(profile) &&
      model_seconds("csr_scalar", profile) < model_seconds(best->kernel, profile)) {
    std::snprintf(text, sizeof text, "rows are short: %.1f us by the model, %s %.1f us",
                  model_seconds("csr_scalar", profile) * 1e6, best->kernel,
                  model_seconds(best->kernel, profile) * 1e6);
    return {"csr_scalar", text};
  }
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
