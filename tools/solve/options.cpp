#include "tools/solve/options.h"

#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/ending.h"
#include "core/base/text.h"
#include "cpu/common/kernels.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/options.h"
#include "tools/cli/outputs.h"
#include "tools/cli/report.h"
#include "tools/operation/operations.h"
#include "tools/operation/product/request.h"

namespace csrkit {

namespace {

std::string list_solvers(const std::string& room, const std::string& tool, bool as_json) {
  Json json = Json::array();
  TextTable table({"kernel", "role", "what it does", "can"});
  for (const Kernel<Solve>& kernel : solvers_of(room, tool)) {
    const std::string name = room + ".solve." + kernel.name;
    const std::string can = names_of(kernel.capabilities, kEverySolve);
    table.add({name, name_of(kernel.role), kernel.summary, can});
    json.push_back({{"kernel", name},
                    {"role", name_of(kernel.role)},
                    {"summary", kernel.summary},
                    {"can", can}});
  }
  return as_json ? Json{{"schema", kReportSchema}, {"rows", json}}.dump() + "\n" : table.text();
}

void declare_options(Options& options, bool is_gpu, const std::string& production) {
  options.value("kernel", "NAME", "which solver; --list shows them", production)
      .value("product", "NAME",
             std::string("which kernel multiplies with A: one of SpMV, of SpMM for several "
                         "right-hand sides, or, for dense systems, ") +
                 (is_gpu ? "half, packed and the other rungs of their ladder"
                         : "rows, half or packed") +
                 " (default: the best by rule)")
      .value("rhs", "WHAT",
             "right-hand sides: ones, random, from-solution (A times a random solution, which the "
             "result is compared with), or a file, .npy or Matrix Market",
             "ones")
      .value("right-hand-sides", "N", "how many, solved at once; a file says it itself", "1")
      .value("seed", "N", "of random numbers", "1")
      .value("guess", "FILE", "where to start, .npy or Matrix Market (default: 0)")
      .value("tolerance", "X", "solved: |b - A x| is at most X * |b| (default: 1e-8, in f32 1e-4)")
      .value("absolute-tolerance", "X", "or at most X", "0")
      .value("iterations", "N", "most iterations (default: ten times the rows)")
      .value("precision", "KIND", "f64, f32, or refined: f32 iterations inside of f64 refinement",
             "f64")
      .value("preconditioner", "NAME", "none, jacobi, block-jacobi or chebyshev", "none")
      .value("blocks", "N|partition",
             "of block-jacobi: N rows each, or the parts that the file's rows were assigned to")
      .value("degree", "N", "of chebyshev: products with A in each application", "4")
      .value("output", "X.npy",
             "write the solution; without one, the best iterate goes to X.best.npy")
      .value("repeat", "N", "solve N times and report the median time", "1")
      .value("memory-limit", "SIZE", "most memory for the solver, e.g. 512M or 8G")
      .value("generate-dense", "N", "solve with a random dense matrix of N rows instead of a file")
      .value("condition", "X", "of --generate-dense", "100")
      .flag("nondeterministic",
            "allow solvers and products that differ from run to run in the "
            "last bits");
  if (is_gpu) {
    options.value("device", "N", "which of the visible GPUs", "0");
  } else {
    options.value("threads", "N",
                  "OpenMP threads (default: what OMP_NUM_THREADS or the system says)");
  }
}

void read_preconditioner(const Options& options, SolveToolOptions* result) {
  Preconditioner& by = result->problem.preconditioner;
  by.kind = options.parsed("preconditioner", parse_preconditioner);
  const bool has_blocks = by.kind == PreconditionerKind::block_jacobi;
  const bool has_degree = by.kind == PreconditionerKind::chebyshev;
  if (options.given("blocks") != has_blocks) {
    throw UsageError(has_blocks ? "--preconditioner block-jacobi needs --blocks N or partition"
                                : "--blocks is for --preconditioner block-jacobi");
  }
  if (has_blocks) {
    result->blocks = options.text("blocks");
    if (result->blocks != "partition") options.integer("blocks", 1, kMaxIndex);
  }
  if (options.given("degree") && !has_degree) {
    throw UsageError("--degree is for --preconditioner chebyshev");
  }
  if (has_degree) by.degree = static_cast<int>(options.integer("degree", 1, 1000));
}

void read_matrix(const Options& options, SolveToolOptions* result) {
  if (options.given("generate-dense") == !options.names().empty()) {
    throw UsageError("expected MATRIX.csr or MATRIX.npy, or --generate-dense N in its place");
  }
  if (options.given("generate-dense")) {
    result->generate_rows = static_cast<Index>(options.integer("generate-dense", 1, kMaxIndex));
    result->condition = options.number_from("condition", 1);
  } else {
    result->matrix = options.names().front();
    if (options.given("condition")) throw UsageError("--condition is for --generate-dense");
  }
}

/// b, x0, and what is drawn for them.
void read_right_hand_sides(const Options& options, SolveToolOptions* result) {
  result->rhs = options.text("rhs");
  result->guess = options.text("guess");
  result->right_hand_sides = static_cast<Index>(options.integer("right-hand-sides", 1, 1 << 20));
  result->gives_right_hand_sides = options.given("right-hand-sides");
  result->seed = options.seed();
  const bool draws_b = result->rhs == "from-solution" || result->rhs == "random";
  if (options.given("seed") && !draws_b && !options.given("generate-dense")) {
    throw UsageError("--seed has no effect: --rhs " + result->rhs + " draws no random numbers");
  }
}

/// How exact the solution must be, and when to give up.
void read_tolerances(const Options& options, SolveProblem* problem) {
  problem->absolute_tolerance = options.number_from("absolute-tolerance", 0);
  if (options.given("iterations")) {
    problem->iteration_limit = options.integer("iterations", 1, std::int64_t{1} << 40);
  }
  problem->precision = options.parsed("precision", parse_precision);
  problem->relative_tolerance = options.given("tolerance") ? options.number_from("tolerance", 0)
                                                           : default_tolerance(problem->precision);
  if (problem->relative_tolerance == 0 && problem->absolute_tolerance == 0) {
    throw UsageError("--tolerance is 0; then --absolute-tolerance must be above 0");
  }
}

/// "x.best.npy" for "x.npy".
std::string best_iterate_name(const std::string& output) {
  if (output.empty()) return {};
  const bool has_ending = ends_with(lower_case(output), ".npy");
  return output.substr(0, output.size() - (has_ending ? 4 : 0)) + ".best.npy";
}

}  // namespace

const KernelTable<Solve>& solvers_of(const std::string& room, const std::string& tool) {
  return room == kCpu ? cpu::solve_kernels() : require_gpu_room(tool).solve_kernels();
}

SolveToolOptions parse_solve_options(const std::string& tool, const std::string& room, int argc,
                                     const char* const* argv) {
  const bool is_gpu = room == kGpu;
  Options options(tool, "MATRIX.csr|MATRIX.npy", 0, 1,
                  "Solves A x = b for a symmetric positive definite matrix by conjugate gradients "
                  "on a " +
                      std::string(is_gpu ? "GPU" : "CPU") +
                      ", and reports the residual that is left.");
  declare_options(options, is_gpu, is_gpu ? "auto" : "cg");
  options.writes_files();
  declare_io(options);
  options
      .example(tool + " grid.csr --rhs from-solution --output x.npy",
               "a system whose solution is known")
      .example(tool + " grid.csr --preconditioner chebyshev --degree 6 --tolerance 1e-10",
               "fewer iterations, more products in each")
      .example(tool + " grid.csr --precision refined --json",
               "f32 inside of f64, the residual history as JSON")
      .example(tool + " --generate-dense 500 --condition 1e4", "a dense system")
      .on_list([&](bool as_json) { return list_solvers(room, tool, as_json); });
  options.parse(argc, argv);

  SolveToolOptions result;
  result.room = room;
  read_matrix(options, &result);
  read_right_hand_sides(options, &result);
  result.kernel = name_in_table(room, {"solve"}, options.text("kernel"));
  result.plan.variant = name_in_table(room, {"spmv", "spmm"}, options.text("product"));
  result.plan.deterministic = !options.flag("nondeterministic");
  result.output = options.text("output");
  read_tolerances(options, &result.problem);
  result.problem.has_guess = !result.guess.empty();
  result.problem.progress = terminal_progress();
  read_preconditioner(options, &result);
  result.repeat = read_runs(options, "repeat", 1);
  if (options.given("memory-limit")) {
    result.plan.memory_limit_bytes = options.bytes("memory-limit");
  }
  if (is_gpu) {
    result.plan.where.device = static_cast<int>(options.integer("device", 0, kMaxDevices - 1));
  } else {
    result.plan.where.threads = read_threads(options);
  }
  result.read = read_options(options);
  result.best_iterate = best_iterate_name(result.output);
  require_outputs(options, {result.output, result.best_iterate},
                  {result.matrix, result.rhs, result.guess});
  require_ending(result.output, {".npy"});
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

}  // namespace csrkit
