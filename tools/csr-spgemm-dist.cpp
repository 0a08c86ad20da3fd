// csr-spgemm-dist: C = A * B, all sparse, on many ranks.
#include <optional>

#include "tools/cli/outputs.h"
#include "tools/cli/run_tool.h"
#include "tools/ranks/rank_tool.h"
#include "tools/ranks/spgemm_run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-spgemm-dist", [&] {
    Options options = declare_spgemm_dist();
    return run_ranks(options, argc, argv, [&](ranks::Communicator& communicator) {
      std::optional<SpgemmDistOptions> wanted;
      together(communicator, [&] { wanted = read_spgemm_dist(options); });
      only_first(communicator, [&] { require_writable({wanted->output}); });
      run_spgemm_dist(*wanted, communicator);
    });
  });
}
