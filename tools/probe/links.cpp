#include "tools/probe/links.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/team.h"
#include "tools/cli/log.h"
#include "tools/probe/steady.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kSmallBytes = 4 << 10;
constexpr std::uint64_t kLargeBytes = 128 << 20;
// Copies and messages are of one piece, whatever its rows.
constexpr std::uint64_t kRowBytes = 512;

const char* words_of(LinkWay way) {
  switch (way) {
    case LinkWay::copy: return "copies by the driver";
    case LinkWay::peer: return "rows read where they are";
    case LinkWay::nccl: return "messages of NCCL";
  }
  return "";
}
const char* key_of(LinkWay way) {
  return way == LinkWay::copy ? "copy" : way == LinkWay::peer ? "peer" : "nccl";
}

/// What is left of a large exchange, less what a small one takes.
double rate_of(const LinkFigure& small, const LinkFigure& large) {
  const double seconds = large.seconds - small.seconds;
  if (!(seconds > 0)) {
    throw ContradictionError("an exchange of " + readable_bytes(large.bytes) +
                             " took no longer than one of " + readable_bytes(small.bytes) +
                             "; measure on an idle machine");
  }
  return (large.bytes - small.bytes) / seconds;
}

}  // namespace

std::vector<int> gpus_to_link() {
  const gpu::Face& face = require_gpu_room("--cluster");
  std::vector<int> gpus;
  for (const std::string& address : face.ranks.addresses()) {
    log_debug("GPU " + std::to_string(gpus.size()) + " at " + address);
    gpus.push_back(static_cast<int>(gpus.size()));
  }
  if (gpus.size() < 2) {
    throw UsageError("--cluster measures what lies between GPUs, and there is one; leave it out");
  }
  if (const std::string why = face.ranks.why_no_nccl(); !why.empty()) {
    throw UsageError("--cluster: messages between GPUs need NCCL: " + why);
  }
  return gpus;
}

ProbedLinks probe_links(const ProbeToolOptions& options, const std::vector<int>& gpus,
                        const DeviceProfile& device, const Json& facts) {
  const DeviceRankMakers& makers = require_gpu_room("--cluster").ranks;
  const auto links = makers.make_links(gpus, kLargeBytes);
  ProbedLinks probed;
  const auto figure = [&](LinkWay way, std::uint64_t bytes, std::uint64_t row_bytes) {
    const std::string name = std::string(words_of(way)) + ", " +
                             readable_bytes(static_cast<double>(bytes)) + " in rows of " +
                             std::to_string(row_bytes);
    const Samples samples = steady_samples(name, options.probe.max_spread, [&] {
      return Samples{links->exchange_seconds(way, bytes, row_bytes)};
    });
    if (!links->is_moved()) throw VerifyError(name + ": what came is not what was sent");
    probed.figures.push_back({way, static_cast<double>(bytes), static_cast<double>(row_bytes),
                              samples.median_seconds(), samples.spread()});
    return probed.figures.back();
  };
  ClusterProfile& profile = probed.profile;
  profile.name =
      facts.at("host").get<std::string>() + ", " + counted(static_cast<Offset>(gpus.size()), "GPU");
  profile.nodes = 1;
  profile.ranks_per_node = static_cast<Index>(gpus.size());
  profile.cores_per_rank =
      std::max<Index>(1, team_size(options.probe.plan.where.threads) / profile.ranks_per_node);
  profile.rank_memory_bytes = device.memory_bytes;
  profile.device = device;
  const auto link_by = [&](LinkWay way) {
    const LinkFigure small = figure(way, kSmallBytes, kRowBytes);
    for (const std::uint64_t bytes : {kLargeBytes >> 7, kLargeBytes >> 3}) {
      figure(way, bytes, kRowBytes);
    }
    return LinkProfile{rate_of(small, figure(way, kLargeBytes, kRowBytes)), small.seconds, {}};
  };
  profile.link = link_by(LinkWay::nccl);
  if (const std::string why = makers.why_no_peers(gpus); why.empty()) {
    profile.peers = link_by(LinkWay::copy);
    const LinkFigure small = figure(LinkWay::peer, kSmallBytes, kRowBytes);
    profile.peers.seconds_per_exchange = small.seconds;
    for (const std::uint64_t row_bytes : {64, 128, 256, 512, 1024}) {
      const LinkFigure large = figure(LinkWay::peer, kLargeBytes, row_bytes);
      profile.peers.rows.push_back({static_cast<double>(row_bytes), rate_of(small, large)});
    }
  } else {
    log_info("no reads of other GPUs' memory: " + why);
  }
  write_cluster_profile(options.cluster, profile, facts);
  return probed;
}

void add_links(Report& report, const std::string& path, const ProbedLinks& links) {
  TextTable table({"every GPU gets from the next", "in rows of", "how", "us", "GB/s each way"});
  Json json = Json::array();
  for (const LinkFigure& one : links.figures) {
    const bool has_rows = one.way == LinkWay::peer;
    table.add({readable_bytes(one.bytes), has_rows ? readable_bytes(one.row_bytes) : "-",
               words_of(one.way), fixed(1e6 * one.seconds, 1),
               fixed(one.bytes / one.seconds / 1e9, 1)});
    json.push_back({{"way", key_of(one.way)},
                    {"bytes", count_json(one.bytes)},
                    {"row_bytes", count_json(one.row_bytes)},
                    {"seconds", one.seconds},
                    {"spread", one.spread}});
  }
  report.add("cluster", "cluster", path);
  report.add_text("\n" + links.profile.name + "\n" + table.text());
  report.add_json("cluster_profile", to_json(links.profile));
  report.add_json("exchanges", json);
}

}  // namespace csrkit
