#include <gtest/gtest.h>

#include <cstdint>

#include "core/base/input_file.h"
#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/import/numpy/small_npz.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

// Node 3 is isolated, (0, 2) is there twice, (1, 1) is a self loop.
void write_dataset(const ScratchFolder& scratch, const std::string& folder) {
  scratch.write(folder + "/raw/edge.csv", "2,0\n0,2\n1,1\n0,2\n0,1\n");
  scratch.write(folder + "/raw/num-node-list.csv", "4\n");
  scratch.write(folder + "/raw/num-edge-list.csv", "5\n");
}
const std::vector<double> kAsStored = {0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
const std::vector<double> kWithInverse = {0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};

TEST(ImportOgb, DoublesByTheNameOfTheDatasetInEverySpelling) {
  const ScratchFolder scratch;
  for (const char* name :
       {"proteins", "ogbn_products", "ogbl-ppa", "ppassoc", "collab", "ogbl_ddi", "OGBL-DDI"}) {
    write_dataset(scratch, name);
    const ImportResult result = import_matrix(scratch / name);
    EXPECT_EQ(result.format, "ogb");
    EXPECT_TRUE(identical(result.matrix, matrix_of(4, 4, kWithInverse, ValueKind::none))) << name;
    EXPECT_EQ(result.entries_read, 5);
    EXPECT_EQ(result.entries_mirrored, 4);
    EXPECT_EQ(result.repairs.out_of_order, 3);
  }
  for (const char* name :
       {"arxiv", "ogbn-arxiv", "citation-v2", "ogbl_citation2", "wikikg-v2", "ogbl_wikikg2"}) {
    write_dataset(scratch, name);
    EXPECT_TRUE(identical(import_matrix(scratch / name).matrix,
                          matrix_of(4, 4, kAsStored, ValueKind::none)))
        << name;
  }
}

TEST(ImportOgb, TakesTheRawFolderAndATrailingSlash) {
  const ScratchFolder scratch;
  write_dataset(scratch, "ogbl_ddi");
  for (const char* name : {"ogbl_ddi/raw", "ogbl_ddi/", "ogbl_ddi/raw/"}) {
    EXPECT_EQ(import_matrix(scratch / name).entries_mirrored, 4) << name;
  }
}

TEST(ImportOgb, TakesLinesAsWindowsEndsThem) {
  const ScratchFolder scratch;
  scratch.write("ogbn-arxiv/raw/edge.csv", "2,0\r\n0,2\r\n1,1\r\n0,2\r\n0,1\r\n");
  scratch.write("ogbn-arxiv/raw/num-node-list.csv", "4 \r\n\r\n");
  scratch.write("ogbn-arxiv/raw/num-edge-list.csv", "5\r\n");
  EXPECT_TRUE(identical(import_matrix(scratch / "ogbn-arxiv").matrix,
                        matrix_of(4, 4, kAsStored, ValueKind::none)));
}

TEST(ImportOgb, WarnsOfALastNodeThatMayBeCut) {
  const ScratchFolder scratch;
  scratch.write("ogbn-arxiv/raw/edge.csv", "0,2\n0,1");
  scratch.write("ogbn-arxiv/raw/num-node-list.csv", "40\n");
  scratch.write("ogbn-arxiv/raw/num-edge-list.csv", "2\n");
  const ImportResult result = import_matrix(scratch / "ogbn-arxiv");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("edge.csv: line 2, the last one, has no line end behind"),
            std::string::npos);
}

TEST(ImportOgb, AGraphWithoutNodesIsEmpty) {
  const ScratchFolder scratch;
  scratch.write("ogbn-arxiv/raw/edge.csv", "\n");
  scratch.write("ogbn-arxiv/raw/num-node-list.csv", "0\n");
  scratch.write("ogbn-arxiv/raw/num-edge-list.csv", "0\n");
  const CsrMatrix matrix = import_matrix(scratch / "ogbn-arxiv").matrix;
  EXPECT_EQ(matrix.rows(), 0);
  EXPECT_EQ(matrix.nnz(), 0);
}

TEST(ImportOgb, AsksWhereTheNameDoesNotSay) {
  const ScratchFolder scratch;
  write_dataset(scratch, "mine");
  const std::string question = message_of<UsageError>([&] { import_matrix(scratch / "mine"); });
  EXPECT_NE(question.find("--add-inverse"), std::string::npos) << question;
  ImportOptions options;
  options.parameters["add-inverse"] = "false";
  EXPECT_TRUE(identical(import_matrix(scratch / "mine", options).matrix,
                        matrix_of(4, 4, kAsStored, ValueKind::none)));
  options.parameters["add-inverse"] = "true";
  EXPECT_TRUE(identical(import_matrix(scratch / "mine", options).matrix,
                        matrix_of(4, 4, kWithInverse, ValueKind::none)));
}

TEST(ImportOgb, RefusesDamagedFolders) {
  const ScratchFolder scratch;
  ImportOptions options;
  options.format = "ogb";
  const auto refusal = [&] {
    return message_of<InputError>([&] { import_matrix(scratch / "ogbl_ddi", options); });
  };
  write_dataset(scratch, "ogbl_ddi");
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "2\n");
  EXPECT_NE(refusal().find("edge.csv:1:"), std::string::npos) << refusal();
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "4\n4\n");
  EXPECT_NE(refusal().find("expected as many counts of nodes as of edges, found 2 and 1"),
            std::string::npos)
      << refusal();
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "many\n");
  EXPECT_NE(refusal().find("num-node-list.csv:1: expected a number, found \"many\""),
            std::string::npos);
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "");
  EXPECT_NE(refusal(), "");
  std::filesystem::remove(scratch / "ogbl_ddi/raw/num-node-list.csv");
  EXPECT_NE(refusal().find("expected num-node-list.csv.gz there, found none"), std::string::npos)
      << refusal();
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "4\n");
  for (const char* count : {"4\n", "6\n"}) {
    scratch.write("ogbl_ddi/raw/num-edge-list.csv", count);
    EXPECT_NE(refusal().find("edge.csv"), std::string::npos) << count;
  }
  scratch.write("ogbl_ddi/raw/num-edge-list.csv", "5\n0\n");
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "2147483647\n1\n");
  EXPECT_NE(refusal().find("expected at most 2^31 - 1 nodes"), std::string::npos) << refusal();
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "2147483648\n0\n");
  EXPECT_NE(refusal().find("expected at most 2^31 - 1 nodes"), std::string::npos) << refusal();
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "0\n0\n");
  EXPECT_NE(refusal().find("expected nodes for 5 edges, found 0"), std::string::npos) << refusal();
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "4\n4\n");
  // No memory is taken for what cannot be there.
  for (const char* counts : {"999999999999999999\n999999999999999999\n", "99999999999\n0\n"}) {
    scratch.write("ogbl_ddi/raw/num-edge-list.csv", counts);
    EXPECT_NE(refusal().find("found only 5"), std::string::npos) << refusal();
  }
  scratch.write("ogbl_ddi/raw/num-edge-list.csv", std::string(20, '9') + "\n");
  EXPECT_NE(refusal().find("num-edge-list.csv:1: expected a number"), std::string::npos)
      << refusal();
  write_dataset(scratch, "ogbl_ddi");
  std::filesystem::remove(scratch / "ogbl_ddi/raw/edge.csv");
  EXPECT_NE(refusal().find("expected edge.csv.gz"), std::string::npos);
  std::filesystem::remove_all(scratch / "ogbl_ddi/raw");
  EXPECT_NE(refusal(), "");
}

using I8 = std::vector<std::int64_t>;

TEST(ImportOgb, ManyGraphsAreDiagonalBlocks) {
  const ScratchFolder scratch;
  scratch.write("ogbg_molhiv/raw/edge.csv", "0,1\n0,0\n1,2\n");
  scratch.write("ogbg_molhiv/raw/num-node-list.csv", "2\n1\n0\n3\n");
  scratch.write("ogbg_molhiv/raw/num-edge-list.csv", "1\n1\n0\n1\n");
  const ImportResult result = import_matrix(scratch / "ogbg_molhiv");
  EXPECT_TRUE(identical(result.matrix,
                        matrix_of(6, 6, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                  ValueKind::none)));
  EXPECT_EQ(result.notes.at("graphs").substr(0, 2), "4,");
  // An edge that is legal in another graph only.
  scratch.write("ogbg_molhiv/raw/edge.csv", "0,2\n0,0\n1,2\n");
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "ogbg_molhiv");
            }).find("edge 0: expected a node below 2 in graph 0, found 2"),
            std::string::npos);
  scratch.write("ogbg_molhiv/raw/num-edge-list.csv", "1\n9000000000000000000\n0\n1\n");
  EXPECT_NE(message_of<InputError>([&] { import_matrix(scratch / "ogbg_molhiv"); }), "");
}

TEST(ImportOgb, WeightsAreValuesAndParallelEdgesAdd) {
  const ScratchFolder scratch;
  scratch.write("collab/raw/edge.csv", "0,1\n0,1\n2,1\n");
  scratch.write("collab/raw/edge_weight.csv", "2\n0.5\n4\n");
  scratch.write("collab/raw/num-node-list.csv", "3\n");
  scratch.write("collab/raw/num-edge-list.csv", "3\n");
  scratch.write("collab/split/time/train.csv", "0\n1\n");
  scratch.write("collab/split/time/test.pt", "torch");
  const ImportResult result = import_matrix(scratch / "collab");
  EXPECT_TRUE(
      identical(result.matrix, matrix_of(3, 3, {0, 2.5, 0, 2.5, 0, 4, 0, 4, 0}, ValueKind::f64)));
  EXPECT_EQ(result.notes.at("split time"), "test.pt, train 2");
  EXPECT_EQ(result.notes.at("values"), "edge_weight");
  ImportOptions pattern;
  pattern.value_kind = "none";
  EXPECT_EQ(import_matrix(scratch / "collab", pattern).matrix.value_kind(), ValueKind::none);
  scratch.write("collab/raw/edge_weight.csv", "2\n1e-400\n4\n");
  const std::vector<std::string> warnings = import_matrix(scratch / "collab").warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].find("1 value too small for f64, the first \"1e-400\" in line 2 of "), 0u);
  EXPECT_NE(warnings[0].find("edge_weight.csv; they become 0"), std::string::npos) << warnings[0];
  scratch.write("collab/raw/edge_weight.csv", "2\n0.5\n");
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "collab");
            }).find("edge_weight.csv:3: expected 3 entries"),
            std::string::npos);
}

/// Two authors, three papers: every relation has its own shape.
void write_relations(const ScratchFolder& scratch) {
  scratch.write("mag/raw/num-node-dict.csv", "paper,author\n3,2\n");
  scratch.write("mag/raw/triplet-type-list.csv", "author,writes,paper\npaper,cites,paper\n");
  for (const char* relation : {"author___writes___paper", "paper___cites___paper"}) {
    const std::string folder = "mag/raw/relations/" + std::string(relation) + "/";
    scratch.write(folder + "edge.csv", "1,2\n0,0\n");
    scratch.write(folder + "num-edge-list.csv", "2\n");
  }
}

TEST(ImportOgb, RelationsHaveTheirOwnShape) {
  const ScratchFolder scratch;
  write_relations(scratch);
  const CsrMatrix writes = matrix_of(2, 3, {1, 0, 0, 0, 0, 1}, ValueKind::none);
  ImportOptions options;
  options.parameters["relation"] = "author___writes___paper";
  EXPECT_TRUE(identical(import_matrix(scratch / "mag", options).matrix, writes));
  // The folder of the relation, and the file in it, which is no list of edges from one set to
  // itself.
  for (const char* path :
       {"mag/raw/relations/author___writes___paper", "mag/raw/relations/author___writes___paper/",
        "mag/raw/relations/author___writes___paper/edge.csv"}) {
    EXPECT_TRUE(identical(import_matrix(scratch / path).matrix, writes)) << path;
  }
  options.parameters["relation"] = "all";
  const ImportResult all = import_matrix(scratch / "mag", options);
  EXPECT_TRUE(identical(all.matrix, matrix_of(5, 5, {0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1,
                                                     0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
                                              ValueKind::none)));
  EXPECT_EQ(all.notes.at("blocks"), "author from 0, paper from 2");
  EXPECT_EQ(all.notes.at("nodes"), "author 2, paper 3");
}

TEST(ImportOgb, RelationsAreAskedForAndChecked) {
  const ScratchFolder scratch;
  write_relations(scratch);
  const auto refusal = [&](const char* relation, const char* inverse) {
    ImportOptions options;
    options.parameters = {{"relation", relation}, {"add-inverse", inverse}};
    return message_of<UsageError>([&] { import_matrix(scratch / "mag", options); });
  };
  EXPECT_NE(refusal("auto", "false").find("author___writes___paper (2 x 3), paper___cites"),
            std::string::npos);
  EXPECT_NE(refusal("writes", "false").find("no relation 'writes'"), std::string::npos);
  EXPECT_NE(refusal("author___writes___paper", "true").find("one kind of nodes"),
            std::string::npos);
  write_dataset(scratch, "ddi");
  ImportOptions options;
  options.parameters["relation"] = "all";
  EXPECT_NE(message_of<UsageError>([&] { import_matrix(scratch / "ddi", options); }), "");
  const auto damage = [&](const char* file, const char* content) {
    const std::string path = scratch / file, before = content_of(path);
    scratch.write(file, content);
    const std::string message =
        message_of<InputError>([&] { import_matrix(scratch / "mag", options); });
    scratch.write(file, before);
    return message;
  };
  EXPECT_NE(damage("mag/raw/num-node-dict.csv", "paper,author\n3\n").find("expected 2 counts"),
            std::string::npos);
  EXPECT_NE(damage("mag/raw/num-node-dict.csv", "paper\n3\n").find("found \"author\""),
            std::string::npos);
  EXPECT_NE(damage("mag/raw/num-node-dict.csv", "paper,author\n3,2\n3,2\n").find(":3: "),
            std::string::npos);
  EXPECT_NE(damage("mag/raw/triplet-type-list.csv", "author,writes\n").find("head,relation,tail"),
            std::string::npos);
  // Two authors: a third one is refused, though there are three papers.
  EXPECT_NE(damage("mag/raw/relations/author___writes___paper/edge.csv", "2,0\n0,0\n")
                .find("edge.csv:1: expected a row number from 0 to 1"),
            std::string::npos);
  std::filesystem::remove(scratch / "mag/raw/relations/author___writes___paper/edge.csv");
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "mag", options);
            }).find("expected relations/author___writes___paper/edge.csv.gz there"),
            std::string::npos);
}

void write_data_npz(const ScratchFolder& scratch) {
  scratch.write("arxiv/raw/RELEASE_v1.txt", "");
  SmallNpz(scratch / "arxiv/raw/data.npz")
      .add("edge_index", "<i8", I8{2, 0, 1, 0, 1, 2}, {2, 3})
      .add("num_nodes_list", "<i8", I8{3})
      .add("num_edges_list", "<i8", I8{3})
      .finish();
}

TEST(ImportOgb, ReadsTheBinaryLayout) {
  const ScratchFolder scratch;
  write_data_npz(scratch);
  EXPECT_TRUE(identical(import_matrix(scratch / "arxiv").matrix,
                        matrix_of(3, 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, ValueKind::none)));
}

/// A zip archive with arxiv/raw/data.npz in it, and notes before and behind.
void pack(const std::string& zip, const std::string& npz) {
  ZipWriter writer(zip);
  for (const auto& [name, bytes] :
       {std::pair<std::string, std::string>{"arxiv/RELEASE_v1.txt", "one"},
        {"arxiv/raw/data.npz", npz},
        {"arxiv/split/time/train.csv", "0\n1\n"}}) {
    writer.begin_member(name, bytes.size());
    writer.write(bytes.data(), bytes.size());
  }
  writer.finish();
}

TEST(ImportOgb, ReadsTheBinaryLayoutInItsArchive) {
  const ScratchFolder scratch;
  write_data_npz(scratch);
  const std::string npz = read_whole_file(scratch / "arxiv/raw/data.npz", 1 << 20);
  pack(scratch / "arxiv.zip", npz);
  const ImportResult result = import_matrix(scratch / "arxiv.zip");
  EXPECT_TRUE(
      identical(result.matrix, matrix_of(3, 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, ValueKind::none)));
  EXPECT_EQ(result.notes.at("split time"), "train 2");
  ASSERT_EQ(result.inputs.size(), 1u);
  EXPECT_EQ(result.inputs[0].path, scratch / "arxiv.zip");
}

TEST(ImportOgb, ACutArchiveWithinAnArchiveIsRefusedAtEveryByte) {
  const ScratchFolder scratch;
  write_data_npz(scratch);
  const std::string npz = read_whole_file(scratch / "arxiv/raw/data.npz", 1 << 20);
  const std::size_t directory = npz.find("PK\x01\x02");  // what follows only says it again
  ASSERT_NE(directory, std::string::npos);
  for (std::size_t size = 0; size < directory; size += 7) {
    pack(scratch / "arxiv.zip", npz.substr(0, size));
    const std::string message =
        message_of<InputError>([&] { import_matrix(scratch / "arxiv.zip"); });
    EXPECT_NE(message.find("arxiv.zip(arxiv/raw/data.npz)"), std::string::npos)
        << size << ": " << message;
  }
}

}  // namespace
}  // namespace csrkit
