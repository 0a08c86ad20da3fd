#include "tools/forecast/options.h"

#include <algorithm>

#include "api/rooms.h"
#include "core/base/error.h"
#include "tools/cli/matrix_input.h"
#include "tools/operation/operations.h"

namespace csrkit {

namespace {

std::vector<std::string> names_of_operations() {
  std::vector<std::string> names;
  for (const Operation* operation : operations()) names.emplace_back(operation->name());
  return names;
}

/// An option of one operation is refused for the others.
void refuse_foreign_options(const Options& options, const Operation& chosen) {
  const auto names_of = [](const Operation& operation) {
    std::vector<std::string> names;
    for (const OptionRow& row : operation.facts().forecast_options)
      names.push_back(row.long_name());
    return names;
  };
  const std::vector<std::string> own = names_of(chosen);
  for (const Operation* operation : operations()) {
    for (const std::string& name : names_of(*operation)) {
      if (!options.given(name) || std::count(own.begin(), own.end(), name) > 0) continue;
      throw UsageError("--" + name + " is for --operation " + operation->name());
    }
  }
}

}  // namespace

ForecastToolOptions parse_forecast_options(int argc, const char* const* argv) {
  Options options(
      "csr-forecast", "A.csr [B.csr]", 1, 2,
      "Says what a product will take before it runs: memory of host and device, size of the "
      "result, time, and the lines that ask Slurm for it. Reads A and plans, but makes no operand "
      "and multiplies nothing; a product for a GPU is forecast without one. Memory is that of a "
      "run of csr-<operation>-cpu or csr-<operation>-gpu without --check.");
  options
      .value("operation", "NAME",
             "spmm (A times a dense B), spmv (A times a vector) or spgemm (A times B.csr, or A)",
             operations().front()->name())
      .value("device", "KIND", "cpu or gpu", kCpu)
      .value("kernel", "NAME", "which kernel will run", "auto")
      .value("repeat", "N", "products, for the time to ask for", "12")
      .flag("transpose", "spmm: multiply by the transpose of A; spgemm: by that of B")
      .value("value-kind", "KIND", "convert A first: none, f32, f64, f16 or bf16")
      .value("threads", "N", "OpenMP threads");
  for (const Operation* operation : operations()) {
    options.add(operation->facts().forecast_options, operation->name() + std::string(": "));
  }
  options.example("csr-forecast tiny.csr -k 8,64", "memory of two products")
      .example("csr-forecast tiny.csr --operation spgemm --json", "A times A");
  options.on_list([](bool as_json) {
    return list_kernels(operations(), {kCpu, kGpu}, /*with_marks=*/false, as_json);
  });
  declare_io(options);
  options.parse(argc, argv);

  ForecastToolOptions result(options);
  result.matrices = options.names();
  const Operation& operation = find_operation(options.choice("operation", names_of_operations()));
  if (static_cast<int>(result.matrices.size()) > operation.page(kCpu).max_names) {
    throw UsageError(std::string("a second matrix is not for --operation ") + operation.name());
  }
  refuse_foreign_options(options, operation);
  const std::string room = options.choice("device", {kCpu, kGpu});
  if (room == kGpu) require_gpu_room("--device gpu");
  result.kernel = find_kernel(operation, room, options.text("kernel"));
  result.request.stop.repeat = read_runs(options, "repeat", 1);
  result.request.transpose = options.flag("transpose");
  result.request.value_kind = read_kind(options, "value-kind");
  result.request.plan.where.threads = read_threads(options);
  if (options.given("machine") && result.request.transpose) {
    throw UsageError("times are forecast for A as it stands: leave out --machine or --transpose");
  }
  if (options.given("machine")) result.machine = read_machine_profile(options.text("machine"));
  result.read = read_options(options);
  result.as_json = options.json();
  return result;
}

}  // namespace csrkit
