// csr-reorder: rows, columns or both in another order, which the file remembers and can undo.
#include "tools/cli/log.h"
#include "tools/cli/report.h"
#include "tools/cli/run_tool.h"
#include "tools/reorder/run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-reorder", [&] {
    const ReorderToolOptions options = parse_reorder_options(argc, argv);
    const CsrFile before = read_csr_file(options.input, options.read);
    if (options.is_advice) {
      give_advice(options, before.matrix);
    } else if (!options.operand.empty()) {
      move_operand(options, before);
    } else {
      const ReorderRun run = reorder_file(options, before);
      // Made before the output appears: it counts with all threads, and they may not be to be had.
      Report report;
      add_reorder(report, options, before, run);
      write_csr_file(options.output, run.file, terminal_progress());
      print(report, options.as_json);
    }
    return kExitDone;
  });
}
