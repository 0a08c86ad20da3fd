// csr-spgemm-cpu: C = alpha * A * op(B) on the CPU, all three sparse, checked and measured.
#include "tools/support/run_tool.h"
#include "tools/support/spgemm_tool.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-spgemm-cpu", [&] {
    const SpgemmRoom room = cpu_spgemm_room();
    const SpgemmToolOptions options = parse_spgemm_options(argc, argv, room);
    return report_spgemm(options, room, run_spgemm_tool(options));
  });
}
