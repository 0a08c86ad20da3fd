// csr-export: a .csr file becomes a file of another program.
#include "core/base/stopwatch.h"
#include "tools/cli/run_tool.h"
#include "tools/convert/export_run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-export", [&] {
    const ExportToolOptions options = parse_export_options(argc, argv);
    const CsrMatrix matrix = read_csr_file(options.input, options.read).matrix;
    const Stopwatch watch;
    const std::string lost = export_matrix(options.output, matrix, options.how);
    report_export(options, matrix, lost, watch.seconds());
    return kExitDone;
  });
}
