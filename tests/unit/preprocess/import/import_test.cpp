#include "preprocess/import/import.h"

#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

TEST(Import, UnknownContentListsTheFormats) {
  const std::string message = refusal_of("PDF-1.7 and so on\n");
  EXPECT_NE(message.find("--format (matrix-market, "), std::string::npos) << message;
  EXPECT_NE(refusal_of("").find("found an empty file"), std::string::npos);
}

TEST(Import, UnknownFormatIsAUsageError) {
  ImportOptions options;
  options.format = "mtx";
  EXPECT_REFUSAL("usage: there is no import format called 'mtx'; there are auto, matrix-market,",
                 "0 1\n", options);
  const std::string by_ending = refusal_of("0 1\n", options);
  EXPECT_NE(by_ending.find("; did you mean 'matrix-market'?"), std::string::npos) << by_ending;
  options.format = "gapsb";
  const std::string by_slip = refusal_of("0 1\n", options);
  EXPECT_NE(by_slip.find("; did you mean 'gapbs'?"), std::string::npos) << by_slip;
}

TEST(Import, ParametersOfOtherFormatsAreRefused) {
  const std::string text = "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n";
  ImportOptions options;
  for (const ImportFormat& format : import_formats()) {
    for (const Parameter& parameter : format.parameters) {
      const std::string name = parameter.name;
      options.parameters = {{name, parameter.words.empty() ? "3" : parameter.words[0]}};
      EXPECT_REFUSAL("usage: '" + name + "' is a parameter of " +
                         owners_of(import_formats(), name) + ", not of matrix-market",
                     text, options);
    }
  }
  EXPECT_EQ(owners_of(import_formats(), "rows"), "npz, zip, edge-index, graph-dump, edge-list");
  options.parameters = {{"color", "red"}};
  EXPECT_REFUSAL("usage: matrix-market has no parameter 'color'", text, options);
  options.format = "edge-list";
  options.parameters = {{"base", "2"}};
  EXPECT_REFUSAL("usage: edge-list: base is '2'; it must be 0 or 1", "0 1\n", options);
}

TEST(Import, MissingFilesAndPipesAreIoErrors) {
  EXPECT_THROW(import_matrix("/nonexistent/file.mtx"), IoError);
  EXPECT_THROW(import_matrix("/dev/null"), IoError);
}

TEST(Import, WarnsOfValuesThatBecomeZero) {
  const auto warning_of = [](const std::string& text, const std::string& kind, Offset count) {
    ImportOptions options;
    options.value_kind = kind;
    const ImportResult result = import_text(text, options);
    EXPECT_EQ(result.underflow.count, count);
    EXPECT_EQ(result.warnings.size(), count > 0 ? 1u : 0u);
    return result.warnings.empty() ? "" : result.warnings[0];
  };
  const std::string banner = "%%MatrixMarket matrix coordinate real ";
  const std::string market = banner + "general\n2 2 3\n1 1 1\n1 2 1e-50\n\n2 2 -1e-400\n";
  EXPECT_EQ(warning_of(market, "f32", 2),
            "2 values too small for f32, the first \"1e-50\" in line 4; they become 0: a wider "
            "--value-kind keeps them");
  EXPECT_EQ(warning_of(market, "auto", 1),
            "1 value too small for f64, the first \"-1e-400\" in line 6; they become 0: no kind "
            "here is wider, scale the values before");
  warning_of(market, "none", 0);
  // Skew-symmetric values are read as f64, so both steps may lose some.
  const std::string skew = banner + "skew-symmetric\n3 3 2\n2 1 1e-50\n3 1 1e-400\n";
  EXPECT_EQ(warning_of(skew, "f32", 3),
            "3 values too small for f32, the first \"1e-400\" in line 4; they become 0: a wider "
            "--value-kind keeps them");
  warning_of(skew, "none", 0);
  EXPECT_NE(warning_of("0 1 1\n1 0 1e-9\n", "f16", 1).find("\"1e-9\" in line 2"),
            std::string::npos);
}

TEST(Import, NamesItsInputWithADigest) {
  const ScratchFile file("0 1\n");
  const ImportResult result = import_matrix(file.path());
  ASSERT_EQ(result.inputs.size(), 1u);
  EXPECT_EQ(result.inputs[0].path, file.path());
  EXPECT_EQ(result.inputs[0].size_bytes, 4u);
  EXPECT_EQ(result.inputs[0].xxh3_128.size(), 32u);
  const ScratchFile other("0 2\n");
  EXPECT_NE(import_matrix(other.path()).inputs[0].xxh3_128, result.inputs[0].xxh3_128);
}

TEST(Import, FewEntriesDoNotMakeBillionsOfRows) {
  const std::string market = "%%MatrixMarket matrix coordinate pattern general\n";
  for (const std::string& text :
       {std::string("0 2147483000\n"), std::string("2147483000 0\n"), std::string("0 9000000\n"),
        market + "2147483647 1 1\n1 1\n", market + "9000000 1 0\n"}) {
    EXPECT_NE(refusal_of(text).find("; if that is meant, raise --max-expansion"), std::string::npos)
        << text;
  }
  // Below 64 MiB nothing is refused, and what is asked for is made.
  EXPECT_EQ(import_text("0 8000000\n").matrix.rows(), 8000001);
  EXPECT_EQ(import_text(market + "1 2147483647 1\n1 1\n").matrix.rows(), 1);
  ImportOptions generous;
  generous.limits.expansion = 100000000;
  EXPECT_EQ(import_text("0 9000000\n", generous).matrix.rows(), 9000001);
  // The number that is named is enough, and none below it; of a matrix without entries as well.
  const auto named = [&](const std::string& text, std::uint64_t enough) {
    ImportOptions options;
    options.limits.expansion = enough - 1;
    const std::string refusal = refusal_of(text, options);
    EXPECT_NE(refusal.find("raise --max-expansion to " + std::to_string(enough)), std::string::npos)
        << refusal;
    options.limits.expansion = enough;
    return import_text(text, options).matrix.rows();
  };
  EXPECT_EQ(named("0 9000000\n", 611394), 9000001);
  EXPECT_EQ(named(market + "9000000 1 0\n", 1222786), 9000000);
}

TEST(Import, EveryFormatHasANameAndASummary) {
  ASSERT_FALSE(import_formats().empty());
  for (const ImportFormat& format : import_formats()) {
    EXPECT_GT(std::string(format.name).size(), 2u);
    EXPECT_GT(std::string(format.summary).size(), 10u);
  }
}

}  // namespace
}  // namespace csrkit
