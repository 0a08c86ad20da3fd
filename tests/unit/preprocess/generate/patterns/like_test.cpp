// Stand-ins: published sizes, exact lengths, names as people write them.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "preprocess/generate/drawn_rows/row_length_model.h"
#include "tests/unit/preprocess/generate/generate_testing.h"

namespace csrkit {
namespace {

TEST(Like, EveryDatasetAtASmallScale) {
  for (const LikeDataset& dataset : like_datasets()) {
    const double scale = 0.002;
    const CsrMatrix a = make("like", {{"name", dataset.name}, {"scale", "0.002"}});
    validate(a, dataset.name);
    EXPECT_EQ(identical(a, transpose(a)) && a.rows() == a.cols(), dataset.is_symmetric)
        << dataset.name;
    const std::string pattern = dataset.pattern;
    if (pattern == "row-lengths" || pattern == "communities") {
      // Rows and entries are exact, unless the small matrix would be more than half full.
      EXPECT_EQ(a.rows(), std::llround(dataset.rows * scale)) << dataset.name;
      const double wanted = static_cast<double>(dataset.nnz) * scale;
      const double most = static_cast<double>(a.rows()) * (a.cols() - 1) / 2;
      if (wanted < most) {
        EXPECT_NEAR(static_cast<double>(a.nnz()), wanted, 1.5) << dataset.name;
      } else {
        EXPECT_NEAR(static_cast<double>(a.nnz()), most, 1.5) << dataset.name;
      }
    } else {
      const double ratio = static_cast<double>(a.nnz()) / a.rows() /
                           (static_cast<double>(dataset.nnz) / dataset.rows);
      EXPECT_GT(ratio, 0.25) << dataset.name;
      EXPECT_LT(ratio, 1.5) << dataset.name;
    }
  }
}

TEST(Like, EvenOneRowIsAMatrix) {
  for (const LikeDataset& dataset : like_datasets()) {
    for (const char* scale : {"0.000001", "0.00003"}) {
      const CsrMatrix a = make("like", {{"name", dataset.name}, {"scale", scale}});
      EXPECT_NO_THROW(validate(a, dataset.name));
      EXPECT_GE(a.rows(), 1) << dataset.name;
    }
  }
}

TEST(Like, FullSizeIsExact) {
  for (const char* name : {"arxiv", "ddi"}) {
    const CsrMatrix a = make("like", {{"name", name}}, 1, ValueKind::none);
    for (const LikeDataset& dataset : like_datasets()) {
      if (std::string(dataset.name) != name) continue;
      EXPECT_EQ(a.rows(), dataset.rows);
      EXPECT_EQ(a.nnz(), dataset.nnz);
    }
    const RowLengthHistogram histogram = row_length_histogram(name);
    const std::vector<Offset> sorted = sorted_row_lengths(a);
    std::size_t at = 0;
    for (const auto& bin : histogram.bins) {
      for (Index i = 0; i < bin.rows; ++i) ASSERT_EQ(sorted[at++], bin.length) << name;
    }
    EXPECT_EQ(at, sorted.size());
  }
}

TEST(Like, ProductClassesAtFullSize) {
  for (const LikeDataset& dataset : like_datasets()) {
    if (std::string(dataset.pattern) == "row-lengths" || dataset.nnz > 2300000) continue;
    const CsrMatrix a = make("like", {{"name", dataset.name}}, 1, ValueKind::none);
    EXPECT_EQ(a.rows(), dataset.rows) << dataset.name;
    EXPECT_EQ(a.cols(), dataset.cols) << dataset.name;
    const std::string pattern = dataset.pattern;
    const bool is_drawn = pattern == "proximity" || pattern == "rmat" || pattern == "banded" ||
                          std::string(dataset.parameters).find("drop") != std::string::npos;
    if (is_drawn) {
      EXPECT_NEAR(static_cast<double>(a.nnz()) / static_cast<double>(dataset.nnz), 1, 0.02)
          << dataset.name;
    } else {
      EXPECT_EQ(a.nnz(), dataset.nnz) << dataset.name;
    }
  }
}

TEST(Like, HistogramsAgreeWithTheTable) {
  std::size_t exact = 0;
  for (const LikeDataset& dataset : like_datasets()) {
    if (std::string(dataset.pattern) != "row-lengths") continue;
    std::istringstream words(dataset.parameters);
    std::string word;
    words >> word;
    const RowLengthHistogram histogram = row_length_histogram(word.substr(word.find('=') + 1));
    EXPECT_EQ(histogram.rows, dataset.rows) << dataset.name;
    EXPECT_EQ(histogram.nnz, dataset.nnz) << dataset.name;
    EXPECT_EQ(std::string(dataset.row_lengths), "exact histogram");
    ++exact;
  }
  EXPECT_EQ(exact, 11u);
}

TEST(Like, HistogramsMatchTheirComments) {
  const std::filesystem::path folder =
      std::filesystem::path(CSRKIT_SOURCE_DIR) / "datasets" / "row_length_histograms";
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".tsv") continue;
    ++checked;
    const std::string name = entry.path().stem();
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    const RowLengthHistogram histogram = row_length_histogram(name);
    EXPECT_EQ(line,
              "# rows=" + std::to_string(histogram.rows) + " nnz=" + std::to_string(histogram.nnz));
  }
  EXPECT_GT(checked, 10);
}

TEST(Like, TheCatalogueAgreesWithTheTable) {
  std::ifstream catalogue(std::string(CSRKIT_SOURCE_DIR) + "/datasets/catalog.tsv");
  std::string line;
  int matched = 0;
  while (std::getline(catalogue, line)) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '\t');) fields.push_back(field);
    ASSERT_EQ(fields.size(), 16u) << line;
    for (const LikeDataset& dataset : like_datasets()) {
      if (fields[0] != dataset.name || fields[12] != "mission") continue;
      ++matched;
      EXPECT_EQ(fields[2], std::to_string(dataset.rows)) << dataset.name;
      EXPECT_EQ(fields[5], std::to_string(dataset.nnz)) << dataset.name;
    }
  }
  EXPECT_EQ(matched, 15);
}

TEST(Like, NamesInUseAreUnderstood) {
  const auto rows = [](const std::string& name) {
    return make("like", {{"name", name}, {"scale", "0.01"}}).rows();
  };
  EXPECT_EQ(rows("ogbn-arxiv"), 1693);
  EXPECT_EQ(rows("ARXIV"), 1693);
  EXPECT_EQ(rows("cage12_like"), 1302);
  EXPECT_EQ(rows("com-Amazon"), 3349);
  EXPECT_EQ(rows("citation"), 29280);
  EXPECT_EQ(rows("ogbl_citation2"), 29280);
  EXPECT_EQ(make("like", {{"name", "pdb1hys_like"}, {"scale", "0.01"}}).rows(), 363);
}

TEST(Like, AmazonIsAmbiguous) {
  const std::string message = refusal("like", {{"name", "Amazon"}});
  for (const char* name : {"com_amazon", "amazon0601", "amazon_products"}) {
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
}

TEST(Like, OptionsChangeTheColumnsAlone) {
  const CsrMatrix natural = make("like", {{"name", "collab"}, {"scale", "0.02"}});
  const CsrMatrix planted =
      make("like", {{"name", "collab"}, {"scale", "0.02"}, {"order", "planted"}});
  EXPECT_EQ(sorted_row_lengths(natural), sorted_row_lengths(planted));
  EXPECT_FALSE(same_pattern(natural, planted));
}

}  // namespace
}  // namespace csrkit
