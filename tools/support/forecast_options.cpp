#include "tools/support/forecast_options.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tools/support/options.h"

namespace csrkit {

namespace {

/// The kernels of both operations and all devices.
std::string list_all(const GpuForecasts& gpu, bool as_json) {
  std::vector<KernelRoom> spmm{cpu_spmm_room()};
  std::vector<SpgemmRoom> spgemm{cpu_spgemm_room()};
  if (gpu.spmm != nullptr) {
    spmm.push_back({"gpu", "spmm", gpu.spmm});
    spgemm.push_back({"gpu", gpu.spgemm});
  }
  if (!as_json) {
    std::string text = list_kernels(spmm, false);
    for (const SpgemmRoom& room : spgemm) text += "\n" + list_kernels(room, false);
    return text;
  }
  Json rows = Json::parse(list_kernels(spmm, true));
  for (const SpgemmRoom& room : spgemm) {
    for (Json& row : Json::parse(list_kernels(room, true))) rows.push_back(row);
  }
  return rows.dump() + "\n";
}

std::string kernel_name(const ForecastToolOptions& options, const GpuForecasts& gpu,
                        const std::string& typed) {
  if (options.is_gpu && gpu.spmm == nullptr) {
    throw UsageError("--device gpu needs a GPU build, and this one was made without CUDA");
  }
  if (options.is_spgemm) {
    return (options.is_gpu ? SpgemmRoom{"gpu", gpu.spgemm} : cpu_spgemm_room()).find(typed).name;
  }
  return (options.is_gpu ? KernelRoom{"gpu", "spmm", gpu.spmm} : cpu_spmm_room()).find(typed).name;
}

}  // namespace

ForecastToolOptions parse_forecast_options(int argc, const char* const* argv,
                                           const GpuForecasts& gpu) {
  Options options(
      "csr-forecast", "A.csr [B.csr]", 1, 2,
      "Says what a product will take before it runs: memory of host and device, size of the "
      "result, "
      "time, and the lines that ask Slurm for it. Reads A and plans, but makes no operand and "
      "multiplies nothing; a product for a GPU is forecast without one. Memory is that of a run of "
      "csr-spmm-cpu, csr-spmm-gpu, csr-spgemm-cpu or csr-spgemm-gpu without --check.");
  options
      .value("operation", "NAME", "spmm (A times a dense B) or spgemm (A times B.csr, or A)",
             "spmm")
      .value("device", "KIND", "cpu or gpu", "cpu")
      .value("kernel", "NAME", "which kernel will run", "auto")
      .value("k,dense-cols", "LIST", "spmm: columns of B and C", "32,256")
      .value("repeat", "N", "products, for the time to ask for", "12")
      .flag("transpose", "spmm: multiply by the transpose of A; spgemm: by that of B")
      .value("value-kind", "KIND", "convert A first: none, f32, f64, f16 or bf16")
      .flag("bound",
            "spgemm: bound the size of the result instead of counting it, which is as much work as "
            "the product")
      .value("memory-limit", "SIZE", "spgemm: as it will be given to the product")
      .value("machine", "FILE.json",
             "spmm: forecast times for this machine profile (see csr-probe)")
      .value("threads", "N", "OpenMP threads")
      .example("csr-forecast tiny.csr -k 8,64", "memory of two products")
      .example("csr-forecast tiny.csr --operation spgemm --json", "A times A");
  options.on_list([&](bool as_json) { return list_all(gpu, as_json); });
  declare_io(options);
  options.parse(argc, argv);

  ForecastToolOptions result;
  result.a = options.names()[0];
  if (options.names().size() == 2) result.b = options.names()[1];
  result.is_spgemm = options.choice("operation", {"spmm", "spgemm"}) == "spgemm";
  result.is_gpu = options.choice("device", {"cpu", "gpu"}) == "gpu";
  if (!result.b.empty() && !result.is_spgemm) {
    throw UsageError("a second matrix is for --operation spgemm");
  }
  for (const char* name : {"dense-cols", "machine"}) {
    if (options.given(name) && result.is_spgemm) {
      throw UsageError(std::string("--") + name + " is for --operation spmm");
    }
  }
  for (const char* name : {"memory-limit", "bound"}) {
    if (options.given(name) && !result.is_spgemm) {
      throw UsageError(std::string("--") + name +
                       " is for --operation spgemm: spmm takes what it takes");
    }
  }
  result.is_bounded = options.flag("bound");
  result.kernel = kernel_name(result, gpu, options.text("kernel"));
  for (const std::int64_t cols : options.integers("dense-cols", 1, kMaxIndex)) {
    result.dense_cols.push_back(static_cast<Index>(cols));
  }
  constexpr int kMaxRuns = 1000000;
  result.multiply.stop.repeat = static_cast<int>(options.integer("repeat", 1, kMaxRuns));
  result.multiply.transpose_a = options.flag("transpose");
  if (options.given("value-kind")) {
    result.multiply.value_kind = options.parsed("value-kind", parse_value_kind);
  }
  if (options.given("memory-limit")) {
    result.multiply.plan.memory_limit_bytes = options.bytes("memory-limit");
  }
  if (options.given("machine") && result.multiply.transpose_a) {
    throw UsageError("times are forecast for A as it stands: leave out --machine or --transpose");
  }
  if (options.given("machine")) result.machine = read_machine_profile(options.text("machine"));
  if (options.given("threads")) {
    result.multiply.plan.where.threads = static_cast<int>(options.integer("threads", 1, 4096));
  }
  result.read = read_options(options);
  result.as_json = options.json();
  return result;
}

}  // namespace csrkit
