// What csr-probe measures between the GPUs of this machine, as a cluster profile.
#pragma once

#include <string>
#include <vector>

#include "core/contract/device_ranks.h"
#include "tools/cli/json.h"
#include "tools/cli/report.h"
#include "tools/forecast/cluster_profile.h"
#include "tools/probe/options.h"

namespace csrkit {

/// The GPUs that are visible, by their numbers. Throws UsageError unless there are two or more and
/// NCCL can be opened: to be asked before anything is measured.
std::vector<int> gpus_to_link();

/// Seconds of an exchange, by way and by bytes that every GPU gets.
struct LinkFigure {
  LinkWay way = LinkWay::copy;
  double bytes = 0, row_bytes = 0, seconds = 0, spread = 0;
};

struct ProbedLinks {
  ClusterProfile profile;
  std::vector<LinkFigure> figures;
};

/// One node of these GPUs, each of which is `device`; written where the options say.
ProbedLinks probe_links(const ProbeToolOptions& options, const std::vector<int>& gpus,
                        const DeviceProfile& device, const Json& facts);

void add_links(Report& report, const std::string& path, const ProbedLinks& links);

}  // namespace csrkit
