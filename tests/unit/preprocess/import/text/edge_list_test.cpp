#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

ImportOptions with_base(int base) {
  ImportOptions options;
  options.parameters["base"] = std::to_string(base);
  return options;
}

ImportOptions with_sizes(Index rows, Index cols) {
  ImportOptions options;
  options.format = "edge-list";
  if (rows > 0) options.parameters["rows"] = std::to_string(rows);
  if (cols > 0) options.parameters["cols"] = std::to_string(cols);
  return options;
}

TEST(EdgeList, SeparatorsAndComments) {
  const std::string expected = "4x4: 0,1 0,3 2,0";
  for (const char* text :
       {"0 1\n0 3\n2 0\n", "0\t1\n0\t3\n2\t0", "0,1\n0,3\n2,0\n", "0;1\r\n0;3\r\n2;0\r\n",
        "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n0\t3\n2\t0\n",
        "% sym unweighted\n0 1\n\n// note\n0 3\n#\n 2 , 0 \n", "source,target\n0,1\n0,3\n2,0\n",
        "# first\n\"id_1\",\"id_2\"\n0,1\n0,3\n2,0\n"}) {
    const ImportResult result = import_text(text);
    EXPECT_EQ(result.format, "edge-list") << text;
    EXPECT_EQ(text_of(result.matrix), expected) << text;
  }
}

TEST(EdgeList, Weights) {
  EXPECT_EQ(text_of(import_text("0 1 0.5\n1 0 -2\n").matrix), "2x2: 0,1=0.5 1,0=-2");
  EXPECT_EQ(text_of(import_text("src,dst,weight\n0,1,0.5\n1,0,-2\n").matrix),
            "2x2: 0,1=0.5 1,0=-2");
  ImportOptions options;
  options.value_kind = "none";
  EXPECT_EQ(text_of(import_text("0 1 0.5\n1 0 -2\n", options).matrix), "2x2: 0,1 1,0");
  options.value_kind = "f32";
  EXPECT_EQ(text_of(import_text("0 1\n", options).matrix), "2x2: 0,1=1");
}

TEST(EdgeList, TheBaseIsAskedFor) {
  EXPECT_EQ(text_of(import_text("1 2\n2 1\n", with_base(1)).matrix), "2x2: 0,1 1,0");
  EXPECT_REFUSAL("1: expected an id from 1 to 2147483647, found \"0\"; if ids start at 0", "0 2\n",
                 with_base(1));
  EXPECT_REFUSAL("usage: edge-list: base is '2'; it must be 0 or 1", "1 2\n", with_base(2));
  // An empty node 0 is what was asked for, but seldom what was meant.
  const ImportResult kept = import_text("1 2\n2 1\n", with_base(0));
  EXPECT_EQ(text_of(kept.matrix), "3x3: 1,2 2,1");
  ASSERT_EQ(kept.warnings.size(), 1u);
  EXPECT_NE(kept.warnings[0].find("say --base 1"), std::string::npos) << kept.warnings[0];
  EXPECT_TRUE(import_text("0 2\n2 1\n", with_base(0)).warnings.empty());
  EXPECT_TRUE(import_text("1 2\n2 1\n", with_base(1)).warnings.empty());
}

TEST(EdgeList, TheBaseIsDecidedByTheIds) {
  const ImportResult from_one = import_text("3 2\n2 1\n");
  EXPECT_EQ(text_of(from_one.matrix), "3x3: 1,0 2,1");
  EXPECT_EQ(from_one.notes.at("base").substr(0, 3), "1, ");
  EXPECT_TRUE(from_one.warnings.empty());
  // Any 0, in either column, is a node; ids from 2 on say nothing.
  EXPECT_EQ(text_of(import_text("1 2\n2 0\n").matrix), "3x3: 1,2 2,0");
  EXPECT_EQ(import_text("1 2\n2 0\n").notes.at("base"), "0");
  EXPECT_EQ(text_of(import_text("2 3\n").matrix), "4x4: 2,3");
  EXPECT_EQ(text_of(import_text("1 2 0.5\n2 1 4\n").matrix), "2x2: 0,1=0.5 1,0=4");
  // With sizes, an id as large as one of them is the last of a list from 1.
  EXPECT_EQ(text_of(import_text("2 3\n", with_sizes(3, 3)).matrix), "3x3: 1,2");
  EXPECT_EQ(text_of(import_text("2 2\n", with_sizes(3, 3)).matrix), "3x3: 2,2");
  EXPECT_EQ(text_of(import_text("1 2\n", with_sizes(5, 0)).matrix), "5x2: 0,1");
  EXPECT_REFUSAL("2: expected a row number from 0 to 2, found \"3\"", "0 1\n3 1\n",
                 with_sizes(3, 3));
  EXPECT_REFUSAL("1: expected a row number from 0 to 3, found \"4\"", "4 1\n", with_sizes(3, 3));
}

TEST(EdgeList, TheBaseIsNamedByAComment) {
  EXPECT_EQ(text_of(import_text("# 3 x 3 matrix; counted from 0\n1 2\n2 1\n").matrix),
            "3x3: 1,2 2,1");
  EXPECT_TRUE(import_text("# 3 x 3 matrix; counted from 0\n1 2\n2 1\n").warnings.empty());
  EXPECT_EQ(text_of(import_text("# counted from 1\n3 2\n").matrix), "3x3: 2,1");
  EXPECT_EQ(text_of(import_text("# counted from 1.\n3 2\n").matrix), "3x3: 2,1");
  EXPECT_REFUSAL("2: expected an id from 1 to", "# counted from 1\n0 2\n");
  // Other numbers that begin so.
  EXPECT_EQ(text_of(import_text("# links counted from 1998 on\n0 2\n").matrix), "3x3: 0,2");
  EXPECT_EQ(text_of(import_text("# scores counted from 0.5 up\n1 2\n").matrix), "2x2: 0,1");
}

TEST(EdgeList, SizesInTheFirstLineAreAWarning) {
  const auto warns = [](const std::string& text, const ImportOptions& options = {}) {
    const auto warnings = import_text(text, options).warnings;
    return !warnings.empty() &&
           warnings[0].find("the numbers of nodes and edges") != std::string::npos;
  };
  EXPECT_TRUE(warns("5 4\n0 1\n1 2\n2 3\n3 4\n"));
  EXPECT_TRUE(warns("# from 1\n5 6\n1 2\n1 3\n2 3\n2 4\n3 4\n4 5\n"));
  ImportOptions from_one;
  from_one.parameters["base"] = "1";
  EXPECT_TRUE(warns("5 4\n1 2\n2 3\n3 4\n4 5\n", from_one));
  EXPECT_FALSE(warns("5 3\n0 1\n1 2\n2 3\n3 4\n"));  // another number of edges
  EXPECT_FALSE(warns("5 4\n0 1\n1 2\n2 3\n3 6\n"));  // an id beyond
  EXPECT_FALSE(warns("4 3\n0 1\n1 2\n2 3\n"));       // of three edges it may be chance
  EXPECT_FALSE(warns("source,target\n0,1\n1,2\n2,3\n3,4\n"));
}

TEST(EdgeList, Sizes) {
  EXPECT_EQ(text_of(import_text("0 1\n", with_sizes(5, 7)).matrix), "5x7: 0,1");
  EXPECT_EQ(text_of(import_text("0 1\n", with_sizes(5, 0)).matrix), "5x2: 0,1");
  EXPECT_EQ(text_of(import_text("# none\n", with_sizes(5, 7)).matrix), "5x7:");
  EXPECT_REFUSAL("2: expected a row number from 0 to 4, found \"5\"", "0 1\n5 1\n",
                 with_sizes(5, 7));
}

TEST(EdgeList, ParallelEdgesAreAdded) {
  const ImportResult result = import_text("1 0\n0 1\n1 0\n");
  EXPECT_EQ(text_of(result.matrix), "2x2: 0,1 1,0");
  EXPECT_EQ(result.repairs.duplicates, 1);
  EXPECT_EQ(result.repairs.out_of_order, 1);
}

TEST(EdgeList, AByteOrderMarkIsNoText) {
  EXPECT_EQ(text_of(import_text("\xef\xbb\xbf"
                                "0 1\n1 0\n")
                        .matrix),
            "2x2: 0,1 1,0");
  EXPECT_EQ(text_of(import_text("\xef\xbb\xbf%%MatrixMarket matrix coordinate pattern general\n"
                                "2 2 1\n1 2\n",
                                {})
                        .matrix),
            "2x2: 0,1");
  EXPECT_REFUSAL("3: expected a row as a whole number",
                 "0 1\n1 0\n"
                 "\xef\xbb\xbf"
                 "1 1\n");
}

TEST(EdgeList, RefusesByLine) {
  EXPECT_REFUSAL("2: expected the line to end after 2 numbers, found \"3\"", "0 1\n1 2 3\n");
  EXPECT_REFUSAL("3: expected a number as the value, found the end of the line",
                 "# c\n0 1 5\n1 2\n");
  EXPECT_REFUSAL("2: expected a row as a whole number, found \"-1\"", "0 1\n-1 2\n");
  EXPECT_REFUSAL("2: expected a row as a whole number, found \"1.0\"", "0 1\n1.0 2\n");
  EXPECT_REFUSAL("2: expected a column as a whole number, found \"2.5\"", "0 1\n1 2.5\n");
  EXPECT_REFUSAL("2: expected a column as a whole number, found \",\"", "0,1\n1,,2\n");
  EXPECT_REFUSAL("2: expected a column as a whole number, found the end of the line", "0 1\n1\n");
  EXPECT_REFUSAL("2: expected an id from 0 to 2147483646, found \"2147483647\"; renumber",
                 "0 1\n2147483647 1\n");
  EXPECT_REFUSAL("1: expected a row as a whole number, found \"abc\"", "abc\n", with_sizes(5, 5));
  EXPECT_REFUSAL("2: expected a row as a whole number, found \"\\x00\"",
                 std::string("0 1\n\0 1\n", 8));
  EXPECT_REFUSAL(" expected at least one edge", "# nothing\n", with_sizes(0, 0));
}

TEST(EdgeList, WarnsOfALastNumberThatMayBeCut) {
  for (const char* text : {"0 1\n1 2", "0,1,5\n1,2,0.5", "0;1\n1;2", "0\t1\n1\t2"}) {
    EXPECT_EQ(import_text(text).warnings.size(), 1u) << text;
    EXPECT_EQ(import_text(text + std::string("\n")).warnings.size(), 0u) << text;
  }
  EXPECT_EQ(import_text("0 1\n1 2", with_sizes(9, 9)).warnings.size(), 0u);
  EXPECT_EQ(import_text("0 1\n1 0").warnings.size(), 0u);
  EXPECT_EQ(import_text("0 1\n1 2\n# 3 edges").warnings.size(), 0u);
}

TEST(EdgeList, ColumnNamesThatSayOtherwiseAreRefused) {
  EXPECT_REFUSAL("2: expected 2 columns, as many as have names, found 3; pandas writes its index",
                 ",source,target\n0,0,1\n1,1,2\n");
  EXPECT_REFUSAL("3: expected 2 columns", "\tsource\ttarget\n# note\n0\t0\t1\n");
  for (const char* names : {"target,source", "Weight,Source,Target", "id;src;dst",
                            "\"to\" \"from\"", "source,weight,target", "weight,to"}) {
    EXPECT_REFUSAL("1: expected the columns source, target and perhaps weight in this order",
                   std::string(names) + "\n0 1 2\n1 2 3\n");
  }
  for (const char* names : {"source,target", "source,target,weight", "FromNodeId ToNodeId",
                            "\"src\",\"dst\",\"w\"", "a b c", "from\tto\tsince"}) {
    const bool is_weighted =
        std::string(names).find_last_of(", \t") != std::string(names).find_first_of(", \t");
    const ImportResult result =
        import_text(std::string(names) + "\n" + (is_weighted ? "0 1 2\n1 2 3\n" : "0 1\n1 2\n"));
    EXPECT_EQ(result.matrix.nnz(), 2);
    EXPECT_EQ(result.notes.at("column names"), names);
  }
}

TEST(EdgeList, CommentsOfCollectionsSayWhatEdgesAre) {
  for (const char* comment :
       {"# Undirected graph: ../../data/output/dblp.ungraph.txt\n# Nodes: 3 Edges: 2",
        "# Undirected graph (each unordered pair of nodes is saved once): roads.txt",
        "% sym unweighted\n% 2 3 3"}) {
    const ImportResult result = import_text(std::string(comment) + "\n0 1\n1 2\n");
    EXPECT_EQ(result.matrix.nnz(), 2);
    EXPECT_NE(result.notes.at("direction").find("--symmetrize"), std::string::npos) << comment;
  }
  for (const char* comment :
       {"# Directed graph: web.txt\n% asym unweighted",
        "# Directed graph (each unordered pair of nodes is saved once): web-Google.txt"}) {
    const ImportResult directed = import_text(std::string(comment) + "\n0 1\n");
    EXPECT_EQ(directed.notes.count("direction"), 0u) << comment;
    EXPECT_EQ(directed.warnings.size(), 0u) << comment;
  }
  const ImportResult bipartite = import_text("% bip weighted\n1 1\n2 1\n");
  ASSERT_EQ(bipartite.warnings.size(), 1u);
  EXPECT_NE(bipartite.warnings[0].find("bipartite"), std::string::npos);
  EXPECT_EQ(import_text("% bip weighted\n1 1\n2 1\n", with_sizes(2, 1)).warnings.size(), 0u);
}

}  // namespace
}  // namespace csrkit
