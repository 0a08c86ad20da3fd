// csr-spmm-gpu: C = alpha * op(A) * B + beta * C on a GPU, checked and measured.
#include "gpu/device/device_info.h"
#include "gpu/spmm/registry.h"
#include "tools/support/log.h"
#include "tools/support/run_tool.h"
#include "tools/support/spmm_tool.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-spmm-gpu", [&] {
    const KernelRoom room{"gpu", "spmm", &gpu::spmm_kernels()};
    SpmmToolOptions options = parse_spmm_options(argc, argv, room);
    // Before a large file is read in vain.
    const gpu::DeviceInfo device = gpu::device_info(options.multiply.plan.where.device);
    log_debug("GPU " + std::to_string(device.ordinal) + ": " + device.name);
    const MultiplyOutcome outcome = run_spmm(options, room, device.name);
    return report_spmm(options, room, outcome);
  });
}
