// csr-export: a .csr file becomes a file of another program.
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "preprocess/export/export.h"
#include "tools/support/log.h"
#include "tools/support/matrix_facts.h"
#include "tools/support/matrix_input.h"
#include "tools/support/measure.h"
#include "tools/support/options.h"
#include "tools/support/progress.h"
#include "tools/support/run_tool.h"

using namespace csrkit;

namespace {

struct ExportToolOptions {
  std::string input, output, format;
  bool is_lossy = false;
  CsrReadOptions read;
  bool as_json = false;
};

std::string list_formats(bool as_json) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ExportFormat& format : export_formats()) {
    rows.emplace_back(format.name, std::string(format.extension) + ": " + format.summary);
  }
  return list_rows("format", rows, as_json);
}

ExportToolOptions parse_export_options(int argc, char** argv) {
  Options options("csr-export", "INPUT.csr OUTPUT", 2, 2,
                  "Turns a .csr file into a file of another program. What a format cannot hold is "
                  "named, and refused without --lossy.");
  options
      .value("format", "NAME", "auto goes by the extension of OUTPUT; --list shows the names",
             "auto")
      .flag("lossy", "write although something is lost")
      .example("csr-export tiny.csr copy.mtx", "Matrix Market text")
      .example("csr-export tiny.csr copy.npz", "for scipy.sparse.load_npz")
      .on_list(list_formats);
  declare_io(options);
  options.parse(argc, argv);
  require_another_file(options.names()[1], options.names()[0]);
  return {options.names()[0],    options.names()[1],    options.text("format"),
          options.flag("lossy"), read_options(options), options.json()};
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-export", [&] {
    const ExportToolOptions options = parse_export_options(argc, argv);
    const CsrFile file = read_csr_file(options.input, options.read);
    const Stopwatch watch;
    const std::string lost = export_matrix(options.output, file.matrix, options.format,
                                           options.is_lossy, terminal_progress());
    if (!lost.empty()) log_warning(options.output + ": lost " + lost);
    Report report;
    report.add("output", "output", options.output);
    add_shape(report, file.matrix);
    report.add("lost", "lost", Json(lost), lost.empty() ? "nothing" : lost);
    report.add_seconds("write_seconds", "write", watch.seconds());
    print(report, options.as_json);
    return kExitDone;
  });
}
