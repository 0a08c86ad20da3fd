// csr-partition: a matrix cut into parts for several ranks, which the file keeps with their lists.
#include "tools/cli/log.h"
#include "tools/cli/run_tool.h"
#include "tools/partition/run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-partition", [&] {
    const PartitionToolOptions options = parse_partition_options(argc, argv);
    const PartitionRun run = partition_file(options, read_csr_file(options.input, options.read));
    write_csr_file(options.output, run.file, terminal_progress());
    report_partition(options, run);
    return kExitDone;
  });
}
