#include "tools/probe/options.h"

#include <algorithm>

#include "api/rooms.h"
#include "core/base/ending.h"
#include "tools/cli/list.h"
#include "tools/cli/log.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/operation/machine.h"
#include "tools/operation/product/request.h"

namespace csrkit {

namespace {

std::string list_devices(bool as_json) {
  std::vector<ListRow> rows = {{"cpu", "the cores this process may use: " + cpu_model()}};
  if (gpu_room() != nullptr) rows.push_back({"gpu", "the first visible GPU"});
  return list_rows("device", rows, as_json);
}

}  // namespace

ProbeToolOptions parse_probe_options(int argc, const char* const* argv) {
  Options options("csr-probe", "--output FILE.json", 0, 0,
                  "Measures what this machine can do, once: copy bandwidth, caches, and how long "
                  "products take by the size of the table they read. Forecasts, csr-reorder "
                  "--report and --advise read the file.");
  options.value("o,output", "FILE.json", "where the machine profile goes; needed")
      .value("device", "cpu|gpu|all", "what to measure (default: all there is)")
      .value("cluster", "FILE.json",
             "on a machine with several GPUs, measure what lies between them, too, and write a "
             "cluster profile: what csr-forecast --ranks and csr-spmm-dist take as --profile")
      .value("k,dense-cols", "N,N", "widths of B to measure, others are interpolated",
             "16,32,128,256")
      .value("max-table", "SIZE", "the largest table to read from", "1G")
      .value("seconds", "N", "about how long to measure each device", "30")
      .value("max-spread", "PERCENT",
             "refuse a figure whose samples' quartiles lie further apart than this share of their "
             "median, after ten tries",
             "50")
      .value("t,threads", "N", "OpenMP threads (default: what OMP_NUM_THREADS or the system says)")
      .example(
          "csr-probe --output quick.json --device cpu --max-table 1M --seconds 1 --max-spread 1000",
          "a quick look, on a machine that has other work, too; without limits it takes about a "
          "minute and is more precise")
      .writes_files()
      .on_list(list_devices);
  options.parse(argc, argv);
  ProbeToolOptions result;
  if (!options.given("output")) throw UsageError("expected --output FILE.json, found none");
  result.output = options.text("output");
  result.cluster = options.text("cluster");
  if (result.cluster == result.output) {
    throw UsageError("--output and --cluster name one file; each needs its own");
  }
  require_outputs(options, {result.output, result.cluster}, {});
  for (const std::string& output : {result.output, result.cluster}) {
    require_ending(output, {".json"});
  }
  result.device = "all";
  if (options.given("device")) result.device = options.choice("device", {"cpu", "gpu", "all"});
  if (result.device == "gpu") require_gpu_room("--device gpu");
  if (!result.cluster.empty() && result.device == "cpu") {
    throw UsageError("--cluster is about GPUs; leave out --device cpu");
  }
  result.probe.dense_cols.clear();
  for (const std::int64_t cols : options.different_integers("dense-cols", 1, 4096)) {
    result.probe.dense_cols.push_back(static_cast<Index>(cols));
  }
  std::sort(result.probe.dense_cols.begin(), result.probe.dense_cols.end());
  result.probe.max_table_bytes = options.bytes("max-table");
  if (result.probe.max_table_bytes < (1 << 20)) {
    throw UsageError("--max-table: expected at least 1M, found '" + options.text("max-table") +
                     "'; tables of every cache are needed");
  }
  result.probe.seconds = static_cast<double>(options.integer("seconds", 1, 3600));
  result.probe.max_spread = static_cast<double>(options.integer("max-spread", 1, 100000)) / 100;
  result.probe.plan.where.threads = read_threads(options);
  result.probe.progress = terminal_progress();
  result.as_json = options.json();
  return result;
}

}  // namespace csrkit
