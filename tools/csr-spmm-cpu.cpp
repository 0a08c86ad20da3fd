// csr-spmm-cpu: C = alpha * op(A) * B + beta * C on the CPU, checked and measured.
#include "core/csr_file.h"
#include "tools/support/run_tool.h"
#include "tools/support/spmm_tool.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-spmm-cpu", [&] {
    const KernelRoom room = cpu_spmm_room();
    const SpmmToolOptions options = parse_spmm_options(argc, argv, room);
    const CsrFile file = read_csr_file(options.matrix, options.read);
    const CsrMatrix a = converted(file.matrix, options.multiply);
    const MultiplyOutcome outcome = run_multiply(*options.kernel, a, options.multiply);
    return report_spmm(options, room, outcome);
  });
}
