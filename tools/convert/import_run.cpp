#include "tools/convert/import_run.h"

#include <nlohmann/json.hpp>

#include "api/measured_flags.h"
#include "core/base/stopwatch.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/transform/transform.h"
#include "tools/cli/log.h"
#include "tools/cli/provenance.h"
#include "tools/info/matrix_facts.h"

namespace csrkit {

namespace {

CsrMatrix normalized(const CsrMatrix& matrix, ImportResult* imported) {
  Underflow underflow;
  CsrMatrix result = gcn_normalize(matrix, &underflow);
  if (underflow.count == 0) return result;
  imported->warnings.push_back(text_of(underflow, result.value_kind()) +
                               "; --gcn-normalize makes them 0");
  imported->underflow.count += underflow.count;
  return result;
}

CsrMatrix transformed(CsrMatrix matrix, const ImportToolOptions& options, ImportResult* imported) {
  if (options.transpose) {
    require_plausible_rows(matrix.cols(), matrix.nnz(), options.import.limits, "transposed");
    matrix = transpose(matrix);
  }
  if (options.symmetrize) matrix = symmetrize(matrix);
  if (options.self_loops == "add") matrix = add_self_loops(matrix);
  if (options.self_loops == "drop") matrix = drop_self_loops(matrix);
  if (options.values == "ones") matrix = set_ones(matrix);
  if (options.values == "random") matrix = randomize_values(matrix, options.seed);
  if (options.gcn_normalize) matrix = normalized(matrix, imported);
  return matrix;
}

/// Symmetry that the format declares and no change touched is known; the rest is looked up.
CsrFlags flags_of(const CsrMatrix& matrix, const ImportResult& imported,
                  const ImportToolOptions& options) {
  if (!imported.is_symmetric_by_format || !options.keeps_declared_symmetry()) {
    return measured_flags(matrix);
  }
  CsrFlags flags;
  flags.is_pattern_symmetric = flags.is_value_symmetric = true;
  return flags;
}

Json repairs_json(const ImportResult& imported) {
  Json json{{"format", imported.format},
            {"entries_read", imported.entries_read},
            {"entries_mirrored", imported.entries_mirrored},
            {"duplicates", imported.repairs.duplicates},
            {"out_of_order", imported.repairs.out_of_order}};
  if (imported.underflow.count > 0) json["underflows"] = imported.underflow.count;
  // At once: a null that becomes an object without memory for one crashes when it is destroyed.
  if (!imported.notes.empty()) json["notes"] = imported.notes;
  return json;
}

std::string per_second(double bytes, double seconds) {
  return seconds > 0 && bytes > 0 ? "  (" + fixed(bytes / 1e6 / seconds, 0) + " MB/s)" : "";
}

}  // namespace

ImportRun read_and_transform(const ImportToolOptions& options) {
  ImportRun run;
  run.imported = import_matrix(options.input, options.import);
  const Stopwatch transform_watch;
  try {
    run.file.matrix = transformed(std::move(run.imported.matrix), options, &run.imported);
  } catch (const UsageError& error) {  // a matrix in memory has no name
    throw UsageError(options.input + ": " + error.what());
  } catch (const InputError& error) {
    throw InputError(options.input + ": " + error.what());
  }
  run.transform_seconds = transform_watch.seconds();
  const Stopwatch symmetry_watch;
  run.file.flags = flags_of(run.file.matrix, run.imported, options);
  run.symmetry_seconds = symmetry_watch.seconds();
  return run;
}

void write_imported(const ImportToolOptions& options, ImportRun* run) {
  const Json details = repairs_json(run->imported);
  run->file.provenance = append_step("", {options.command_line, run->imported.inputs, &details});
  const Stopwatch watch;
  write_csr_file(options.output, run->file, terminal_progress());
  run->write_seconds = watch.seconds();
}

void report_import(const ImportToolOptions& options, const ImportRun& run) {
  const ImportResult& imported = run.imported;
  const CsrFile& file = run.file;
  for (const std::string& warning : imported.warnings) log_warning(options.input + ": " + warning);
  std::uint64_t input_bytes = 0;
  for (const FileDigest& input : imported.inputs) input_bytes += input.size_bytes;
  const std::uint64_t output_bytes = read_csr_header(options.output).file_bytes;
  Report report;
  report.add("output", "output", options.output);
  report.add("format", "format", imported.format);
  add_shape(report, file.matrix);
  report.add("symmetric", "symmetric",
             symmetry_text(file.flags, file.matrix.rows() == file.matrix.cols()));
  report.add("entries_read", "entries read", imported.entries_read);
  report.add("entries_mirrored", "mirrored", imported.entries_mirrored);
  report.add("duplicates", "duplicates", imported.repairs.duplicates);
  report.add("out_of_order", "out of order", imported.repairs.out_of_order);
  report.add_json("underflows", imported.underflow.count);
  for (const auto& [name, note] : imported.notes) report.add_line(name, note);
  report.add_json("notes", Json(imported.notes));
  report.add_json("warnings", Json(imported.warnings));
  report.add_json("input_bytes", input_bytes);
  report.add_json("output_bytes", output_bytes);
  const auto phase = [&](const char* key, const char* label, double seconds, std::uint64_t bytes) {
    report.add(key, label, Json(seconds),
               readable_seconds(seconds) + per_second(static_cast<double>(bytes), seconds));
  };
  phase("read_seconds", "read", imported.read_seconds, input_bytes);
  phase("sort_seconds", "sort", imported.sort_seconds, 0);
  phase("transform_seconds", "transform", run.transform_seconds, 0);
  phase("symmetry_seconds", "symmetry", run.symmetry_seconds, 0);
  phase("write_seconds", "write", run.write_seconds, output_bytes);
  print(report, options.as_json);
}

}  // namespace csrkit
