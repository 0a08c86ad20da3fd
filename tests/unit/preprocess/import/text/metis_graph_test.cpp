#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

ImportOptions forced() {
  ImportOptions options;
  options.format = "metis-graph";
  return options;
}

TEST(MetisGraph, PathOfThreeVertices) {
  const ImportResult result = import_text("% a path\n3 2\n2\n1 3\n 2 \n");
  EXPECT_EQ(result.format, "metis-graph");
  EXPECT_EQ(text_of(result.matrix), "3x3: 0,1 1,0 1,2 2,1");
  EXPECT_EQ(result.entries_read, 4);
  EXPECT_TRUE(result.is_symmetric_by_format);
}

TEST(MetisGraph, IsolatedVerticesAreBlankLines) {
  EXPECT_EQ(text_of(import_text("4 1\n\n4\n% c\n\n2\n").matrix), "4x4: 1,3 3,1");
  EXPECT_EQ(text_of(import_text("4 1\r\n2\r\n1\r\n\r\n\r\n\r\n").matrix), "4x4: 0,1 1,0");
  const ImportResult cut = import_text("4 1\n2\n1\n", forced());
  EXPECT_EQ(text_of(cut.matrix), "4x4: 0,1 1,0");
  EXPECT_EQ(cut.notes.count("missing lines"), 1u);
}

TEST(MetisGraph, Weights) {
  EXPECT_EQ(text_of(import_text("2 1 1\n2 7\n1 7\n").matrix), "2x2: 0,1=7 1,0=7");
  EXPECT_EQ(text_of(import_text("2 1 10\n9 2\n8 1\n").matrix), "2x2: 0,1 1,0");
  EXPECT_EQ(text_of(import_text("2 1 011 2\n9 9 2 7\n8 8 1 7\n").matrix), "2x2: 0,1=7 1,0=7");
  EXPECT_EQ(text_of(import_text("2 1 111 1\n5 9 2 7\n5 8 1 7\n").matrix), "2x2: 0,1=7 1,0=7");
  EXPECT_EQ(text_of(import_text("2 1 100\n5 2\n5 1\n").matrix), "2x2: 0,1 1,0");
}

TEST(MetisGraph, WarnsOfWeightsThatBecomeZero) {
  ImportOptions options = forced();
  const auto warning_of = [&](const std::string& weight) {
    const ImportResult result = import_text("2 1 1\n2 " + weight + "\n1 " + weight + "\n", options);
    return result.warnings.empty() ? "" : result.warnings[0];
  };
  EXPECT_EQ(warning_of("0.0"), "");
  EXPECT_EQ(warning_of("1e-400"),
            "2 values too small for f64, the first \"1e-400\" in line 2; they become 0: no kind "
            "here is wider, scale the values before");
  options.value_kind = "bf16";
  EXPECT_EQ(warning_of("1e-50"),
            "2 values too small for bf16, the first 1e-50 in row 0, column 1 (counted from 0); "
            "they become 0: a wider --value-kind keeps them");
  options.value_kind = "none";
  EXPECT_EQ(warning_of("1e-400"), "");
}

TEST(MetisGraph, ATriangleIsNotAnEdgeList) {
  const ImportResult result = import_text("3 3\n2 3\n1 3\n1 2\n");
  EXPECT_EQ(result.format, "metis-graph");
  EXPECT_EQ(result.matrix.nnz(), 6);
  EXPECT_EQ(import_text("3 4\n2 3\n1 3\n1 2\n").format, "edge-list");
}

std::string format_of(const std::string& content, const std::string& ending) {
  const ScratchFile file(content, ending);
  try {
    return import_matrix(file.path()).format;
  } catch (const InputError& error) {
    return error.what();
  }
}

// The reader takes all of these, but only the name tells them from a list of edges.
TEST(MetisGraph, IsWhatItsNameSays) {
  std::string ring = "20000 20000\n";
  for (int vertex = 0; vertex < 20000; ++vertex) {
    ring += std::to_string((vertex + 19999) % 20000 + 1) + " " +
            std::to_string((vertex + 1) % 20000 + 1) + "\n";
  }
  ASSERT_GT(ring.size(), std::size_t{1} << 17);  // more than detection looks at
  for (const std::string& content : {std::string("0 0\n"), std::string("4 1\n2\n1\n"),
                                     std::string("2 1 1\n2 0.5\n1 0.5\n"), ring}) {
    EXPECT_EQ(format_of(content, ".graph"), "metis-graph") << content.substr(0, 40);
    EXPECT_NE(format_of(content, ".txt"), "metis-graph") << content.substr(0, 40);
  }
  for (const char* content : {"1 2\n2 3\n", "3 5\n2\n1 3\n2\n", "3 2\n1.5\n2\n3\n"}) {
    const std::string refusal = format_of(content, ".graph");
    EXPECT_NE(refusal.find("(--format=metis-graph says what does not agree)"), refusal.npos)
        << refusal;
  }
}

TEST(MetisGraph, Refuses) {
  EXPECT_REFUSAL("1: expected \"vertices edges", "3\n", forced());
  EXPECT_REFUSAL("1: expected a format of three digits", "3 2 12\n2\n1 3\n2\n", forced());
  EXPECT_REFUSAL("1: expected 99999999999 edges as the header says, found",
                 "3 99999999999\n2\n1 3\n2\n", forced());
  EXPECT_REFUSAL("3: expected a neighbour of vertex 2 from 1 to 3, found \"4\"", "3 2\n2\n1 4\n2\n",
                 forced());
  EXPECT_REFUSAL("3: expected a neighbour of vertex 2 from 1 to 3, found \"0\"", "3 2\n2\n1 0\n2\n",
                 forced());
  EXPECT_REFUSAL("3: expected a neighbour of vertex 2 from 1 to 3, found \"1.5\"",
                 "3 2\n2\n1.5\n2\n", forced());
  EXPECT_REFUSAL("3: expected neighbours of vertex 2 other than itself", "3 2\n2\n1 2\n2\n",
                 forced());
  EXPECT_REFUSAL("5: expected 3 lines of vertices", "3 2\n2\n1 3\n2\n1\n", forced());
  EXPECT_REFUSAL("5: expected every one of the 3 edges", "3 3\n2\n1 3\n2     \n", forced());
  EXPECT_REFUSAL("2: expected an edge's weight of vertex 1, found the end of the line",
                 "2 1 1\n2\n1 7\n", forced());
  EXPECT_REFUSAL(
      "2: expected every edge in the lines of both its vertices, found vertex 3 as a neighbour of "
      "vertex 1",
      "3 2\n2 3\n1\n2\n", forced());
  EXPECT_REFUSAL(
      "4: expected every edge in the lines of both its vertices, found vertex 1 as a neighbour of "
      "vertex 3",
      "3 2\n2\n1\n1 2\n", forced());
  EXPECT_REFUSAL(
      "2: expected every edge in the lines of both its vertices, found vertex 4 as a neighbour of "
      "vertex 1",
      "4 2\n2 4\n1 3\n\n\n", forced());
}

TEST(MetisGraph, NamesTheLinesOfWeightsThatDiffer) {
  EXPECT_REFUSAL(
      "2: expected the same weight for an edge in the lines of both its vertices, found 7 from "
      "vertex 1 to vertex 2 and 8 back (line 3); ",
      "2 1 1\n2 7\n1 8\n", forced());
  // Comments and vertices without neighbours have lines, too; numbers that differ look different.
  EXPECT_REFUSAL(
      "6: expected the same weight for an edge in the lines of both its vertices, found 1 from "
      "vertex 3 to vertex 4 and 1.0000000000000002 back (line 8); ",
      "% a graph\n\n4 1 1\n\n\n4 1\n% the last one\n3 1.0000000000000002\n", forced());
}

}  // namespace
}  // namespace csrkit
