// Random graphs: row lengths, communities, popularity, dense rows.
#include <cmath>
#include <cstdlib>

#include "core/file/csr_file.h"
#include "preprocess/generate/common/csr_builder.h"
#include "tests/unit/failing_allocations.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/generate/generate_testing.h"

namespace csrkit {
namespace {

bool has_diagonal(const CsrMatrix& a, Index row) {
  const std::vector<Index> cols = row_of(a, row);
  return std::binary_search(cols.begin(), cols.end(), row);
}

double share_within(const CsrMatrix& a, Index distance) {
  Offset close = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    for (const Index col : row_of(a, row)) close += std::abs(col - row) <= distance;
  }
  return static_cast<double>(close) / static_cast<double>(a.nnz());
}

TEST(Laplacian, OfADirectedGraphWithALoop) {
  const ScratchFolder folder;
  const std::string path = folder / "graph.csr";
  // 0 -> 1 (3), 1 -> 0 (1), 1 -> 2 (2), 2 -> 2 (5); nobody knows 3.
  const Offset offsets[] = {0, 1, 3, 4, 4};
  const Index cols[] = {1, 0, 2, 2};
  const double values[] = {3, -1, 2, 5};
  CsrFile file;
  file.matrix =
      CsrMatrix(4, 4, Buffer<Offset>::copy_of(offsets, 5), Buffer<Index>::copy_of(cols, 4),
                ValueArray::from(Buffer<double>::copy_of(values, 4)));
  write_csr_file(path, file);
  const CsrMatrix a = make("laplacian", {{"graph", path}, {"shift", "0.5"}}, 1, ValueKind::f64);
  EXPECT_TRUE(identical(a, transpose(a)));
  EXPECT_EQ(row_of(a, 0), (std::vector<Index>{0, 1}));
  EXPECT_EQ(values_of(a, 0), (std::vector<double>{2.5, -2}));
  EXPECT_EQ(row_of(a, 1), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(values_of(a, 1), (std::vector<double>{-2, 3.5, -1}));
  EXPECT_EQ(row_of(a, 2), (std::vector<Index>{1, 2}));
  EXPECT_EQ(values_of(a, 2), (std::vector<double>{-1, 1.5}));
  EXPECT_EQ(row_of(a, 3), (std::vector<Index>{3}));
  EXPECT_EQ(values_of(a, 3), (std::vector<double>{0.5}));
  EXPECT_THROW(make("laplacian", {{"graph", folder / "nowhere.csr"}}), IoError);
}

TEST(ErdosRenyi, ExactEntriesAlsoWhereFull) {
  for (const char* nnz : {"0", "1", "3000", "5990", "6000"}) {
    const CsrMatrix a = make("erdos-renyi", {{"rows", "100"}, {"cols", "60"}, {"nnz", nnz}});
    EXPECT_EQ(a.nnz(), std::atoi(nnz));
    validate(a, "erdos-renyi");
  }
}

TEST(ErdosRenyi, ColumnsAreUniform) {
  const CsrMatrix a = make("erdos-renyi", {{"rows", "10000"}, {"cols", "10"}, {"nnz", "20000"}});
  std::vector<int> hits(10, 0);
  for (Offset at = 0; at < a.nnz(); ++at) ++hits[static_cast<std::size_t>(a.col_indices()[at])];
  for (const int count : hits) EXPECT_NEAR(count, 2000, 250);
}

TEST(Rmat, QuadrantsHaveTheirProbabilities) {
  const CsrMatrix a = make("rmat", {{"scale", "14"},
                                    {"edges", "20000"},
                                    {"a", "0.5"},
                                    {"b", "0.3"},
                                    {"c", "0.15"},
                                    {"d", "0.05"},
                                    {"shuffle", "no"}});
  double count[2][2] = {};
  for (Index row = 0; row < a.rows(); ++row) {
    for (const Index col : row_of(a, row)) ++count[row >> 13][col >> 13];
  }
  const auto total = static_cast<double>(a.nnz());
  EXPECT_GT(total, 19000);  // few of so thin a graph's edges coincide
  EXPECT_NEAR(count[0][0] / total, 0.5, 0.02);
  EXPECT_NEAR(count[0][1] / total, 0.3, 0.02);
  EXPECT_NEAR(count[1][0] / total, 0.15, 0.02);
  EXPECT_NEAR(count[1][1] / total, 0.05, 0.02);
}

TEST(Rmat, AllEdgesInOnePlaceMerge) {
  const CsrMatrix a =
      make("rmat", {{"scale", "5"}, {"a", "1"}, {"b", "0"}, {"c", "0"}, {"shuffle", "no"}});
  ASSERT_EQ(a.nnz(), 1);
  EXPECT_EQ(a.col_indices()[0], 0);
}

TEST(Communities, ExactEntriesAndBounds) {
  for (const char* lengths : {"lognormal", "pareto", "constant"}) {
    const CsrMatrix a = make("communities", {{"n", "5000"},
                                             {"nnz", "61234"},
                                             {"lengths", lengths},
                                             {"shortest", "2"},
                                             {"longest", "400"}});
    EXPECT_EQ(a.nnz(), 61234) << lengths;
    const std::vector<Offset> sorted = sorted_row_lengths(a);
    EXPECT_GE(sorted.front(), 2);
    EXPECT_LE(sorted.back(), 400);
    if (std::string(lengths) != "constant") {
      EXPECT_EQ(sorted.back(), 400) << lengths;
    }
    for (Index row = 0; row < a.rows(); ++row) EXPECT_FALSE(has_diagonal(a, row));
  }
}

TEST(Communities, UndirectedHasExactEntriesAndNoLoops) {
  for (const char* nnz : {"2", "3000", "120000", "248500", "249500"}) {  // the last one is complete
    const CsrMatrix a =
        make("communities", {{"n", "500"}, {"nnz", nnz}, {"shortest", "0"}, {"undirected", "yes"}});
    EXPECT_EQ(a.nnz(), std::atoi(nnz));
    validate(a, "communities");
    for (Index row = 0; row < a.rows(); ++row) EXPECT_FALSE(has_diagonal(a, row));
  }
}

TEST(Communities, DiagonalAlways) {
  for (const char* undirected : {"no", "yes"}) {
    const CsrMatrix a =
        make("communities",
             {{"n", "400"}, {"nnz", "4000"}, {"diagonal", "always"}, {"undirected", undirected}});
    EXPECT_EQ(a.nnz(), 4000);
    for (Index row = 0; row < a.rows(); ++row) EXPECT_TRUE(has_diagonal(a, row));
  }
}

TEST(Communities, PlantedOrderHasLocalityAndShuffledHasNone) {
  const ParameterMap base = {
      {"n", "20000"}, {"community", "20"}, {"inside", "0.8"}, {"coarse", "0"}};
  ParameterMap planted = base;
  planted["order"] = "planted";
  EXPECT_GT(share_within(make("communities", planted), 80), 0.6);
  EXPECT_LT(share_within(make("communities", base), 80), 0.02);
  ParameterMap coarse = base;
  coarse["coarse"] = "10";
  coarse["inside_coarse"] = "0.2";
  coarse["order"] = "coarse";
  const CsrMatrix a = make("communities", coarse);
  EXPECT_GT(share_within(a, 2000), 0.95);
  EXPECT_LT(share_within(a, 80), 0.2);
}

TEST(Communities, NearStaysNear) {
  const CsrMatrix a =
      make("communities",
           {{"n", "5000"}, {"community", "0"}, {"coarse", "0"}, {"near", "0.9"}, {"reach", "30"}});
  EXPECT_GT(share_within(a, 30), 0.85);
}

TEST(Communities, LongRowsAreOftenReferredTo) {
  const CsrMatrix a = make("communities", {{"n", "20000"}, {"spread", "3"}, {"mean", "8"}});
  const CsrMatrix t = transpose(a);
  double covered = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    covered += static_cast<double>(a.row_length(row)) * static_cast<double>(t.row_length(row));
  }
  // Independent lengths would give mean^2 per row.
  EXPECT_GT(covered / a.rows(), 3 * 64);
}

TEST(RowLengths, ExactlyTheHistogram) {
  const CsrMatrix a = make("row-lengths", {{"histogram", "pubmed"}});
  EXPECT_EQ(a.rows(), 19717);
  EXPECT_EQ(a.nnz(), 99203);
  const std::vector<Offset> sorted = sorted_row_lengths(a);
  EXPECT_EQ(sorted[0], 1);
  EXPECT_EQ(sorted[7851], 1);
  EXPECT_EQ(sorted[7852], 2);
  EXPECT_EQ(sorted[7852 + 3154], 2);
  EXPECT_EQ(sorted[7852 + 3155], 3);
}

TEST(RowLengths, ReadsAFileAndReportsItsFaults) {
  const std::string path =
      ::testing::TempDir() + std::to_string(getpid()) + "_csrkit_histogram_test.tsv";
  const auto write = [&](const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  };
  write("# rows of all lengths\r\nrow_length\tcount\r\n0\t2\r\n3\t1\r\n8\t1\r\n");
  const CsrMatrix a = make(
      "row-lengths",
      {{"histogram", path}, {"cols", "8"}, {"diagonal", "allowed"}, {"popularity", "uniform"}});
  EXPECT_EQ(a.rows(), 4);
  EXPECT_EQ(sorted_row_lengths(a), (std::vector<Offset>{0, 0, 3, 8}));  // one row is full

  for (const std::string& text :
       {std::string("1 2\n1 3\n"), std::string("1\n"), std::string("-1 2\n"), std::string("1 0\n"),
        std::string("1 2 3\n"), std::string("x 2\n"), std::string("1 2147483647\n2 2147483647\n"),
        std::string("")}) {
    write(text);
    try {
      make("row-lengths", {{"histogram", path}});
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find(path + ":"), 0u) << error.what();
    }
  }
  std::remove(path.c_str());
  EXPECT_THROW(make("row-lengths", {{"histogram", "/nonexistent/h.tsv"}}), IoError);
  EXPECT_THROW(make("row-lengths", {{"histogram", "/dev/zero"}}), IoError);  // it has no end
}

TEST(RowLengths, DenseRowsAreExactAndFast) {
  // Rows that hold nearly all columns: drawing must not degrade into endless misses.
  const CsrMatrix a = make(
      "communities", {{"n", "1500"}, {"nnz", "2247000"}, {"spread", "0.01"}, {"inside", "0.5"}});
  EXPECT_EQ(a.nnz(), 2247000);
  validate(a, "dense rows");
}

/// Of a caller's process, too: threads that draw a number of edges hand out what they met.
TEST(SymmetricPattern, EveryAllocationMayFail) {
  const CsrMatrix drawn = make("erdos-renyi", {{"rows", "400"}, {"cols", "400"}, {"nnz", "3000"}});
  Offset found = 0;
  CsrPattern thinned;
  const long failures = test::failures_of(
      [&] { thinned = symmetric_pattern(drawn, drawn.nnz() / 8, true, 1, &found); });
  EXPECT_GT(failures, 8);
  EXPECT_EQ(thinned.row_offsets[drawn.rows()], 2 * (drawn.nnz() / 8) + drawn.rows());
}

}  // namespace
}  // namespace csrkit
