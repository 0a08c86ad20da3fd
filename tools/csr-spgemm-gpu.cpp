// csr-spgemm-gpu: C = alpha * A * op(B) on a GPU, all three sparse, checked and measured.
#include "gpu/device/device_info.h"
#include "gpu/spgemm/registry.h"
#include "tools/support/log.h"
#include "tools/support/run_tool.h"
#include "tools/support/spgemm_tool.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-spgemm-gpu", [&] {
    const SpgemmRoom room{"gpu", &gpu::spgemm_kernels()};
    const SpgemmToolOptions options = parse_spgemm_options(argc, argv, room);
    // Before large files are read in vain.
    const gpu::DeviceInfo device = gpu::device_info(options.multiply.plan.where.device);
    log_debug("GPU " + std::to_string(device.ordinal) + ": " + device.name);
    return report_spgemm(options, room, run_spgemm_tool(options));
  });
}
