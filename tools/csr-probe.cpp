// csr-probe: what this machine can do, measured once, for every forecast.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/support/kernel_room.h"
#include "tools/support/log.h"
#include "tools/support/machine.h"
#include "tools/support/matrix_facts.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"
#include "tools/support/probe.h"
#include "tools/support/profile_file.h"
#include "tools/support/progress.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"
#ifdef CSRKIT_HAVE_CUDA
#include "gpu/device/copy_bandwidth.h"
#include "gpu/spmm/registry.h"
#endif

using namespace csrkit;

namespace {

struct ProbeToolOptions {
  std::string output, device;
  ProbeRequest probe;
  bool as_json = false;
};

std::string list_devices(bool as_json) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"cpu", "the cores this process may use: " + cpu_model()}};
#ifdef CSRKIT_HAVE_CUDA
  rows.emplace_back("gpu", "the first visible GPU");
#endif
  return list_rows("device", rows, as_json);
}

ProbeToolOptions parse_probe_options(int argc, char** argv) {
  Options options("csr-probe", "--output FILE.json", 0, 0,
                  "Measures what this machine can do, once: copy bandwidth, caches, and how long "
                  "products take by the size of the table they read. Forecasts, csr-reorder "
                  "--report and --advise read the file.");
  options.value("o,output", "FILE.json", "where the machine profile goes; needed")
      .value("device", "cpu|gpu|all", "what to measure (default: all there is)")
      .value("k,dense-cols", "N,N", "widths of B to measure, others are interpolated", "32,128,256")
      .value("max-table", "SIZE", "the largest table to read from", "1G")
      .value("seconds", "N", "about how long to measure each device", "30")
      .value("t,threads", "N", "OpenMP threads (default: what OMP_NUM_THREADS or the system says)")
      .example("csr-probe --output quick.json --device cpu --max-table 1M --seconds 1",
               "a quick look; without the limits it takes about a minute and is worth it")
      .on_list(list_devices);
  options.parse(argc, argv);
  ProbeToolOptions result;
  if (!options.given("output")) throw UsageError("expected --output FILE.json, found none");
  result.output = options.text("output");
  result.device = "all";
  if (options.given("device")) result.device = options.choice("device", {"cpu", "gpu", "all"});
#ifndef CSRKIT_HAVE_CUDA
  if (result.device == "gpu") {
    throw NoDeviceError("this csrkit was built without CUDA; --device cpu measures the cores");
  }
#endif
  result.probe.dense_cols.clear();
  for (const std::int64_t cols : options.integers("dense-cols", 1, 4096)) {
    result.probe.dense_cols.push_back(static_cast<Index>(cols));
  }
  std::sort(result.probe.dense_cols.begin(), result.probe.dense_cols.end());
  result.probe.dense_cols.erase(
      std::unique(result.probe.dense_cols.begin(), result.probe.dense_cols.end()),
      result.probe.dense_cols.end());
  result.probe.max_table_bytes = options.bytes("max-table");
  if (result.probe.max_table_bytes < (1 << 20)) {
    throw UsageError("--max-table: expected at least 1M, found '" + options.text("max-table") +
                     "'; tables of every cache are needed");
  }
  result.probe.seconds = static_cast<double>(options.integer("seconds", 1, 3600));
  if (options.given("threads")) {
    result.probe.plan.where.threads = static_cast<int>(options.integer("threads", 1, 4096));
  }
  result.probe.progress = terminal_progress();
  result.as_json = options.json();
  return result;
}

DeviceProfile probe_cpu(const ProbeRequest& request) {
  DeviceProfile device = cpu_device(request.plan.where.threads);
  const KernelRoom room = cpu_spmm_room();
  const SpmmKernel& kernel = room.find("auto");
  probe_products(kernel, request, &device);
  device.kernel = room.full_name(kernel);
  return device;
}

#ifdef CSRKIT_HAVE_CUDA
DeviceProfile probe_gpu(ProbeRequest request) {
  request.least_reads = 1 << 22;
  const gpu::DeviceInfo info = gpu::device_info(request.plan.where.device);
  DeviceProfile device;
  device.device = "gpu";
  device.name = info.name;
  device.workers = info.multiprocessors;
  device.rows_per_turn = 8;  // a block of 256 threads at a warp a row, as our kernels deal them out
  device.private_cache_bytes = static_cast<double>(info.shared_memory_per_multiprocessor_bytes);
  device.shared_cache_bytes = static_cast<double>(info.l2_bytes);
  device.memory_bytes = static_cast<double>(info.total_memory_bytes);
  device.copy_bytes_per_second = gpu::copy_bytes_per_second(request.plan.where.device);
  const KernelRoom room{"gpu", "spmm", &gpu::spmm_kernels()};
  const SpmmKernel& kernel = room.find("auto");
  probe_products(kernel, request, &device);
  device.kernel = room.full_name(kernel);
  return device;
}

bool has_gpu() {
  try {
    gpu::require_device();
    return true;
  } catch (const NoDeviceError& error) {
    log_info(std::string("only the CPU is measured: ") + error.what());
    return false;
  }
}
#endif

std::string nanoseconds(double seconds) { return fixed(1e9 * seconds, 3) + " ns"; }

std::string rate_of(const GatherCurve& curve, std::size_t at) {
  return fixed(4.0 * curve.dense_cols / curve.seconds_per_read[at] / 1e9, 1);
}

void add_device(Report& report, const DeviceProfile& device) {
  report.add_line(device.device, device.name + ", " + std::to_string(device.workers) +
                                     (device.device == "gpu" ? " multiprocessors" : " threads"));
  report.add_line("  caches", readable_bytes(device.private_cache_bytes) + " each, " +
                                  readable_bytes(device.shared_cache_bytes) + " shared");
  report.add_line("  copy", fixed(device.copy_bytes_per_second / 1e9, 1) + " GB/s");
  report.add_line("  kernel",
                  device.kernel + ", at least " + readable_seconds(device.fixed_seconds));
  for (const GatherCurve& curve : device.gather) {
    TextTable table({"table", "GB/s of B"});
    for (std::size_t i = 0; i < curve.table_bytes.size(); ++i) {
      table.add({readable_bytes(curve.table_bytes[i]), rate_of(curve, i)});
    }
    report.add_text("\n" + device.device + ", reads of " + std::to_string(4 * curve.dense_cols) +
                    " bytes (K = " + std::to_string(curve.dense_cols) + "), a row costs " +
                    nanoseconds(curve.seconds_per_output_row) + ", of a large C " +
                    nanoseconds(curve.seconds_per_streamed_row) + "\n" + table.text());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-probe", [&] {
    const ProbeToolOptions options = parse_probe_options(argc, argv);
    const Stopwatch watch;
    MachineProfile profile;
    const Json facts = machine_facts(options.probe.plan.where.threads);
    profile.host = facts.at("host");
    if (options.device != "gpu") profile.devices.push_back(probe_cpu(options.probe));
#ifdef CSRKIT_HAVE_CUDA
    if (options.device == "gpu" || (options.device == "all" && has_gpu())) {
      profile.devices.push_back(probe_gpu(options.probe));
    }
#endif
    validate(profile, "the measurement");
    write_machine_profile(options.output, profile, facts);
    Report report;
    report.add("output", "output", options.output);
    report.add_seconds("probe_seconds", "measured for", watch.seconds());
    for (const DeviceProfile& device : profile.devices) add_device(report, device);
    report.add_json("profile", to_json(profile));
    print(report, options.as_json);
    return kExitDone;
  });
}
