#include "gpu/spmv/choose.h"

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"

namespace csrkit::gpu {

namespace {

/// What a kernel does for one product. The rates are those of docs/lab/2026-11-22-spmv-h200.md.
struct Work {
  std::uint64_t stored_bytes;
  double entries;             // padding included
  double entries_per_second;  // if memory were infinitely fast
  double bandwidth_share;     // of the copy bandwidth that its loads reach
  double fixed_seconds;       // of a launch on no data
  double longest_chain;       // rounds of loads that must follow each other
};

Work work_of(const std::string& kernel, const SpmvProfile& profile) {
  constexpr double kStepsAtOnce = 4;  // of a slice, per warp
  const auto places = static_cast<double>(profile.sell_places);
  const double chain = static_cast<double>(profile.longest_slice) /
                       (kStepsAtOnce * static_cast<double>(profile.warps_per_slice));
  if (kernel == "sell") return {profile.sell_bytes, places, 0.5e12, 0.80, 2.2e-6, chain};
  if (kernel == "compressed") {
    return {profile.compressed_bytes, places, 0.3e12, 0.75, 2.2e-6, chain};
  }
  if (kernel == "stencil") {
    return {profile.stencil_bytes,
            static_cast<double>(profile.stencil_places),
            1.2e12,
            0.90,
            2.2e-6,
            1};
  }
  if (kernel == "bsr") {
    const double rounds = static_cast<double>(profile.longest_slice) / 16;
    return {
        profile.bsr_bytes, static_cast<double>(profile.bsr_places), 0.5e12, 0.85, 2.4e-6, rounds};
  }
  if (kernel != "csr_balanced") throw UsageError("no model of " + kernel);
  const double items = static_cast<double>(profile.nnz) + static_cast<double>(profile.rows);
  return {profile.csr_bytes, items, 0.25e12, 0.80, 3.0e-6, 1};
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

}  // namespace

double model_seconds(const std::string& kernel, const SpmvProfile& profile) {
  constexpr double kCopy = 4.3e12, kL2 = 7.0e12;  // bytes per second
  constexpr double kL2Bytes = 40e6;               // of 60 MiB, what stays from product to product
  constexpr double kChainSeconds = 0.9e-6;        // columns, then x: two latencies
  const Work work = work_of(kernel, profile);
  const double bytes = static_cast<double>(work.stored_bytes + profile.vector_bytes);
  const double bandwidth = bytes <= kL2Bytes ? kL2 : kCopy;
  return work.fixed_seconds +
         std::max({bytes / (bandwidth * work.bandwidth_share),
                   work.entries / work.entries_per_second, work.longest_chain * kChainSeconds});
}

SpmvChoice choose_spmv(const SpmvProfile& profile) {
  if (profile.nnz == 0) return {"csr_balanced", "A has no entries"};
  struct Candidate {
    const char* kernel;
    std::uint64_t bytes;  // beside CSR
  };
  const Candidate candidates[] = {{"csr_balanced", 0},
                                  {"sell", profile.sell_bytes},
                                  {"compressed", profile.compressed_bytes},
                                  {"bsr", profile.bsr_bytes},
                                  {"stencil", profile.stencil_bytes}};
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
