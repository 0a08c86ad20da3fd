// What csr-spgemm-dist says: one record with every rank's phases and bytes, or a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/contract/spgemm.h"
#include "core/judge/compare.h"
#include "ranks/placement.h"
#include "ranks/spgemm.h"
#include "tools/ranks/gpu_seats.h"
#include "tools/ranks/spgemm_share.h"

namespace csrkit {

/// Of a plan on a GPU.
struct SpgemmOnGpu {
  double upload = 0, product = 0, download = 0;
};

/// One product of a rank.
struct SpgemmMade {
  CsrMatrix c;
  SpgemmProblem problem;
  std::string choice;
  ranks::LocalOperands local;
  double seconds = 0;
  SpgemmOnGpu on_gpu;
};

/// What one rank can say when all is done.
struct SpgemmRankFacts {
  ranks::Place place;
  double read_seconds = 0;
  std::vector<double> samples;
  std::vector<ranks::SpgemmSeconds> phases;
  std::optional<GpuSeat> gpu;
  std::vector<SpgemmOnGpu> on_gpu;
  std::optional<CheckResult> check;
};

/// What a rank says of itself, as JSON.
std::string spgemm_record(const SpgemmRankFacts& facts, const SpgemmShare& share,
                          const SpgemmMade& made, int rank);

/// Rank 0 prints what `texts`, the records of all ranks, say together.
void report_spgemm_dist(const SpgemmDistOptions& options, const SpgemmShare& share,
                        const std::vector<std::string>& texts, ranks::Communicator& communicator);

}  // namespace csrkit
