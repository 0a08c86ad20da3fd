#include "gpu/spmv/choose.h"

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

/// What a kernel does for one product, and how fast; rates and times were read off measured
/// products of many matrices (docs/lab/2026-11-22-spmv-h200.md). Rates are those of one
/// multiprocessor and one clock cycle: properties of the kernels, not of a card.
struct Work {
  std::uint64_t stored_bytes;
  double bandwidth_share = 1;    // of the copy bandwidth that its loads reach
  double entries = 0;            // padding included,
  double entries_per_cycle = 1;  // if memory were infinitely fast
  double waiting_seconds = 0;    // for loads that must follow each other
  Offset gathered_sectors = 0;   // of x, where its elements are read one by one
};

Work work_of(const std::string& kernel, const SpmvProfile& profile) {
  constexpr double kStepSeconds = 0.25e-6;  // a lane's next entry: its column, then x
  constexpr double kCutSeconds = 2.0e-6;    // the parts of a row meet in device memory
  constexpr double kPieceSeconds = 2.3e-6;  // row offsets and three barriers
  const double chain = kStepSeconds * static_cast<double>(profile.longest_slice) /
                       static_cast<double>(profile.warps_per_slice);
  if (kernel == "jagged") {
    const bool is_cut =
        profile.longest_slice > jagged::kThreads * segment_height(profile.rows, profile.nnz);
    return {profile.jagged_bytes, 1, 0, 1, is_cut ? kCutSeconds : 0, profile.gathered_sectors};
  }
  if (kernel == "csr_balanced") {
    return {profile.csr_bytes, 1, 0, 1, kPieceSeconds, profile.gathered_sectors};
  }
  if (kernel == "sell") {
    return {profile.sell_bytes, 0.85, static_cast<double>(profile.sell_places), 1.72, chain};
  }
  if (kernel == "compressed") {
    return {profile.compressed_bytes, 0.80, static_cast<double>(profile.sell_places), 1.34, chain};
  }
  if (kernel == "stencil") {
    return {profile.stencil_bytes, 0.95, static_cast<double>(profile.stencil_places), 3.25};
  }
  if (kernel == "bsr") {
    return {profile.bsr_bytes, 0.85, static_cast<double>(profile.bsr_places), 1.53, chain / 16};
  }
  throw UsageError("no model of " + kernel);
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

}  // namespace

double model_seconds(const std::string& kernel, const SpmvProfile& profile) {
  constexpr double kLaunchSeconds = 2.7e-6;
  constexpr double kCopyShare = 0.893;  // of the memory's bandwidth, that a copy reaches
  constexpr double kL2Share = 0.636;    // of L2, that stays from product to product
  constexpr double kL2BytesPerCycle = 26.8, kSectorsPerCycle = 0.5625;  // L2, to one multiprocessor
  const CardRates& card = profile.card;
  const Work work = work_of(kernel, profile);
  const double bytes = static_cast<double>(work.stored_bytes + profile.vector_bytes);
  const double bandwidth = work.bandwidth_share * (bytes <= kL2Share * card.l2_bytes
                                                       ? kL2BytesPerCycle * card.cycles_per_second
                                                       : kCopyShare * card.memory_bytes_per_second);
  return kLaunchSeconds + work.waiting_seconds +
         std::max(bytes / bandwidth,
                  work.entries / (work.entries_per_cycle * card.cycles_per_second)) +
         static_cast<double>(work.gathered_sectors) / (kSectorsPerCycle * card.cycles_per_second);
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
