#include "tools/probe/run.h"

#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "cpu/common/kernels.h"
#include "tools/cli/log.h"
#include "tools/cli/report.h"
#include "tools/forecast/profile_file.h"
#include "tools/operation/spmm.h"

namespace csrkit {

namespace {

void probe_auto(const KernelTable<Spmm>& kernels, const char* room, const ProbeRequest& request,
                DeviceProfile* device) {
  const SpmmKernel& kernel = find_kernel(kernels, "auto");
  probe_products(kernel, request, device);
  device->kernel = NamedKernel{&spmm_operation(), room, &kernel}.full_name();
}

constexpr int kAttempts = 5;
constexpr double kMostSpread =
    1;  // of the copy: half of the samples differ by more than the median

/// Measures until the figures can be a machine's. Throws VerifyError if they never are.
template <typename Probe>
DeviceProfile stable(const Probe& probe) {
  for (int attempt = 1;; ++attempt) {
    try {
      DeviceProfile device = probe();
      validate({"", {device}}, "the measurement");
      if (device.copy_spread <= kMostSpread) return device;
      throw VerifyError("the machine is too busy to be measured: half of the copies took " +
                        fixed(100 * device.copy_spread, 0) +
                        " % longer or shorter than the others; measure on an idle machine");
    } catch (const InputError& error) {
      if (attempt == kAttempts) throw VerifyError(error.what());
    } catch (const VerifyError&) {
      if (attempt == kAttempts) throw;
    }
    log_debug("figures that no machine has: measured again");
  }
}

DeviceProfile probe_cpu(const ProbeRequest& request) {
  DeviceProfile device = cpu_device(request.plan.where.threads);
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
  device.copy_bytes_per_second = gpu_room()->copy_bytes_per_second(request.plan.where.device);
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

MachineProfile probe_machine(const ProbeToolOptions& options, const Json& facts) {
  MachineProfile profile;
  profile.host = facts.at("host");
  if (options.device != "gpu")
    profile.devices.push_back(stable([&] { return probe_cpu(options.probe); }));
  if (options.device == "gpu" || (options.device == "all" && has_gpu())) {
    profile.devices.push_back(stable([&] { return probe_gpu(options.probe); }));
  }
  return profile;
}

void report_probe(const ProbeToolOptions& options, const MachineProfile& profile, double seconds) {
  Report report;
  report.add("output", "output", options.output);
  report.add_seconds("probe_seconds", "measured for", seconds);
  for (const DeviceProfile& device : profile.devices) add_device(report, device);
  report.add_json("profile", to_json(profile));
  print(report, options.as_json);
}

}  // namespace csrkit
