#include "tools/convert/import_options.h"

#include <unistd.h>

#include <limits>

#include "core/base/counted.h"
#include "core/base/ending.h"
#include "core/base/error.h"
#include "tools/cli/list.h"
#include "tools/cli/log.h"
#include "tools/cli/outputs.h"
#include "tools/cli/parameter_options.h"

namespace csrkit {

namespace {

std::string list_import_formats(bool as_json) {
  std::vector<ListRow> rows;
  for (const ImportFormat& format : import_formats()) {
    rows.push_back({format.name, format.summary, format.parameters});
  }
  return list_rows("format", rows, as_json);
}

Options declare_import() {
  Options options("csr-import", "INPUT OUTPUT.csr", 2, 2,
                  "Turns a matrix or graph of another program into a .csr file. The format is "
                  "recognised by content. Unsorted and duplicate entries are repaired and counted. "
                  "Changes are made in the order in which they are listed here.");
  options.value("format", "NAME", "instead of recognising it; --list shows the names", "auto")
      .value("duplicates", "HOW", "several entries at one place: sum, first or error", "sum")
      .value("value-kind", "KIND",
             "auto (without loss), none (pattern only), f32, f64, f16 or bf16", "auto");
  declare_parameters(options, all_parameters(import_formats()));
  options.flag("transpose", "transpose the matrix")
      .flag("symmetrize", "mirror entries that are stored on one side of the diagonal only")
      .value("self-loops", "add|drop", "add missing diagonal entries (value 1), or drop all")
      .value("values", "HOW", "keep, ones or random (by --seed)", "keep")
      .value("seed", "N", "of random values", "1")
      .flag("gcn-normalize", "D^-1/2 A D^-1/2, D the row sums of absolute values")
      .value("longest-line", "SIZE", "refuse text with a longer line", "32M")
      .value("max-expansion", "N",
             "refuse a compressed file that grows N-fold and beyond 64 MiB when decompressed, and "
             "coordinates whose rows would take as much",
             "1000")
      .example("csr-import tiny.mtx tiny.csr", "any supported format, recognised by its content")
      .example(
          "csr-import tiny.mtx gcn.csr --symmetrize --self-loops=add --values=ones --gcn-normalize",
          "the adjacency matrix of a graph neural network")
      .example("csr-import - piped.csr < tiny.mtx", "text from standard input")
      .example("csr-import edges.txt edges.csr --format=edge-list --base=1",
               "pairs of node numbers that start at 1")
      .writes_files()
      .on_list(list_import_formats);
  return options;
}

/// The path of standard input. A file that stands there is opened anew and read from its beginning,
/// so what a command before has read, to skip it, would come back.
std::string standard_input() {
  const off_t read_before = ::lseek(STDIN_FILENO, 0, SEEK_CUR);  // below 0: a pipe
  if (read_before > 0) {
    throw IoError("standard input is a file of which " + counted(read_before, "byte") +
                  (read_before == 1 ? " was" : " were") +
                  " read before, and a file is read from its beginning; send the rest through a "
                  "pipe: cat | csr-import - OUTPUT.csr");
  }
  return "/dev/stdin";
}

ImportOptions read_import(const Options& options) {
  ImportOptions import;
  import.format = options.text("format");
  import.duplicates = options.parsed("duplicates", parse_duplicates);
  import.value_kind = options.choice("value-kind", {"auto", "none", "f32", "f64", "f16", "bf16"});
  import.parameters = given_parameters(options, all_parameters(import_formats()));
  import.progress = terminal_progress();
  import.limits.line_bytes = options.bytes("longest-line");
  import.limits.expansion = static_cast<std::uint64_t>(
      options.integer("max-expansion", 1, std::numeric_limits<std::int64_t>::max()));
  return import;
}

}  // namespace

ImportToolOptions parse_import_options(int argc, const char* const* argv) {
  Options options = declare_import();
  options.parse(argc, argv);

  ImportToolOptions result;
  const std::string& input = options.names()[0];
  result.input = input == "-" || input == "/dev/stdin" ? standard_input() : input;
  result.output = options.names()[1];
  require_outputs(options, {result.output}, {result.input});
  require_ending(result.output, {".csr"});
  result.import = read_import(options);
  result.transpose = options.flag("transpose");
  result.symmetrize = options.flag("symmetrize");
  if (options.given("self-loops"))
    result.self_loops = options.choice("self-loops", {"add", "drop"});
  result.values = options.choice("values", {"keep", "ones", "random"});
  if (options.given("seed") && result.values != "random") {
    throw UsageError("--seed is for --values random");
  }
  result.seed = options.seed();
  result.gcn_normalize = options.flag("gcn-normalize");
  result.as_json = options.json();
  result.command_line = options.command_line();
  if (result.import.value_kind == "none" && (result.gcn_normalize || result.values == "random")) {
    throw UsageError(
        "--value-kind none stores no values, but --gcn-normalize and --values=random "
        "make some; leave one of them out");
  }
  return result;
}

}  // namespace csrkit
