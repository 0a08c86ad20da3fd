#include "tools/info/matrix_facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/measured_flags.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(MatrixFacts, SymmetryInWords) {
  EXPECT_EQ(symmetry_text(measured_flags(pattern_of(2, {{0, 1}, {0}})), true), "yes");
  EXPECT_EQ(symmetry_text(measured_flags(pattern_of(2, {{1}, {}})), true), "no");
  EXPECT_EQ(symmetry_text(measured_flags(pattern_of(3, {{1}, {0}})), false), "no (not square)");
  CsrFlags flags;
  flags.is_pattern_symmetric = true;
  EXPECT_EQ(symmetry_text(flags, true), "pattern only");
}

TEST(MatrixFacts, APartitionSaysWhatItCuts) {
  // Two parts of two rows; the entries (0, 2) and (3, 1) cross, each part needs one foreign column.
  const CsrMatrix matrix = pattern_of(4, {{0, 2}, {1}, {2}, {1, 3}});
  const Index parts[] = {0, 0, 1, 1};
  const Offset borders[] = {2, 1, 1};
  Partition partition;
  partition.parts = 2;
  partition.part_of_row = std::make_shared<const Buffer<Index>>(Buffer<Index>::copy_of(parts, 4));
  partition.borders = std::make_shared<const Buffer<Offset>>(Buffer<Offset>::copy_of(borders, 3));
  Report report;
  add_partition(report, partition, matrix);
  const Json json = Json::parse(report.json());
  EXPECT_EQ(json["parts"], 2);
  EXPECT_EQ(json["balance"], 1.0);
  EXPECT_EQ(json["cut_entries"], 2);
  EXPECT_EQ(json["halo_sum"], 2);
  EXPECT_EQ(json["halo_largest"], 1);
  EXPECT_NE(report.text().find("2 (33.3 %)"), std::string::npos) << report.text();
}

TEST(MatrixFacts, HistogramOfRowLengths) {
  RowLengthProfile profile;
  profile.rows_by_log2 = {1, 80, 0, 2};  // lengths 0, 1, 2-3, 4-7
  const std::string text = row_length_histogram(profile);
  EXPECT_NE(text.find("         0     1  #\n"), std::string::npos) << text;
  EXPECT_NE(text.find(std::string(40, '#') + "\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(std::string(41, '#')), std::string::npos) << text;
  EXPECT_NE(text.find("       4-7     2  #\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace csrkit
