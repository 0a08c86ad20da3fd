#include "tools/ranks/spmm_gpus.h"

#include <algorithm>

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

/// Why a way cannot be gone here, or "".
std::string why_not(HaloWay way, const GpuSeat& seat) {
  if (way == HaloWay::peer) {
    return is_one_process() ? gpu_face().ranks.why_no_peers(seat.devices)
                            : "a process cannot read another one's GPU; use --exchange nccl";
  }
  return seat.shared.empty() ? gpu_face().ranks.why_no_nccl()
                             : "NCCL needs a GPU for each rank, and " + seat.shared;
}

void choose_way(const SpmmDistOptions& options, GpuPlace* gpu) {
  if (options.grid.parts == 1) {
    gpu->way_choice = "nothing travels";
    return;
  }
  const std::string no_peer = why_not(HaloWay::peer, gpu->seat);
  const std::string no_nccl = why_not(HaloWay::nccl, gpu->seat);
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
  together(communicator, [&] { choose_way(options, &gpu); });
  return gpu;
}

std::unique_ptr<ranks::SpmmRank> gpu_rank(const SpmmDistOptions& options,
                                          ranks::Communicator& communicator, const GpuPlace& gpu,
                                          RankPart part, const SpmmProblem& kinds,
                                          const PlanOptions& plan) {
  if (options.gathers_all && !(part.lists.pieces.empty() && part.lists.sums.empty())) {
    throw UsageError("--all-gather needs whole rows, and '" + options.matrix +
                     "' splits some among its parts; leave it out, or make parts without "
                     "csr-partition --split-hubs");
  }
  PlanOptions on_gpu = plan;
  on_gpu.where.device = gpu.seat.device;
  return std::make_unique<ranks::DeviceSpmmRank>(
      communicator, options.grid, std::move(part), options.dense_cols, kinds, options.kernel,
      on_gpu, gpu_face().ranks, gpu.way, is_one_process(), options.gathers_all);
}

}  // namespace csrkit
