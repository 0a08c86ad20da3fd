#include "tools/info/info_report.h"

#include <gtest/gtest.h>

#include <string>

#include "core/file/csr_file.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tools/cli/report.h"

namespace csrkit {
namespace {

std::size_t length_with_provenance(const std::string& provenance) {
  const ScratchFolder folder;
  const std::string path = folder / "provenance.csr";
  CsrFile file;
  file.provenance = provenance;
  write_csr_file(path, file);
  InfoToolOptions options;
  options.input = path;
  options.mode = InfoMode::provenance;
  Report report;
  report_info(report, options);
  return report.text().size();
}

TEST(InfoReport, IndentationDoesNotMultiplyAProvenance) {
  std::string deep = "{\"steps\":" + std::string(60, '[') + "0";
  const std::string end = std::string(60, ']') + "}";
  EXPECT_GT(length_with_provenance(deep + end), 1000u);  // a short one is made readable
  for (int i = 0; i < 600000; ++i) deep += ",0";
  deep += end;
  EXPECT_LE(length_with_provenance(deep), deep.size() + 64);
}

}  // namespace
}  // namespace csrkit
