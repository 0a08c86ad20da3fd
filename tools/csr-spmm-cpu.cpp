// csr-spmm-cpu: C = alpha * op(A) * B + beta * C on the CPU, checked and measured.
#include <nlohmann/json.hpp>

#include "cpu/spmm/row_kernels.h"
#include "tools/support/machine.h"
#include "tools/support/run_tool.h"
#include "tools/support/spmm_tool.h"

namespace {

/// What a tuned choice holds for.
std::string processor(int threads) {
  using namespace csrkit;
  const Json machine = machine_facts(threads);
  return machine["cpu"].get<std::string>() + ", " + machine["threads"].dump() + " threads, " +
         cpu::name_of(cpu::chosen_isa());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-spmm-cpu", [&] {
    const KernelRoom room = cpu_spmm_room();
    SpmmToolOptions options = parse_spmm_options(argc, argv, room);
    const MultiplyOutcome outcome =
        run_spmm(options, room, processor(options.multiply.plan.where.threads));
    return report_spmm(options, room, outcome);
  });
}
