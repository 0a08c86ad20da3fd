// csr-bench: kernels x matrices x dense columns x value kinds x cold and warm caches, checked,
// measured, recorded case by case; and a bundle of records measured again.
#include "tools/bench/run.h"
#include "tools/bench/verify.h"
#include "tools/cli/run_tool.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-bench", [&] {
    const BenchOptions options = parse_bench_options(argc, argv);
    const BenchPlace place = place_of(options);
    return options.verified.empty() ? run_bench(options, place) : run_verify(options, place);
  });
}
