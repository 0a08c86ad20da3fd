#include "tools/ranks/spmm_gpus.h"

#include <algorithm>
#include <functional>

#include "api/rooms.h"
#include "ranks/mpi_ranks.h"
#include "tools/forecast/rank_forecast.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

namespace {

const gpu::Face& gpu_face() { return require_gpu_room("--device gpu"); }

bool is_one_process() { return ranks::launcher().empty(); }

bool peers_are_faster(const SpmmDistOptions& options) {
  const CsrFileHeader header = read_csr_header(options.matrix);
  return forecast_stored_grid(
             options.matrix,
             {header.rows, header.cols, header.nnz, options.value_kind.value_or(header.value_kind)},
             options.grid.parts, options.grid.groups, options.dense_cols,
             read_cluster_profile(options.profile))
      .reads_peers;
}

/// Tried by all ranks: "" if each reads memory of every other one's GPU, or why not.
std::string why_processes_cannot_read(ranks::Communicator& communicator, const GpuSeat& seat,
                                      const std::vector<ranks::Place>& places) {
  for (const ranks::Place& place : places) {
    if (place.host != places.front().host) return "they are on several hosts";
  }
  std::string sample;
  const auto failures = [&](const std::function<std::string()>& trial) {
    std::string failure;
    try {
      failure = trial();
    } catch (const Error& error) {
      failure = error.what();
    }
    for (const std::string& text : communicator.gather(failure)) {
      if (!text.empty()) return text;
    }
    return std::string();
  };
  const auto& makers = gpu_face().ranks;
  std::string why = failures([&] {
    sample = makers.sample_memory(seat.device);
    return std::string();
  });
  if (!why.empty()) return why;
  const std::vector<std::string> samples = communicator.gather(sample);
  return failures([&] {
    for (std::size_t other = 0; other < samples.size(); ++other) {
      if (static_cast<int>(other) == communicator.rank()) continue;
      if (why = makers.why_not_read(seat.device, samples[other]); !why.empty()) return why;
    }
    return std::string();
  });
}

/// Why rows cannot be read in place here, or "". All ranks together.
std::string why_no_peers(const SpmmDistOptions& options, ranks::Communicator& communicator,
                         const GpuSeat& seat, const std::vector<ranks::Place>& places) {
  std::string why;
  if (is_one_process()) {
    together(communicator, [&] { why = gpu_face().ranks.why_no_peers(seat.devices); });
    return why;
  }
  if (options.grid.parts == 1 || options.exchange == name_of(HaloWay::nccl)) return "";
  why = why_processes_cannot_read(communicator, seat, places);
  if (why.empty()) return "";
  return "these processes cannot read each other's GPUs (" + why + "); use --exchange nccl";
}

std::string why_no_nccl(const GpuSeat& seat) {
  return seat.shared.empty() ? gpu_face().ranks.why_no_nccl()
                             : "NCCL needs a GPU for each rank, and " + seat.shared;
}

void choose_way(const SpmmDistOptions& options, const std::string& no_peer, GpuPlace* gpu) {
  if (options.grid.parts == 1) {
    gpu->way_choice = "nothing travels";
    return;
  }
  const std::string no_nccl = why_no_nccl(gpu->seat);
  if (options.exchange != "auto") {
    gpu->way = options.exchange == name_of(HaloWay::peer) ? HaloWay::peer : HaloWay::nccl;
    gpu->way_choice = "as asked";
    const std::string& why = gpu->way == HaloWay::peer ? no_peer : no_nccl;
    if (!why.empty()) throw UsageError("--exchange " + options.exchange + ": " + why);
  } else if (no_peer.empty() && no_nccl.empty()) {
    gpu->way = peers_are_faster(options) ? HaloWay::peer : HaloWay::nccl;
    gpu->way_choice = "the faster one by forecast for '" + options.profile + "'";
  } else if (no_peer.empty() || no_nccl.empty()) {
    gpu->way = no_peer.empty() ? HaloWay::peer : HaloWay::nccl;
    gpu->way_choice = "the only one: " + (no_peer.empty() ? no_nccl : no_peer);
  } else {
    throw UsageError("rows of B have no way between the GPUs: " + no_peer + "; " + no_nccl);
  }
}

}  // namespace

GpuPlace choose_gpu(const SpmmDistOptions& options, ranks::Communicator& communicator,
                    const std::vector<ranks::Place>& places) {
  together(communicator, [&] { find_kernel(gpu_face().spmm_kernels(), options.kernel); });
  GpuPlace gpu;
  gpu.seat = take_gpu(communicator, places, options.may_share_gpus);
  const std::string no_peer = why_no_peers(options, communicator, gpu.seat, places);
  together(communicator, [&] { choose_way(options, no_peer, &gpu); });
  return gpu;
}

std::unique_ptr<ranks::SpmmRank> gpu_rank(const SpmmDistOptions& options,
                                          ranks::Communicator& communicator, const GpuPlace& gpu,
                                          RankPart part, const SpmmProblem& problem,
                                          const PlanOptions& plan) {
  if (options.gathers_all && !(part.lists.pieces.empty() && part.lists.sums.empty())) {
    throw UsageError("--all-gather needs whole rows, and '" + options.matrix +
                     "' splits some among its parts; leave it out, or make parts without "
                     "csr-partition --split-hubs");
  }
  ranks::DeviceSetup setup{gpu_face().ranks, options.kernel, plan};
  setup.options.where.device = gpu.seat.device;
  setup.way = gpu.way;
  setup.is_one_process = is_one_process();
  setup.gathers_all = options.gathers_all;
  return std::make_unique<ranks::DeviceSpmmRank>(communicator, options.grid, std::move(part),
                                                 problem, std::move(setup));
}

}  // namespace csrkit
