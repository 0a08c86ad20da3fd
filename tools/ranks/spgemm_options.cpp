#include "tools/ranks/spgemm_options.h"

#include <algorithm>

#include "api/rooms.h"
#include "core/base/ending.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"
#include "tools/operation/operations.h"
#include "tools/operation/product/request.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

Options declare_spgemm_dist() {
  Options options("csr-spgemm-dist", "A.csr [B.csr]", 1, 2,
                  "Multiplies two sparse matrices on many ranks: the processes that mpirun or srun "
                  "started, or threads of this one. Without B.csr, C = A * A.");
  options.value("repeat", "N", "measured products", "3")
      .value("warmup", "N", "products before the measured ones", "1")
      .flag("check",
            "every rank judges its rows of C against float64 within the derived error bound, all "
            "or sampled, and some of the rows of B that it received; nothing wrong is timed or "
            "written")
      .value("device", "ROOM", "what multiplies: cpu, or gpu, one for each rank", "cpu")
      .flag("share-gpus",
            "ranks of one process may share GPUs where there are not enough: for tests")
      .value("output", "C.csr", "write C, all ranks into one file")
      .value("kernel", "NAME", "which kernel; --list shows them", "auto")
      .value("blocks", "NAME",
             "file: the parts that A.csr holds (csr-partition), with lists of what they exchange; "
             "products: rows with about as many multiplications each; auto: file where it holds "
             "as many parts as there are ranks",
             "auto")
      .value("value-kind", "KIND", "convert A and B first: none, f32, f64, f16 or bf16");
  declare_ranks(options);
  options.writes_files();
  declare_io(options);
  options
      .example("mpirun -n 4 csr-spgemm-dist graph.csr --output squared.csr --check",
               "A * A on four processes")
      .example("csr-spgemm-dist graph.csr --ranks 2 --json",
               "on two threads, and what each did, as JSON")
      .example("csr-spgemm-dist graph.csr --device gpu --ranks 2 --check", "on two GPUs");
  options.on_list([](bool as_json) {
    return list_kernels({&find_operation("spgemm")}, {kCpu, kGpu}, /*with_marks=*/false, as_json);
  });
  return options;
}

SpgemmDistOptions read_spgemm_dist(const Options& options) {
  SpgemmDistOptions result;
  result.a = options.names().front();
  result.b = options.names().back();
  result.io = read_options(options).io;
  result.repeat = read_runs(options, "repeat", 1);
  result.warmup = read_runs(options, "warmup", 0);
  result.threads = threads_per_rank(options);
  const std::vector<std::string> blocks{"auto", "file", "products"};  // in the order of BlockSource
  const std::string chosen = options.choice("blocks", blocks);
  result.blocks =
      static_cast<BlockSource>(std::find(blocks.begin(), blocks.end(), chosen) - blocks.begin());
  result.is_checked = options.flag("check");
  result.is_on_gpus = options.choice("device", {kCpu, kGpu}) == kGpu;
  result.may_share_gpus = options.flag("share-gpus");
  if (result.may_share_gpus && !result.is_on_gpus) {
    throw UsageError("--share-gpus is about GPUs; add --device gpu");
  }
  result.kernel =
      name_in_table(result.is_on_gpus ? kGpu : kCpu, {"spgemm"}, options.text("kernel"));
  result.output = options.text("output");
  result.value_kind = read_kind(options, "value-kind");
  result.as_json = options.json();
  result.command_line = options.command_line();
  require_new_outputs(options, {result.output}, {result.a, result.b});
  require_ending(result.output, {".csr"});
  return result;
}

}  // namespace csrkit
