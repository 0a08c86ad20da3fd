#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

TEST(Smtx, IsToldFromAListOfEdges) {
  const ImportResult result = import_text("3, 4, 3\n0 2 2 3\n3 1 2\n");
  EXPECT_EQ(result.format, "smtx");
  EXPECT_EQ(text_of(result.matrix), "3x4: 0,1 0,3 2,2");
  EXPECT_EQ(import_text("3, 4, 3\r\n0 2 2 3 \r\n3 1 2").format, "smtx");
  EXPECT_EQ(text_of(import_text("1,1,0\n0 0\n\n").matrix), "1x1:");
  EXPECT_EQ(import_text("3, 4, 3\n0, 2, 2\n").format, "edge-list");
  EXPECT_EQ(import_text("3, 4, 3\n0 2 2\n").format, "edge-list");
}

TEST(Smtx, WarnsOfALastColumnThatMayBeCut) {
  EXPECT_EQ(import_text("3, 40, 3\n0 2 2 3\n3 1 2").warnings.size(), 1u);
  EXPECT_EQ(import_text("3, 40, 3\n0 2 2 3\n3 1 2\n").warnings.size(), 0u);
  EXPECT_EQ(import_text("3, 40, 3\n0 2 2 3\n3 1 12").warnings.size(), 0u);
}

TEST(Smtx, RefusesByLine) {
  ImportOptions options;
  options.format = "smtx";
  EXPECT_REFUSAL("2: expected 4 row offsets, found 3", "3, 4, 3\n0 2 2\n3 1 2\n", options);
  EXPECT_REFUSAL("3: expected 3 columns, found 2", "3, 4, 3\n0 2 2 3\n3 1\n", options);
  EXPECT_REFUSAL("3: expected 3 columns, found 4", "3, 4, 3\n0 2 2 3\n3 1 2 0\n", options);
  EXPECT_REFUSAL("3: expected columns, found \"x\"", "3, 4, 3\n0 2 2 3\n3 x 2\n", options);
  EXPECT_REFUSAL("3: expected columns, found \"-1\"", "3, 4, 3\n0 2 2 3\n3 -1 2\n", options);
  EXPECT_REFUSAL("1: expected \"rows, columns, nonzeros\"", "3 4 3\n0 2 2 3\n3 1 2\n", options);
  EXPECT_REFUSAL("1: expected \"rows, columns, nonzeros\"", "3, 4, 9999999999\n0\n", options);
  EXPECT_REFUSAL("2: expected 2000000001 row offsets, found 1", "2000000000, 4, 3\n0\n", options);
  EXPECT_REFUSAL(" expected columns from 0 to 3, found 4", "3, 4, 3\n0 2 2 3\n4 1 2\n", options);
  EXPECT_REFUSAL("1: expected", "", options);
}

}  // namespace
}  // namespace csrkit
