// csr-import: a file or folder of another program becomes a .csr file.
#include "tools/cli/run_tool.h"
#include "tools/convert/import_run.h"

using namespace csrkit;

int main(int argc, char** argv) {
  return run_tool("csr-import", [&] {
    const ImportToolOptions options = parse_import_options(argc, argv);
    ImportRun run = read_and_transform(options);
    write_imported(options, &run);
    report_import(options, run);
    return kExitDone;
  });
}
