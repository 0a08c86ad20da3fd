// csr-probe: what this machine can do, measured once, for every forecast.
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/stopwatch.h"
#include "tools/cli/run_tool.h"
#include "tools/forecast/profile_file.h"
#include "tools/operation/machine.h"
#include "tools/probe/links.h"
#include "tools/probe/run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-probe", [&] {
    const ProbeToolOptions options = parse_probe_options(argc, argv);
    std::vector<int> gpus;
    if (!options.cluster.empty()) gpus = gpus_to_link();
    const Stopwatch watch;
    const Json facts = machine_facts(options.probe.plan.where.threads);
    const MachineProfile profile = probe_machine(options, facts);
    write_machine_profile(options.output, profile, facts);
    std::optional<ProbedLinks> links;
    if (!gpus.empty()) links = probe_links(options, gpus, profile.find("gpu"), facts);
    report_probe(options, profile, links, watch.seconds());
    return kExitDone;
  });
}
