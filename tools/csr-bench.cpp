// csr-bench: kernels x matrices x dense columns x value kinds x cold and warm caches, checked, measured,
// recorded case by case; and a bundle of records measured again.
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tools/support/bench_flow.h"
#include "tools/support/bench_verify.h"
#include "tools/support/machine.h"
#include "tools/support/run_tool.h"
#ifdef CSRKIT_HAVE_CUDA
#include "gpu/device/device_clocks.h"
#include "gpu/spgemm/registry.h"
#include "gpu/spmm/registry.h"
#endif

using namespace csrkit;

namespace {

BenchRooms rooms() {
  BenchRooms all{{cpu_spmm_room()}, {cpu_spgemm_room()}};
#ifdef CSRKIT_HAVE_CUDA
  static const std::vector<SpmmKernel> gpu_rows = [] {
    std::vector<SpmmKernel> rows = gpu::spmm_kernels();
    rows.insert(rows.end(), gpu::spmm_marks().begin(), gpu::spmm_marks().end());
    return rows;
  }();
  all.spmm.push_back({"gpu", "spmm", &gpu_rows});
  all.spgemm.push_back({"gpu", &gpu::spgemm_kernels()});
#endif
  return all;
}

/// Facts about the GPU, if any case needs one; throws NoDeviceError before hours are spent. A bundle
/// may hold cases of both kinds: without a GPU those that need one are reported as not run.
BenchPlace place_of(const BenchOptions& options) {
  BenchPlace place;
  place.machine = machine_facts(options.multiply.plan.where.threads);
  place.machine["gpu"] = nullptr;
  place.command_line = options.command_line;
#ifdef CSRKIT_HAVE_CUDA
  const int device = options.multiply.plan.where.device;
  try {
    if (options.needs_gpu() || !options.verified.empty()) {
      place.machine["gpu"] = to_json(gpu::device_info(device));
      const auto reader = std::make_shared<const gpu::ClockReader>(device);
      place.read_gpu = [reader] { return reader->read(); };
    }
  } catch (const NoDeviceError&) {
    if (options.verified.empty()) throw;
  }
#endif
  return place;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-bench", [&] {
    const BenchOptions options = parse_bench_options(argc, argv, rooms());
    const BenchPlace place = place_of(options);
    return options.verified.empty() ? run_bench(options, place)
                                    : run_verify(options, rooms(), place);
  });
}
