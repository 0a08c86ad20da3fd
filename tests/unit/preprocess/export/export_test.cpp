#include "preprocess/export/export.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "core/base/hash.h"
#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

/// Numbers that lose bits in careless text: extremes, ties, subnormals, both zeros, infinities.
CsrMatrix difficult_values(ValueKind kind) {
  const double tiny = smallest_positive(kind), huge = largest_finite(kind);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {
      0.1,  1.0 / 3,  -2.0 / 3,  tiny, -tiny, huge,        -huge,    0.0,
      -0.0, infinity, -infinity, 1e-5, 1e22,  123456789.0, 3 * tiny, 1 + 2 * unit_roundoff(kind)};
  const Index rows = 40, cols = 37;
  Buffer<Offset> offsets(rows + 1);
  offsets[0] = 0;
  Buffer<Index> col_indices(Offset{rows} * cols);
  Buffer<double> values(Offset{rows} * cols);
  Offset at = 0;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = row % 3; col < cols && row % 5 != 4; col += 1 + row % 4) {
      col_indices[at] = col;
      values[at] = at < static_cast<Offset>(numbers.size())
                       ? numbers[at]
                       : random_value(1, at) * std::pow(10, static_cast<double>(at % 9) - 4);
      ++at;
    }
    offsets[row + 1] = at;
  }
  col_indices.truncate(at);
  values.truncate(at);
  return convert_values(CsrMatrix(rows, cols, std::move(offsets), std::move(col_indices),
                                  ValueArray::from(std::move(values))),
                        kind);
}

class RoundTrip : public testing::TestWithParam<ValueKind> {};

TEST_P(RoundTrip, IsTheIdentityThroughMatrixMarketAndNpz) {
  const ScratchFolder scratch;
  const CsrMatrix original = difficult_values(GetParam());
  for (const char* name : {"a.mtx", "a.mtx.gz", "a.npz"}) {
    EXPECT_EQ(export_matrix(scratch / name, original, {"auto", false}), "");
    ImportOptions options;
    // NumPy has no bf16, so an archive holds it as f32; every other file says what its kind is.
    const bool names_kind = GetParam() != ValueKind::bf16 || std::string(name) != "a.npz";
    options.value_kind = names_kind ? "auto" : name_of(GetParam());
    const ImportResult back = import_matrix(scratch / name, options);
    EXPECT_TRUE(identical(back.matrix, original)) << name;
    EXPECT_EQ(back.repairs.out_of_order, 0) << name;
    // And once more, from what came back.
    export_matrix(scratch / ("b" + std::string(name)), back.matrix, {"auto", false});
    EXPECT_EQ(content_of(scratch / name), content_of(scratch / ("b" + std::string(name))));
  }
}

TEST_P(RoundTrip, NeedsNoHintWhereTheFormatKnowsTheKind) {
  const ScratchFolder scratch;
  const CsrMatrix original = difficult_values(GetParam());
  const auto back = [&](const char* name) {
    export_matrix(scratch / name, original, {"auto", false});
    return import_matrix(scratch / name).matrix;
  };
  if (GetParam() != ValueKind::bf16) {
    EXPECT_TRUE(identical(back("a.npz"), original));
  }
  if (GetParam() == ValueKind::none || GetParam() == ValueKind::f64) {
    EXPECT_TRUE(identical(back("a.mtx"), original));
  }
}

TEST_P(RoundTrip, IsTheIdentityThroughAnEdgeListWhenTheSizeIsGiven) {
  const ScratchFolder scratch;
  const CsrMatrix original = difficult_values(GetParam());
  export_matrix(scratch / "a.tsv", original, {"auto", true});  // loses the size
  ImportOptions options;
  options.parameters["rows"] = "40";
  options.parameters["cols"] = "37";
  EXPECT_TRUE(identical(import_matrix(scratch / "a.tsv", options).matrix, original));
}

TEST_P(RoundTrip, KeepsShapesWithoutEntries) {
  const ScratchFolder scratch;
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {2, 3}}) {
    const std::vector<double> zeros(static_cast<std::size_t>(rows) * cols);
    const CsrMatrix original = matrix_of(rows, cols, zeros, GetParam());
    for (const char* name : {"a.mtx", "a.npz"}) {
      export_matrix(scratch / name, original, {"auto", false});
      ImportOptions options;
      options.value_kind = name_of(GetParam());
      EXPECT_TRUE(identical(import_matrix(scratch / name, options).matrix, original))
          << name << " " << rows << " x " << cols;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, RoundTrip, testing::ValuesIn(kAllValueKinds),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

TEST(Export, WritesTheSameBytesForAnyThreadCount) {
  const ScratchFolder scratch;
  std::vector<double> dense(600 * 400);
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = i % 3 == 0 ? random_value(1, i) : 0;
  const CsrMatrix matrix = matrix_of(600, 400, dense, ValueKind::f32);
  const int threads = omp_get_max_threads();
  for (const char* ending : {".mtx", ".mtx.gz", ".npz", ".tsv"}) {
    omp_set_num_threads(1);
    export_matrix(scratch / ("one" + std::string(ending)), matrix, {"auto", true});
    omp_set_num_threads(4);
    export_matrix(scratch / ("four" + std::string(ending)), matrix, {"auto", true});
    omp_set_num_threads(threads);
    EXPECT_EQ(content_of(scratch / ("one" + std::string(ending))),
              content_of(scratch / ("four" + std::string(ending))));
  }
}

TEST(Export, WritesMatrixMarketAsOneWouldByHand) {
  const ScratchFolder scratch;
  export_matrix(scratch / "a.mtx", matrix_of(2, 3, {0, 0.5, 0, -2, 0, 1e30}, ValueKind::f32),
                {"auto", false});
  EXPECT_EQ(content_of(scratch / "a.mtx"),
            "%%MatrixMarket matrix coordinate real general\n% values are f32\n2 3 3\n"
            "1 2 0.5\n2 1 -2\n2 3 1e+30\n");
  export_matrix(scratch / "b", matrix_of(2, 1, {0, 1}, ValueKind::none), {"matrix-market", false});
  EXPECT_EQ(content_of(scratch / "b"),
            "%%MatrixMarket matrix coordinate pattern general\n2 1 1\n2 1\n");
}

TEST(Export, WritesPetscMatricesAsMatViewDoes) {
  const ScratchFolder scratch;
  export_matrix(scratch / "a.petsc", matrix_of(2, 3, {0, 0.5, 0, -2, 0, 1}, ValueKind::f32), {});
  const std::string expected(
      "\0\x12\x7b\x50\0\0\0\2\0\0\0\3\0\0\0\3\0\0\0\1\0\0\0\2"
      "\0\0\0\1\0\0\0\0\0\0\0\2"
      "\x3f\xe0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0",
      60);
  EXPECT_EQ(content_of(scratch / "a.petsc"), expected);
}

TEST_P(RoundTrip, IsTheIdentityThroughPetscWhenTheKindIsGiven) {
  const ScratchFolder scratch;
  const CsrMatrix original = difficult_values(GetParam());
  EXPECT_EQ(export_matrix(scratch / "a.petsc", original, {"auto", false}), "");
  ImportOptions options;
  options.value_kind = name_of(GetParam());
  EXPECT_TRUE(identical(import_matrix(scratch / "a.petsc", options).matrix, original));
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {2, 3}}) {
    const std::vector<double> zeros(static_cast<std::size_t>(rows) * cols);
    const CsrMatrix empty = matrix_of(rows, cols, zeros, GetParam());
    export_matrix(scratch / "b.petsc", empty, {"auto", false});
    EXPECT_TRUE(identical(import_matrix(scratch / "b.petsc", options).matrix, empty));
  }
}

TEST(Export, SaysHowAListWithoutEdgesIsImported) {
  const ScratchFolder scratch;
  const auto loss_of = [&](Index rows, Index cols) {
    const CsrMatrix empty = matrix_of(
        rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols)), ValueKind::none);
    return export_matrix(scratch / "a.tsv", empty, {"auto", true});
  };
  EXPECT_EQ(loss_of(0, 0),
            "the size 0 x 0, since a list without edges has none (no import can restore it)");
  EXPECT_THROW(import_matrix(scratch / "a.tsv"), InputError);
  EXPECT_NE(loss_of(2, 0).find("no import can restore it"), std::string::npos);
  EXPECT_EQ(loss_of(2, 3),
            "the size 2 x 3, since a list without edges has none (importing with --format "
            "edge-list --rows 2 --cols 3 restores it)");
  ImportOptions options;
  options.format = "edge-list";
  options.parameters = {{"rows", "2"}, {"cols", "3"}};
  EXPECT_EQ(import_matrix(scratch / "a.tsv", options).matrix.cols(), 3);
}

TEST(Export, WritesEdgeListsAndSaysWhenTheSizeIsLost) {
  const ScratchFolder scratch;
  const CsrMatrix graph = matrix_of(3, 3, {0, 1, 0, 0, 0, 2.5, 0, 0, 0}, ValueKind::f64);
  EXPECT_EQ(export_matrix(scratch / "a.tsv", graph, {"auto", false}), "");
  EXPECT_EQ(content_of(scratch / "a.tsv"),
            "# 3 x 3 matrix, 2 entries; row, column, value (f64); counted from 0\n"
            "0\t1\t1\n1\t2\t2.5\n");
  // Vertex 2 is isolated: nothing in the list says that it exists.
  const CsrMatrix isolated = matrix_of(3, 3, {0, 1, 0, 1, 0, 0, 0, 0, 0}, ValueKind::none);
  const std::string refusal = message_of<UsageError>([&] {
    export_matrix(scratch / "b.tsv", isolated, {"auto", false});
  });
  EXPECT_NE(refusal.find("the size 3 x 3, since the ids in the list end at 1"), std::string::npos)
      << refusal;
  EXPECT_FALSE(std::filesystem::exists(scratch / "b.tsv"));
  EXPECT_NE(export_matrix(scratch / "b.tsv", isolated, {"auto", true}), "");
  ImportOptions options;
  options.parameters = {{"rows", "3"}, {"cols", "3"}};
  EXPECT_TRUE(identical(import_matrix(scratch / "b.tsv", options).matrix, isolated));
  // The same with nodes that count from 1.
  const ExportOptions from_one{"auto", true, {{"base", "1"}}, {}};
  EXPECT_NE(export_matrix(scratch / "c.tsv", isolated, from_one).find("--base 1"),
            std::string::npos);
  EXPECT_EQ(content_of(scratch / "c.tsv"),
            "# 3 x 3 matrix, 2 entries; row, column; counted from 1\n1\t2\n2\t1\n");
  options.parameters["base"] = "1";
  EXPECT_TRUE(identical(import_matrix(scratch / "c.tsv", options).matrix, isolated));
  const std::string foreign =
      message_of<UsageError>([&] { export_matrix(scratch / "d.mtx", isolated, from_one); });
  EXPECT_NE(foreign.find("a parameter of edge-list, not of matrix-market"), std::string::npos)
      << foreign;
}

TEST(Export, WritesMetisGraphsOfUndirectedGraphsOnly) {
  const ScratchFolder scratch;
  const CsrMatrix path =
      matrix_of(4, 4, {0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, ValueKind::none);
  EXPECT_EQ(export_matrix(scratch / "a.graph", path, {"auto", false}), "");
  EXPECT_EQ(content_of(scratch / "a.graph"), "4 2\n2\n1 3\n2\n\n");
  EXPECT_TRUE(identical(import_matrix(scratch / "a.graph").matrix, path));

  const CsrMatrix other = matrix_of(2, 2, {5, 1, 0, 0}, ValueKind::f32);
  const std::string refusal = message_of<UsageError>([&] {
    export_matrix(scratch / "b.graph", other, {"auto", false});
  });
  for (const char* part : {"1 value other than 1,", "1 self loop,",
                           "1 one-way edge (it becomes two-way)", "--lossy"}) {
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
  }
  export_matrix(scratch / "b.graph", other, {"auto", true});
  EXPECT_EQ(content_of(scratch / "b.graph"), "2 1\n2\n1\n");
  const std::string not_square = message_of<UsageError>([&] {
    export_matrix(scratch / "c.graph", matrix_of(1, 2, {1, 1}, ValueKind::f32), {"auto", true});
  });
  for (const char* part : {"c.graph: ", "1 x 2", "choose another format"}) {
    EXPECT_NE(not_square.find(part), std::string::npos) << not_square;
  }
}

TEST(Export, ChoosesTheFormatByTheLongestEndingAndListsThemOtherwise) {
  const ScratchFolder scratch;
  const CsrMatrix matrix = matrix_of(1, 1, {1}, ValueKind::f32);
  export_matrix(scratch / "a.mtx.gz", matrix, {"auto", false});
  EXPECT_EQ(content_of(scratch / "a.mtx.gz").substr(0, 2), "\x1f\x8b");
  for (const char* format : {"auto", "parquet"}) {
    const std::string refusal = message_of<UsageError>([&] {
      export_matrix(scratch / "a.xyz", matrix, {format, false});
    });
    for (const ExportFormat& row : export_formats()) {
      EXPECT_NE(refusal.find(row.name), std::string::npos) << refusal;
    }
  }
}

// Blocks are deflated by several threads, and more often than once. An importer compares checksums.
TEST(Export, GzipHasTheSameBytesWithAnyNumberOfThreads) {
  const ScratchFolder scratch;
  constexpr Index kRows = 60'000, kEach = 8;
  Buffer<Offset> offsets(kRows + 1);
  Buffer<Index> col_indices(Offset{kRows} * kEach);
  Buffer<double> values(Offset{kRows} * kEach);
  for (Offset at = 0; at < col_indices.size(); ++at) {
    col_indices[at] = static_cast<Index>(at % kEach * 1000 + at / kEach % 1000);
    values[at] = random_value(3, at);
  }
  for (Index row = 0; row <= kRows; ++row) offsets[row] = Offset{row} * kEach;
  const CsrMatrix matrix(kRows, kEach * 1000, std::move(offsets), std::move(col_indices),
                         ValueArray::from(std::move(values)));
  const int threads_before = omp_get_max_threads();
  std::string bytes;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    const std::string path = scratch / (std::to_string(threads) + ".mtx.gz");
    export_matrix(path, matrix, {"auto", false});
    if (threads == 1) bytes = content_of(path);
    EXPECT_GT(bytes.size(), 5u << 20) << "more than a round of blocks";
    EXPECT_TRUE(content_of(path) == bytes) << threads << " threads";
    EXPECT_TRUE(identical(import_matrix(path, {}).matrix, matrix));
  }
  omp_set_num_threads(threads_before);
}

TEST(Export, LeavesNothingBehindWhenTheFolderIsMissing) {
  const ScratchFolder scratch;
  const CsrMatrix matrix = matrix_of(1, 1, {1}, ValueKind::f32);
  for (const char* name : {"none/a.mtx", "none/a.mtx.gz", "none/a.npz", "none/a.tsv"}) {
    EXPECT_THROW(export_matrix(scratch / name, matrix, {"auto", true}), IoError) << name;
  }
}

// What libarchive says where memory ends is known by its words, which the name of a file may hold.
TEST(Export, AFileCalledMemoryThatCannotBeWrittenIsNoLackOfMemory) {
  const ScratchFolder scratch;
  const CsrMatrix matrix = difficult_values(ValueKind::f64);
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler_before = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1024, before.rlim_max };
  for (const char* name : {"memory.npz", "init.npz", "allocated.npz"}) {
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = message_of<IoError>([&] {
      export_matrix(scratch / name, matrix, {"auto", false});
    });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(message.find("cannot write '" + (scratch / name) + "': writing failed"), 0u)
        << message;
  }
  std::signal(SIGXFSZ, handler_before);
}

}  // namespace
}  // namespace csrkit
