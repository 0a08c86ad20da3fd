#include "tools/ranks/spmm_options.h"

#include <algorithm>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/ending.h"
#include "core/contract/countable.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"
#include "tools/forecast/rank_forecast.h"
#include "tools/operation/operations.h"
#include "tools/operation/product/request.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

using ranks::Communicator;

Options declare_spmm_dist() {
  Options options("csr-spmm-dist", "MATRIX.csr", 1, 1,
                  "Multiplies a sparse matrix with a dense one on many ranks: the processes that "
                  "mpirun or srun started, or threads of this one.");
  options
      .value("grid", "RxG",
             "R row parts, which the file must hold (csr-partition), times G groups of columns of "
             "B and C (default: the fastest by forecast of those for which there are parts)")
      .value("profile", "NAME",
             "what that forecast is for: cluster, h200x4 or a JSON file, as in csr-forecast "
             "(default: cluster, of GPUs h200x4)")
      .value("device", "ROOM", "what multiplies: cpu, or gpu, one for each rank", "cpu")
      .value(
          "exchange", "WAY",
          "how rows of B come from other ranks: peer reads them where they are, on one host; "
          "messages (of processors) and nccl (of GPUs) copy them while own columns are "
          "multiplied; auto takes peer where all ranks are on one host, of GPUs the faster one by "
          "forecast",
          "auto")
      .flag(
          "all-gather",
          "of GPUs: every rank gets all of B and multiplies once, as is done without lists, where "
          "no rows are split; for comparison, with --kernel vendor_cusparse --nondeterministic")
      .flag("share-gpus",
            "ranks of one process may share GPUs where there are not enough: for tests")
      .value("k,dense-cols", "K", "columns of B and C; with --input, those of the file", "32")
      .value("power", "N", "C = A^N B, where A is square; the parts of B and C stay where they are",
             "1")
      .value("repeat", "N", "measured products", "10")
      .value("warmup", "N", "products before the measured ones", "2")
      .flag("check",
            "every rank judges sampled rows of its C against float64 within the derived error "
            "bound; nothing wrong is timed or written")
      .value("input", "B.npy", "read B, every rank its part; otherwise it is random by --seed")
      .value("output", "C.npy", "write C, all ranks into one file")
      .value("seed", "N", "of a random B: the same elements on any grid, and in csr-spmm-cpu", "1")
      .value("kernel", "NAME", "which kernel; --list shows them", "auto")
      .value("value-kind", "KIND", "convert the matrix first: none, f32, f64, f16 or bf16")
      .value(
          "dense-kind", "KIND",
          "kind of B: A's; if A has none, that of --input, or f32; f16, bf16 with f32: see --list")
      .flag("nondeterministic", "allow results that differ from run to run in the last bits");
  declare_ranks(options);
  options.writes_files();
  declare_io(options);
  options
      .example("mpirun -n 4 csr-spmm-dist graph.csr --grid 4x1 -k 64 --check",
               "four row parts, which csr-partition has put into the file")
      .example("srun --mpi=pmix -n 8 csr-spmm-dist graph.csr --grid 4x2 -k 256 --output c.npy",
               "four row parts times two groups of 128 columns")
      .example("csr-spmm-dist graph.csr --ranks 4 --power 3 --json",
               "A^3 B on threads of one process, and what every rank did, as JSON")
      .example("csr-spmm-dist graph.csr --device gpu --ranks 4 -k 128 --check",
               "on four GPUs, all driven by this process");
  options.on_list([](bool as_json) {
    return list_kernels({&find_operation("spmm")}, {kCpu, kGpu}, /*with_marks=*/false, as_json);
  });
  return options;
}

namespace {

void read_gpu_options(const Options& options, SpmmDistOptions* result) {
  result->is_on_gpus = options.choice("device", {kCpu, kGpu}) == kGpu;
  result->exchange = options.choice(
      "exchange", {"auto", name_of(HaloWay::peer), name_of(HaloWay::nccl), kMessages});
  result->gathers_all = options.flag("all-gather");
  result->may_share_gpus = options.flag("share-gpus");
  result->profile = options.given("profile") ? options.text("profile")
                    : result->is_on_gpus     ? "h200x4"
                                             : "cluster";
  if (result->exchange == (result->is_on_gpus ? kMessages : name_of(HaloWay::nccl))) {
    throw UsageError("--exchange " + result->exchange + " is about " +
                     (result->is_on_gpus ? "processors; take nccl" : "GPUs; add --device gpu"));
  }
  if (result->is_on_gpus) return;
  for (const char* const option : {"all-gather", "share-gpus"}) {
    if (options.given(option)) {
      throw UsageError("--" + std::string(option) + " is about GPUs; add --device gpu");
    }
  }
}

/// A forecast chooses the grid, and between GPUs the way of rows of B.
void refuse_idle_profile(const Options& options, const SpmmDistOptions& wanted) {
  if (!options.given("profile") || !options.given("grid")) return;
  if (wanted.is_on_gpus && wanted.exchange == "auto" && wanted.grid.parts > 1) return;
  throw UsageError(std::string("--profile has no effect: --grid gives the grid") +
                   (wanted.is_on_gpus ? ", and nothing chooses a way between GPUs" : ""));
}

}  // namespace

std::string forecast_grid_text(const Options& options, const Communicator& communicator) {
  SpmmDistOptions wanted;
  read_gpu_options(options, &wanted);
  const std::string& path = options.names().front();
  const CsrFileHeader header = read_csr_header(path);
  const Index dense_cols = dense_cols_of(options, options.text("input"));
  require_countable(std::max(header.rows, header.cols), dense_cols);  // for all that follows
  if (options.given("grid") || communicator.rank() != 0) return "";
  const ValueKind kind = read_kind(options, "value-kind").value_or(header.value_kind);
  const int ranks = communicator.size();
  ClusterProfile profile = read_cluster_profile(wanted.profile);
  if (wanted.exchange == name_of(HaloWay::nccl)) profile.peers = {};
  const GridForecast best = best_stored_grid(
      path, {header.rows, header.cols, header.nnz, kind}, ranks, dense_cols, profile,
      reads_in_order(ranks == 1 ? nullptr : sampled_reads(path, profile), profile.device));
  return text_of(ranks::Grid{best.parts, best.groups});
}

SpmmDistOptions read_spmm_dist(const Options& options, const Communicator& communicator,
                               const std::string& forecast_grid) {
  SpmmDistOptions result;
  result.matrix = options.names().front();
  result.read = read_options(options);
  if (communicator.rank() != 0) result.read.progress = {};
  result.dense_cols = dense_cols_of(options, options.text("input"));
  result.value_kind = read_kind(options, "value-kind");
  read_gpu_options(options, &result);
  if (options.given("grid")) {
    result.grid = options.parsed("grid", ranks::parse_grid);
    if (result.grid.size() != communicator.size()) {
      throw UsageError("--grid " + text_of(result.grid) + " needs " +
                       counted(result.grid.size(), "rank") + ", and there are " +
                       std::to_string(communicator.size()) +
                       "; start as many (mpirun -n, srun -n, --ranks), or give another grid");
    }
  } else {
    result.grid = ranks::parse_grid(forecast_grid);
    result.grid_choice = "the fastest by forecast for '" + result.profile + "'";
  }
  refuse_idle_profile(options, result);
  if (result.grid.groups > result.dense_cols) {
    throw UsageError(
        "--grid " + text_of(result.grid) + " makes more groups of columns than B has columns, " +
        std::to_string(result.dense_cols) + "; use more row parts, or a larger --dense-cols");
  }
  result.power = static_cast<int>(options.integer("power", 1, kMaxRuns));
  if (result.power > 1 && result.gathers_all) {
    throw UsageError("--all-gather is about one product; leave out --power");
  }
  result.repeat = read_runs(options, "repeat", 1);
  result.warmup = read_runs(options, "warmup", 0);
  result.threads = threads_per_rank(options);
  result.is_checked = options.flag("check");
  result.is_deterministic = !options.flag("nondeterministic");
  result.kernel = name_in_table(result.is_on_gpus ? kGpu : kCpu, {"spmm"}, options.text("kernel"));
  result.input = options.text("input");
  result.output = options.text("output");
  result.seed = options.seed();
  if (options.given("seed") && !result.input.empty()) {
    throw UsageError("--seed has no effect: --input gives B");
  }
  result.dense_kind = read_kind(options, "dense-kind");
  result.input_kind = kind_of_input(result.input);
  result.as_json = options.json();
  result.command_line = options.command_line();
  require_new_outputs(options, {result.output}, {result.matrix, result.input});
  require_ending(result.output, {".npy"});
  return result;
}

}  // namespace csrkit
