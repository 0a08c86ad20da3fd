// csr-spmm-gpu: C = alpha * op(A) * B + beta * C on a GPU, checked and measured.
#include "core/csr_file.h"
#include "gpu/device/device_info.h"
#include "gpu/spmm/registry.h"
#include "tools/support/log.h"
#include "tools/support/run_tool.h"
#include "tools/support/spmm_tool.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-spmm-gpu", [&] {
    const KernelRoom room{"gpu", "spmm", &gpu::spmm_kernels()};
    const SpmmToolOptions options = parse_spmm_options(argc, argv, room);
    // Before a large file is read in vain.
    const gpu::DeviceInfo device = gpu::device_info(options.multiply.plan.where.device);
    log_debug("GPU " + std::to_string(device.ordinal) + ": " + device.name);
    const CsrFile file = read_csr_file(options.matrix, options.read);
    const CsrMatrix a = converted(file.matrix, options.multiply);
    const MultiplyOutcome outcome = run_multiply(*options.kernel, a, options.multiply);
    return report_spmm(options, room, outcome);
  });
}
