#include "preprocess/export/export.h"

#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "preprocess/export/export_format.h"

namespace csrkit {

namespace {

const std::vector<FormatWriter>& writers() {
  using namespace parameter;
  static const std::vector<FormatWriter> all = {
#define CSRKIT_EXPORT_FORMAT(stem, ...) {{__VA_ARGS__}, &loss_##stem, &write_##stem},
#include "preprocess/export/formats.inc"
#undef CSRKIT_EXPORT_FORMAT
  };
  return all;
}

const FormatWriter& find_writer(const std::string& path, const std::string& name) {
  std::string known;
  const std::string lower_path = lower_case(path);
  for (const FormatWriter& writer : writers()) {
    const bool is_meant = name == "auto" ? ends_with(lower_path, writer.format.extension)
                                         : name == writer.format.name;
    if (is_meant) return writer;
    append_item(known, std::string(writer.format.name) + " (" + writer.format.extension + ")");
  }
  if (name == "auto") {
    throw UsageError(path +
                     ": the name's ending does not say which format to write; say --format, " +
                     "or choose an ending: " + known);
  }
  throw UsageError("there is no export format called '" + name + "'; there are " + known +
                   did_you_mean(name, known));
}

}  // namespace

std::string export_matrix(const std::string& path, const CsrMatrix& matrix,
                          const ExportOptions& options) {
  const FormatWriter& writer = find_writer(path, options.format);
  const Parameters parameters = parameters_of(export_formats(), writer.format, options.parameters);
  std::string loss;
  try {
    loss = writer.loss(matrix, parameters);
  } catch (const UsageError& error) {
    throw UsageError(path + ": " + error.what());
  }
  if (!loss.empty() && !options.allow_loss) {
    throw UsageError(path + ": " + writer.format.name + " cannot hold all of this matrix. Lost " +
                     "would be: " + loss + ". Say --lossy if that is intended");
  }
  writer.write(path, matrix, {parameters, options.progress});
  return loss;
}

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats = [] {
    std::vector<ExportFormat> rows;
    for (const FormatWriter& writer : writers()) rows.push_back(writer.format);
    return rows;
  }();
  return formats;
}

}  // namespace csrkit
