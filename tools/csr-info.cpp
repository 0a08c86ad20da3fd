// csr-info: what is in a .csr file.
#include "tools/cli/run_tool.h"
#include "tools/info/info_report.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-info", [&] {
    const InfoToolOptions options = parse_info_options(argc, argv);
    Report report;
    report_info(report, options);
    print(report, options.as_json);
    return kExitDone;
  });
}
