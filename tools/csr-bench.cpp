// csr-bench: kernels x matrices x dense columns, checked, measured, recorded case by case.
#include <nlohmann/json.hpp>

#include "tools/support/bench_flow.h"
#include "tools/support/machine.h"
#include "tools/support/run_tool.h"
#ifdef CSRKIT_HAVE_CUDA
#include "gpu/spmm/registry.h"
#endif

using namespace csrkit;

namespace {

std::vector<KernelRoom> rooms() {
  std::vector<KernelRoom> all{cpu_spmm_room()};
#ifdef CSRKIT_HAVE_CUDA
  all.push_back({"gpu", "spmm", &gpu::spmm_kernels()});
#endif
  return all;
}

/// Facts about the GPU, if any case needs one; throws NoDeviceError before hours are spent.
Json device_facts(const BenchOptions& options) {
#ifdef CSRKIT_HAVE_CUDA
  if (options.needs_gpu()) return to_json(gpu::device_info(options.multiply.plan.where.device));
#else
  static_cast<void>(options);  // without CUDA no kernel needs a GPU
#endif
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-bench", [&] {
    const BenchOptions options = parse_bench_options(argc, argv, rooms());
    Json machine = machine_facts(options.multiply.plan.where.threads);
    machine["gpu"] = device_facts(options);
    return run_bench(options, machine);
  });
}
