#include "tools/convert/export_run.h"

#include <nlohmann/json.hpp>

#include "core/base/ending.h"
#include "core/base/text.h"
#include "tools/cli/list.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"
#include "tools/cli/parameter_options.h"
#include "tools/info/matrix_facts.h"

namespace csrkit {

namespace {

std::string list_export_formats(bool as_json) {
  std::vector<ListRow> rows;
  for (const ExportFormat& format : export_formats()) {
    rows.push_back(
        {format.name, std::string(format.extension) + ": " + format.summary, format.parameters});
  }
  return list_rows("format", rows, as_json);
}

/// A name that ends as another format does would mislead who reads it; any text may be a .txt.
void require_ending_of(const std::string& format, const std::string& output) {
  for (const ExportFormat& known : export_formats()) {
    if (format != known.name || ends_with(lower_case(output), ".txt")) continue;
    require_ending(output, {known.extension});
  }
}

}  // namespace

ExportToolOptions parse_export_options(int argc, const char* const* argv) {
  Options options("csr-export", "INPUT.csr OUTPUT", 2, 2,
                  "Turns a .csr file into a file of another program. What a format cannot hold is "
                  "named, and refused without --lossy.");
  options
      .value("format", "NAME", "auto goes by the extension of OUTPUT; --list shows the names",
             "auto")
      .flag("lossy", "write although something is lost")
      .example("csr-export tiny.csr copy.mtx", "Matrix Market text")
      .example("csr-export tiny.csr - --format edge-list --lossy | head -n 3",
               "text to standard output")
      .example("csr-export tiny.csr copy.npz", "for scipy.sparse.load_npz")
      .writes_files()
      .on_list(list_export_formats);
  declare_parameters(options, all_parameters(export_formats()));
  declare_io(options);
  options.parse(argc, argv);
  const std::string& output = options.names()[1];
  // Standard output replaces nothing, whatever a file called "-" holds.
  if (output != "-") require_outputs(options, {output}, {options.names()[0]});
  require_ending_of(options.text("format"), output);
  if (output == "-" && options.json()) {
    throw UsageError("OUTPUT - and --json both write to standard output; leave one out");
  }
  const ParameterValues parameters = given_parameters(options, all_parameters(export_formats()));
  return {options.names()[0],
          output,
          {options.text("format"), options.flag("lossy"), parameters, terminal_progress()},
          read_options(options),
          options.json()};
}

void report_export(const ExportToolOptions& options, const CsrMatrix& matrix,
                   const std::string& lost, double write_seconds) {
  if (!lost.empty()) log_warning(options.output + ": lost " + lost);
  if (options.output == "-") return;  // stdout is the matrix
  Report report;
  report.add("output", "output", options.output);
  add_shape(report, matrix);
  report.add("lost", "lost", Json(lost), lost.empty() ? "nothing" : lost);
  report.add_seconds("write_seconds", "write", write_seconds);
  print(report, options.as_json);
}

}  // namespace csrkit
