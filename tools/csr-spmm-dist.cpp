// csr-spmm-dist: C = A * B on many ranks, each with its part of the matrix.
#include "tools/cli/outputs.h"
#include "tools/cli/run_tool.h"
#include "tools/ranks/rank_tool.h"
#include "tools/ranks/spmm_run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-spmm-dist", [&] {
    Options options = declare_spmm_dist();
    return run_ranks(options, argc, argv, [&](ranks::Communicator& communicator) {
      const std::vector<std::string> grids =
          telling_together(communicator, [&] { return forecast_grid_text(options, communicator); });
      std::optional<SpmmDistOptions> wanted;
      together(communicator,
               [&] { wanted = read_spmm_dist(options, communicator, grids.front()); });
      only_first(communicator, [&] { require_writable({wanted->output}); });
      run_spmm_dist(*wanted, communicator);
    });
  });
}
