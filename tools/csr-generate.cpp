// csr-generate: a synthetic matrix, seeded, the same bits for any thread count.
#include "tools/cli/run_tool.h"
#include "tools/convert/generate_run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-generate", [&] {
    const GenerateToolOptions options = parse_generate_options(argc, argv);
    GenerateRun run = generate_file(options);
    write_generated(options, &run);
    report_generate(options, run);
    return kExitDone;
  });
}
