#include <gtest/gtest.h>

#include <cstdint>

#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/import/small_npz.h"
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
  EXPECT_NE(refusal().find("num-node-list.csv:2: expected one graph"), std::string::npos);
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "many\n");
  EXPECT_NE(refusal().find("expected a number, found 'many'"), std::string::npos);
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "");
  EXPECT_NE(refusal(), "");
  scratch.write("ogbl_ddi/raw/num-node-list.csv", "4\n");
  for (const char* count : {"4\n", "6\n"}) {
    scratch.write("ogbl_ddi/raw/num-edge-list.csv", count);
    EXPECT_NE(refusal().find("edge.csv"), std::string::npos) << count;
  }
  std::filesystem::remove(scratch / "ogbl_ddi/raw/edge.csv");
  EXPECT_NE(refusal().find("expected edge.csv.gz"), std::string::npos);
  std::filesystem::remove_all(scratch / "ogbl_ddi/raw");
  EXPECT_NE(refusal(), "");
}

TEST(ImportOgb, ReadsTheBinaryLayout) {
  const ScratchFolder scratch;
  scratch.write("arxiv/raw/RELEASE_v1.txt", "");
  using I8 = std::vector<std::int64_t>;
  SmallNpz(scratch / "arxiv/raw/data.npz")
      .add("edge_index", "<i8", I8{2, 0, 1, 0, 1, 2}, {2, 3})
      .add("num_nodes_list", "<i8", I8{3})
      .add("num_edges_list", "<i8", I8{3})
      .finish();
  EXPECT_TRUE(identical(import_matrix(scratch / "arxiv").matrix,
                        matrix_of(3, 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, ValueKind::none)));
}

}  // namespace
}  // namespace csrkit
