#include "tools/probe/run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "cpu/common/kernels.h"
#include "tools/cli/log.h"
#include "tools/cli/report.h"
#include "tools/forecast/profile_file.h"
#include "tools/operation/operations/spmm.h"
#include "tools/probe/steady.h"

namespace csrkit {

namespace {

void probe_auto(const KernelTable<Spmm>& kernels, const char* room, const ProbeRequest& request,
                DeviceProfile* device) {
  const SpmmKernel& kernel = find_kernel(kernels, "auto");
  probe_products(kernel, request, device);
  device->kernel = NamedKernel{&spmm_operation(), room, &kernel}.full_name();
}

constexpr int kAttempts = 5;
constexpr Offset kDeviceCopyBytes = Offset{1} << 30;  // far larger than any L2 cache

/// Measures until the figures can be a machine's. Throws VerifyError if they never are.
template <typename Probe>
DeviceProfile possible(const Probe& probe) {
  for (int attempt = 1;; ++attempt) {
    try {
      DeviceProfile device = probe();
      validate({"", {device}}, "the measurement");
      return device;
    } catch (const InputError& error) {
      if (attempt == kAttempts) throw VerifyError(error.what());
    } catch (const ContradictionError&) {
      if (attempt == kAttempts) throw;
    }
    log_debug("figures that no machine has: measured again");
  }
}

DeviceProfile probe_cpu(const ProbeRequest& request) {
  DeviceProfile device = cpu_device(request.plan.where.threads, request.max_spread);
  probe_auto(cpu::spmm_kernels(), kCpu, request, &device);
  return device;
}

DeviceProfile probe_gpu(ProbeRequest request) {
  request.least_reads = 1 << 22;
  const gpu::DeviceInfo info = gpu_room()->device_info(request.plan.where.device);
  DeviceProfile device;
  device.device = "gpu";
  device.name = info.name;
  device.workers = info.multiprocessors;
  device.rows_per_turn = 8;  // a block of 256 threads at a warp a row, as our kernels deal them out
  device.private_cache_bytes = static_cast<double>(info.shared_memory_per_multiprocessor_bytes);
  device.shared_cache_bytes = static_cast<double>(info.l2_bytes);
  device.memory_bytes = static_cast<double>(info.total_memory_bytes);
  const Samples copies = steady_samples("copy", request.max_spread, [&] {
    return Samples{gpu_room()->copy_seconds(kDeviceCopyBytes, request.plan.where.device)};
  });
  device.copy_bytes_per_second = 2.0 * kDeviceCopyBytes / copies.median_seconds();
  device.copy_spread = copies.spread();
  probe_auto(gpu_room()->spmm_kernels(), kGpu, request, &device);
  return device;
}

bool has_gpu() {
  try {
    require_gpu_room("--device all").device_info(0);
    return true;
  } catch (const NoDeviceError& error) {
    log_info(std::string("only the CPU is measured: ") + error.what());
    return false;
  }
}

double largest_spread(const DeviceProfile& device) {
  double largest = std::max(device.copy_spread, device.fixed_spread);
  for (const GatherCurve& curve : device.gather) {
    largest = std::max({largest, curve.output_row_spread, curve.streamed_row_spread,
                        *std::max_element(curve.spread.begin(), curve.spread.end())});
  }
  return largest;
}

std::string nanoseconds(double seconds) { return fixed(1e9 * seconds, 3) + " ns"; }

std::string rate_of(const GatherCurve& curve, std::size_t at) {
  return fixed(4.0 * curve.dense_cols / curve.seconds_per_read[at] / 1e9, 1);
}

void add_device(Report& report, const DeviceProfile& device) {
  report.add_line(device.device, device.name + ", " +
                                     counted(device.workers,
                                             device.device == "gpu" ? "multiprocessor" : "thread"));
  report.add_line("  caches", readable_bytes(device.private_cache_bytes) + " each, " +
                                  readable_bytes(device.shared_cache_bytes) + " shared");
  report.add_line("  copy", fixed(device.copy_bytes_per_second / 1e9, 1) + " GB/s");
  report.add_line("  kernel",
                  device.kernel + ", at least " + readable_seconds(device.fixed_seconds));
  report.add_line("  spread", "at most " + fixed(100 * largest_spread(device), 0) +
                                  " % of the median, between quartiles");
  for (const GatherCurve& curve : device.gather) {
    TextTable table({"table", "GB/s of B"});
    for (std::size_t i = 0; i < curve.table_bytes.size(); ++i) {
      table.add({readable_bytes(curve.table_bytes[i]), rate_of(curve, i)});
    }
    report.add_text("\n" + device.device + ", reads of " + counted(4 * curve.dense_cols, "byte") +
                    " (K = " + std::to_string(curve.dense_cols) + "), a row costs " +
                    nanoseconds(curve.seconds_per_output_row) + ", of a large C " +
                    nanoseconds(curve.seconds_per_streamed_row) + "\n" + table.text());
  }
}

}  // namespace

MachineProfile probe_machine(const ProbeToolOptions& options, const Json& facts) {
  MachineProfile profile;
  profile.host = facts.at("host");
  if (options.device != "gpu")
    profile.devices.push_back(possible([&] { return probe_cpu(options.probe); }));
  if (options.device == "gpu" || (options.device == "all" && has_gpu())) {
    profile.devices.push_back(possible([&] { return probe_gpu(options.probe); }));
  }
  return profile;
}

void report_probe(const ProbeToolOptions& options, const MachineProfile& profile,
                  const std::optional<ProbedLinks>& links, double seconds) {
  Report report;
  report.add("output", "output", options.output);
  report.add_seconds("probe_seconds", "measured for", seconds);
  for (const DeviceProfile& device : profile.devices) add_device(report, device);
  if (links) add_links(report, options.cluster, *links);
  report.add_json("profile", to_json(profile));
  print(report, options.as_json);
}

}  // namespace csrkit
