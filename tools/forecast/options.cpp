#include "tools/forecast/options.h"

#include <algorithm>
#include <set>

#include "api/rooms.h"
#include "core/base/error.h"
#include "core/base/parameters.h"
#include "preprocess/reorder/reorder.h"
#include "tools/cli/matrix_input.h"
#include "tools/forecast/rank_report.h"
#include "tools/operation/operations.h"

namespace csrkit {

namespace {

std::vector<std::string> names_of_operations() {
  std::vector<std::string> names;
  for (const Operation* operation : operations()) names.emplace_back(operation->name());
  return names;
}

const std::vector<std::string> kTools{"product", "csr-bench", "csr-import", "csr-reorder",
                                      "csr-report"};  // in the order of ForecastOf

/// What only some tools obey.
struct Belonging {
  const char* option;
  std::vector<ForecastOf> tools;
};
const std::vector<Belonging>& belongings() {
  using Of = ForecastOf;
  static const std::vector<Belonging> all{
      {"operation", {Of::product}},
      {"device", {Of::product}},
      {"kernel", {Of::product}},
      {"repeat", {Of::product}},
      {"machine", {Of::product, Of::bench}},
      {"transpose", {Of::product, Of::bench}},
      {"memory-limit", {Of::product}},
      {"out-of-core", {Of::product}},
      {"panel-cols", {Of::product}},
      {"panel-major", {Of::product}},
      {"kernels", {Of::bench}},
      {"cold", {Of::bench}},
      {"max-seconds", {Of::bench}},
      {"method", {Of::reorder}},
      {"sizes", {Of::import, Of::reorder, Of::report}},
  };
  return all;
}

void refuse_other_tools(const Options& options, ForecastOf of) {
  for (const Belonging& one : belongings()) {
    if (!options.given(one.option) || std::count(one.tools.begin(), one.tools.end(), of) > 0) {
      continue;
    }
    throw UsageError(std::string("--") + one.option + " is not for --tool " +
                     kTools[static_cast<std::size_t>(of)]);
  }
}

std::vector<std::string> operations_with(const std::string& option) {
  std::vector<std::string> names;
  for (const Operation* operation : operations()) {
    for (const OptionRow& row : operation->facts().forecast_options) {
      if (row.long_name() == option) names.emplace_back(operation->name());
    }
  }
  return names;
}

/// An option of one operation is refused for the others, and for tools that multiply nothing.
void refuse_foreign_options(const Options& options, ForecastOf of,
                            const std::vector<NamedKernel>& kernels) {
  std::set<std::string> own;
  if (of == ForecastOf::bench) own.insert("dense-cols");  // which csr-bench takes with any kernels
  for (const NamedKernel& kernel : kernels) {
    for (const OptionRow& row : kernel.operation->facts().forecast_options) {
      own.insert(row.long_name());
    }
  }
  for (const Operation* operation : operations()) {
    for (const OptionRow& row : operation->facts().forecast_options) {
      if (!options.given(row.long_name()) || own.count(row.long_name()) > 0) continue;
      throw UsageError("--" + row.long_name() + " is for --operation " +
                       alternatives(operations_with(row.long_name())));
    }
  }
}

std::vector<NamedKernel> read_kernels(const Options& options, ForecastOf of) {
  std::vector<NamedKernel> kernels;
  if (of == ForecastOf::product) {
    const Operation& operation = find_operation(options.choice("operation", names_of_operations()));
    const std::string room = options.choice("device", {kCpu, kGpu});
    if (room == kGpu) require_gpu_room("--device gpu");
    kernels.push_back(find_kernel(operation, room, options.text("kernel")));
  } else if (of == ForecastOf::bench) {
    std::vector<std::string> names;
    for (const std::string& name : options.list("kernels")) {
      kernels.push_back(find_kernel_anywhere(name, "--kernels"));
      names.push_back(kernels.back().full_name());
    }
    refuse_repeats(names, "--kernels");
  }
  return kernels;
}

/// No machine holds so many entries, and bytes for each of them can be added up in 64 bits.
constexpr Offset kMaxSizesNnz = Offset{1} << 52;

MatrixSizes read_sizes(const Options& options, const std::vector<std::string>& matrices) {
  MatrixSizes sizes;
  if (matrices.empty()) {
    const std::vector<std::int64_t> numbers = options.integers("sizes", 0, kMaxSizesNnz);
    constexpr std::size_t kNumbers = 3;
    if (numbers.size() != kNumbers || std::max(numbers[0], numbers[1]) > kMaxIndex) {
      throw UsageError("--sizes is '" + options.text("sizes") +
                       "'; it must be ROWS,COLS,NNZ, with at most " + std::to_string(kMaxIndex) +
                       " rows and columns");
    }
    if (numbers[2] > numbers[0] * numbers[1]) {
      throw UsageError("--sizes is '" + options.text("sizes") +
                       "'; it must have at most as many entries as rows x columns");
    }
    sizes = {static_cast<Index>(numbers[0]), static_cast<Index>(numbers[1]), numbers[2]};
  } else {
    const CsrFileHeader header = read_csr_header(matrices.front());
    sizes = {header.rows, header.cols, header.nnz, header.value_kind,
             header.flags.is_pattern_symmetric};
  }
  sizes.kind = read_kind(options, "value-kind").value_or(sizes.kind);
  return sizes;
}

/// One or two matrices, or the sizes of one.
void read_names(const Options& options, ForecastToolOptions* result) {
  result->matrices = options.names();
  const bool is_product = result->of == ForecastOf::product;
  const int most = is_product ? result->kernel().operation->page(kCpu).max_names : 1;
  if (static_cast<int>(result->matrices.size()) > most) {
    throw UsageError(is_product ? std::string("a second matrix is not for --operation ") +
                                      result->kernel().operation->name()
                                : "expected one matrix, found two");
  }
  if (result->matrices.empty() != options.given("sizes")) {
    throw UsageError(result->matrices.empty()
                         ? "expected A.csr, or --tool and --sizes where there is no file yet"
                         : "give A.csr or --sizes, not both");
  }
  if (result->kernels.empty()) result->sizes = read_sizes(options, result->matrices);
}

/// What several operations have stands once, in the words of the first.
void declare_of_operations(Options& options) {
  std::vector<std::pair<OptionRow, std::string>> rows;  // with the names of its operations
  for (const Operation* operation : operations()) {
    for (const OptionRow& row : operation->facts().forecast_options) {
      const auto known = std::find_if(rows.begin(), rows.end(), [&](const auto& other) {
        return other.first.long_name() == row.long_name();
      });
      if (known == rows.end()) {
        rows.emplace_back(row, operation->name());
      } else {
        known->second += std::string(", ") + operation->name();
      }
    }
  }
  for (const auto& [row, names] : rows) options.add({row}, names + ": ");
}

/// --ranks knows two operations and its own machines.
void require_rank_forecast(const Options& options) {
  for (const char* foreign :
       {"tool", "device", "kernel", "repeat", "transpose", "value-kind", "threads", "kernels",
        "cold", "max-seconds", "method", "sizes", "machine", "bound", "memory-limit", "out-of-core",
        "panel-cols", "panel-major"}) {
    if (options.given(foreign)) {
      throw UsageError(std::string("--") + foreign + " is not for --ranks");
    }
  }
  const std::string operation = options.choice("operation", names_of_operations());
  if (operation != "spmm" && operation != "spgemm") {
    throw UsageError("--ranks is for --operation spmm or spgemm, not " + operation);
  }
  const bool is_sparse = operation == "spgemm";
  if (!is_sparse && options.names().size() != 1) {
    throw UsageError("--ranks forecasts the product of one matrix: expected A.csr alone");
  }
  if (is_sparse && options.names().empty()) throw UsageError("--ranks: expected A.csr [B.csr]");
  for (const char* foreign : {"dense-cols", "profile", "random-reads"}) {
    if (is_sparse && options.given(foreign)) {
      throw UsageError(std::string("--") + foreign + " is not for --ranks of --operation spgemm");
    }
  }
}

Options declare_forecast() {
  Options options(
      "csr-forecast", "A.csr [B.csr]", 0, 2,
      "Says what a tool will take before it runs: memory of host and device, size of the result, "
      "time, and the lines that ask Slurm for it. Reads A and plans, but makes no operand and "
      "multiplies nothing; a product for a GPU is forecast without one. Memory is that of a run of "
      "csr-<operation>-cpu or csr-<operation>-gpu without --check, or of the tool that --tool "
      "names.");
  options
      .value("tool", "NAME",
             "product (csr-<operation>-<device>), csr-bench, csr-import that makes A, csr-reorder, "
             "or csr-report that draws A",
             kTools.front())
      .value("operation", "NAME",
             "spmm (A times a dense B), spmv (A times a vector), spgemm (A times B.csr, or A) or "
             "sddmm "
             "(X times the transpose of Y at A's positions)",
             operations().front()->name())
      .value("device", "KIND", "cpu or gpu", kCpu)
      .value("kernel", "NAME", "which kernel will run", "auto")
      .value("repeat", "N", "products, for the time to ask for", "12")
      .flag("transpose", "spmm: multiply by the transpose of A; spgemm: by that of B")
      .value("value-kind", "KIND", "convert A first: none, f32, f64, f16 or bf16")
      .value("threads", "N", "OpenMP threads")
      .value("kernels", "LIST", "csr-bench: as it will be given", "cpu.auto")
      .flag("cold", "csr-bench: as it will be given")
      .value("max-seconds", "S", "csr-bench: as it will be given", "10")
      .value("method", "NAME", "csr-reorder: as it will be given", "rcm")
      .value("sizes", "ROWS,COLS,NNZ",
             "instead of A.csr, of csr-import, csr-reorder and csr-report (values: f32, or "
             "--value-kind)");
  declare_of_operations(options);
  declare_rank_options(options);
  options.example("csr-forecast tiny.csr -k 8,64", "memory of two products")
      .example("csr-forecast tiny.csr --operation spgemm --json", "A times A")
      .example("csr-forecast tiny.csr --tool csr-bench --kernels cpu.auto,cpu.row_loop -k 8",
               "two kernels that take turns")
      .example("csr-forecast --tool csr-import --sizes 169343,169343,1166243",
               "before there is a file")
      .example("csr-forecast tiny.csr --ranks 2,4 -k 128 --profile h200x4",
               "is it worth two ranks, or four?");
  options.on_list([](bool as_json) {
    return list_kernels(operations(), {kCpu, kGpu}, /*with_marks=*/false, as_json);
  });
  declare_io(options);
  return options;
}

void require_ranks_for(const Options& options, const char* option) {
  if (options.given(option) && !options.given("ranks")) {
    throw UsageError(std::string("--") + option + " is for --ranks");
  }
}

/// What is forecast, and of what: the tool, its kernels, matrices or sizes.
void read_tool(const Options& options, ForecastToolOptions* result) {
  const std::string tool = options.choice("tool", kTools);
  result->of =
      static_cast<ForecastOf>(std::find(kTools.begin(), kTools.end(), tool) - kTools.begin());
  refuse_other_tools(options, result->of);
  result->kernels = read_kernels(options, result->of);
  read_names(options, result);
  refuse_foreign_options(options, result->of, result->kernels);
}

}  // namespace

ForecastToolOptions parse_forecast_options(int argc, const char* const* argv) {
  Options options = declare_forecast();
  options.parse(argc, argv);

  ForecastToolOptions result(options);
  require_ranks_for(options, "profile");
  require_ranks_for(options, "random-reads");
  if ((result.is_of_ranks = options.given("ranks"))) {
    require_rank_forecast(options);
    return result;
  }
  read_tool(options, &result);
  result.method = find_reorder_method(options.text("method")).name;
  result.is_cold = options.flag("cold");
  result.max_seconds = read_max_seconds(options);
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
