// What csr-spmm-dist says: one record with every rank's phases and bytes, or a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/judge/compare.h"
#include "ranks/placement.h"
#include "tools/ranks/spmm_gpus.h"
#include "tools/ranks/spmm_options.h"

namespace csrkit {

/// How rows of B came from other ranks, and why so.
struct SpmmExchange {
  std::string way, choice;
};

/// What one rank can say when all is done. As JSON it goes to rank 0.
struct SpmmRankFacts {
  ranks::Place place;
  PartHead head;
  ranks::ColumnRange columns;
  std::uint64_t bytes_sent = 0, bytes_received = 0;  // of one product
  double read_seconds = 0, plan_seconds = 0;
  std::vector<ranks::SpmmSeconds> samples;  // of `power` products each
  std::optional<CheckResult> check;
  std::string choice;
  std::optional<GpuPlace> gpu;
  SpmmExchange exchange;
};

/// What every rank says of itself, in their order. All ranks call this.
std::vector<std::string> spmm_records(const SpmmDistOptions& options, const SpmmRankFacts& mine,
                                      ranks::Communicator& communicator);

/// All ranks call it; rank 0 prints.
void report_spmm_dist(const SpmmDistOptions& options, const CsrFileHeader& header,
                      const SpmmProblem& kinds, const std::vector<std::string>& texts,
                      const SpmmRankFacts& mine, ranks::Communicator& communicator);

}  // namespace csrkit
