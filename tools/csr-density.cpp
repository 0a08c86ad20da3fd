// csr-density: how many nonzeros are in a rectangle, where the dense tiles are, where to cut.
#include "tools/cli/run_tool.h"
#include "tools/info/density_report.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-density", [&] {
    const DensityToolOptions options = parse_density_options(argc, argv);
    const CsrMatrix matrix = read_csr_file(options.input, options.read).matrix;
    Report report;
    report.add("file", "file", options.input);
    const SummedAreaTable table = make_table(report, options, matrix);
    report_density(report, options, matrix, table);
    print(report, options.as_json);
    return kExitDone;
  });
}
