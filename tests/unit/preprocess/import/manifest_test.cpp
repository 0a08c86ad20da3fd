// Every file of a collection against its manifest: shape, entries, symmetry and row lengths, or the
// refusal. The repository holds a small collection; CSRKIT_DATA_DIR may name a larger one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "preprocess/import/import.h"

namespace csrkit {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> read_manifest(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = i < cells.size() ? cells[i] : "";
    rows.push_back(row);
  }
  return rows;
}

struct Profile {
  Offset row_min = 0, row_max = 0, empty_rows = 0;
  double row_mean = 0;
  Offset mirrored = 0;  // entries whose mirror image is stored too, the diagonal's included
};

Profile profile_of(const CsrMatrix& matrix) {
  Profile profile;
  const Index rows = matrix.rows();
  profile.row_min = rows > 0 ? matrix.row_length(0) : 0;
  for (Index row = 0; row < rows; ++row) {
    const Offset length = matrix.row_length(row);
    profile.row_min = std::min(profile.row_min, length);
    profile.row_max = std::max(profile.row_max, length);
    profile.empty_rows += length == 0;
  }
  profile.row_mean = rows > 0 ? static_cast<double>(matrix.nnz()) / rows : 0;
  if (matrix.rows() != matrix.cols()) return profile;
  for (Index row = 0; row < rows; ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const Index col = matrix.col_indices()[at];
      profile.mirrored +=
          std::binary_search(matrix.col_indices() + matrix.row_offsets()[col],
                             matrix.col_indices() + matrix.row_offsets()[col + 1], row);
    }
  }
  return profile;
}

std::string decimals(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

void expect_symmetry(const std::string& claim, const CsrMatrix& matrix, const Profile& profile) {
  const bool is_symmetric = matrix.rows() == matrix.cols() && profile.mirrored == matrix.nnz();
  if (claim == "yes" || claim == "pattern") {
    EXPECT_TRUE(is_symmetric);
  } else if (claim == "no") {
    EXPECT_FALSE(is_symmetric);
  } else {
    ASSERT_GT(matrix.nnz(), 0);
    EXPECT_EQ(
        "no(" +
            decimals(static_cast<double>(profile.mirrored) / static_cast<double>(matrix.nnz())) +
            ")",
        claim);
  }
}

void check_file(const std::string& folder, const Row& row) {
  std::string file = row.at("file");
  const std::string& note = row.at("note");
  if (note.find("refused") != std::string::npos) {
    try {
      import_matrix(folder + "/" + file);
      ADD_FAILURE() << "was accepted, although: " << note;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(folder + "/" + file + ":", 0), 0u) << error.what();
    }
    return;
  }
  const std::string edges = "/raw/edge.csv.gz";
  if (ends_with(file, edges)) {
    file.erase(file.size() - edges.size());
  } else if (row.at("rows").empty() && row.at("kind") != "malformed") {
    return;  // a part of another row's folder
  }
  const ImportResult result = import_matrix(folder + "/" + file);
  const CsrMatrix& matrix = result.matrix;
  ASSERT_FALSE(result.inputs.empty());
  EXPECT_EQ(result.inputs[0].xxh3_128.size(), 32u);
  if (row.at("rows").empty()) return;
  const Profile profile = profile_of(matrix);
  EXPECT_EQ(std::to_string(matrix.rows()), row.at("rows"));
  EXPECT_EQ(std::to_string(matrix.cols()), row.at("cols"));
  EXPECT_EQ(std::to_string(matrix.nnz()), row.at("nnz"));
  EXPECT_EQ(std::to_string(profile.row_min), row.at("row_min"));
  EXPECT_EQ(std::to_string(profile.row_max), row.at("row_max"));
  EXPECT_EQ(decimals(profile.row_mean), row.at("row_mean"));
  EXPECT_EQ(std::to_string(profile.empty_rows), row.at("empty_rows"));
  expect_symmetry(row.at("symmetric"), matrix, profile);
}

void check_collection(const std::string& folder) {
  const std::vector<Row> rows = read_manifest(folder + "/MANIFEST.tsv");
  ASSERT_FALSE(rows.empty()) << folder << " has no MANIFEST.tsv";
  for (const Row& row : rows) {
    SCOPED_TRACE(row.at("file"));
    try {
      check_file(folder, row);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Manifest, SmallCollection) { check_collection(CSRKIT_SOURCE_DIR "/tests/data/import"); }

TEST(Manifest, LargeCollection) {
  const char* folder = std::getenv("CSRKIT_DATA_DIR");
  if (folder == nullptr)
    GTEST_SKIP() << "CSRKIT_DATA_DIR does not name a folder with a MANIFEST.tsv";
  check_collection(folder);
}

}  // namespace
}  // namespace csrkit
