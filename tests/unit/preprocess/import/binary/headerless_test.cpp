// Graph dumps and raw CSR: files whose size and name say what they are.
#include <gtest/gtest.h>

#include <cstdint>

#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

using I4 = std::vector<std::int32_t>;

TEST(ImportGraphDump, FindsThePairByEitherFileOrTheStem) {
  const ScratchFolder scratch;
  scratch.write("g.graph.ptrdump", bytes_of(I4{0, 2, 2, 3}));
  scratch.write("g.graph.edgedump", bytes_of(I4{0, 2, 1}));
  const CsrMatrix expected = matrix_of(3, 3, {1, 0, 1, 0, 0, 0, 0, 1, 0}, ValueKind::none);
  for (const char* name : {"g.graph.ptrdump", "g.graph.edgedump"}) {
    const ImportResult result = import_matrix(scratch / name);
    EXPECT_EQ(result.format, "graph-dump");
    EXPECT_EQ(result.inputs.size(), 2u);
    EXPECT_TRUE(identical(result.matrix, expected)) << name;
  }
  ImportOptions options;
  options.format = "graph-dump";
  EXPECT_TRUE(identical(import_matrix(scratch / "g", options).matrix, expected));
  EXPECT_TRUE(identical(import_matrix(scratch / "g.graph", options).matrix, expected));

  scratch.write("h.new_indptr", bytes_of(I4{0, 1}));
  scratch.write("h.new_indices", bytes_of(I4{4}));
  options.parameters["cols"] = "5";
  const CsrMatrix wide = import_matrix(scratch / "h.new_indices", options).matrix;
  EXPECT_EQ(wide.cols(), 5);
  EXPECT_EQ(wide.col_indices()[0], 4);
}

TEST(ImportGraphDump, RepairsRowsThatAreNotSorted) {
  const ScratchFolder scratch;
  scratch.write("g.ptrdump", bytes_of(I4{0, 3, 3, 3}));
  scratch.write("g.edgedump", bytes_of(I4{2, 0, 2}));
  const ImportResult result = import_matrix(scratch / "g.ptrdump");
  EXPECT_EQ(result.matrix.nnz(), 2);
  EXPECT_EQ(result.repairs.duplicates, 1);
  EXPECT_EQ(result.repairs.out_of_order, 1);
}

TEST(ImportGraphDump, IsNeverTakenForACompressedFile) {
  // Vertex 35615 is 1f 8b 00 00 on disk, which begins like gzip.
  const ScratchFolder scratch;
  I4 offsets(35617, 1);
  offsets[0] = 0;
  scratch.write("g.ptrdump", bytes_of(offsets));
  scratch.write("g.edgedump", bytes_of(I4{35615}));
  ImportOptions options;
  options.format = "graph-dump";
  EXPECT_EQ(import_matrix(scratch / "g.edgedump", options).matrix.col_indices()[0], 35615);
}

TEST(ImportGraphDump, RefusesFilesThatDoNotFit) {
  const ScratchFolder scratch;
  const auto refusal = [&](const std::string& offsets, const std::string& columns) {
    scratch.write("g.ptrdump", offsets);
    scratch.write("g.edgedump", columns);
    return message_of<InputError>([&] { import_matrix(scratch / "g.ptrdump"); });
  };
  EXPECT_NE(refusal(bytes_of(I4{0, 2}), bytes_of(I4{0})).find("do the files belong together"),
            std::string::npos);
  EXPECT_NE(refusal(bytes_of(I4{0, 1}), bytes_of(I4{1})).find("found 1 at entry 0"),
            std::string::npos);
  EXPECT_NE(refusal(bytes_of(I4{0, 1}), bytes_of(I4{0}) + "x").find("byte 5: expected a whole"),
            std::string::npos);
  EXPECT_NE(refusal(bytes_of(I4{0, 3, 2}), bytes_of(I4{0, 0})).find("never decrease"),
            std::string::npos);
  EXPECT_NE(refusal("", bytes_of(I4{0})), "");
  std::filesystem::remove(scratch / "g.edgedump");
  EXPECT_THROW(import_matrix(scratch / "g.ptrdump"), IoError);
  ImportOptions options;
  options.format = "graph-dump";
  EXPECT_THROW(import_matrix(scratch / "nothing", options), UsageError);
}

std::string raw_csr(std::vector<std::int64_t> sizes, I4 offsets, I4 columns,
                    std::vector<float> values) {
  return bytes_of(sizes) + bytes_of(offsets) + bytes_of(columns) + bytes_of(values);
}

TEST(ImportRawCsr, IsToldByItsSize) {
  const ScratchFolder scratch;
  scratch.write("a.bin", raw_csr({2, 3, 3}, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}));
  const ImportResult result = import_matrix(scratch / "a.bin");
  EXPECT_EQ(result.format, "raw-csr");
  EXPECT_TRUE(identical(result.matrix, matrix_of(2, 3, {1, 0, 2, 0, 0, 3}, ValueKind::f32)));
  scratch.write("empty.bin", raw_csr({0, 0, 0}, {0}, {}, {}));
  EXPECT_EQ(import_matrix(scratch / "empty.bin").matrix.rows(), 0);
}

TEST(ImportRawCsr, RefusesWhatDoesNotAddUp) {
  const ScratchFolder scratch;
  ImportOptions options;
  options.format = "raw-csr";
  const std::string whole = raw_csr({2, 3, 3}, {0, 2, 3}, {0, 2, 2}, {1, 2, 3});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    scratch.write("cut.bin", whole.substr(0, length));
    EXPECT_THROW(import_matrix(scratch / "cut.bin", options), InputError) << length;
  }
  scratch.write("long.bin", whole + "x");
  EXPECT_THROW(import_matrix(scratch / "long.bin", options), InputError);
  for (const std::string& bytes :
       {raw_csr({-1, 3, 3}, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}),
        raw_csr({2, 3, std::int64_t{1} << 61}, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}),
        raw_csr({2, 3, 3}, {0, 5, 3}, {0, 2, 2}, {1, 2, 3}),
        raw_csr({2, 3, 3}, {0, 2, 3}, {0, 2, 3}, {1, 2, 3}),
        raw_csr({2, 3, 3}, {0, 2, 3}, {0, -2, 2}, {1, 2, 3})}) {
    scratch.write("bad.bin", bytes);
    const std::string refusal =
        message_of<InputError>([&] { import_matrix(scratch / "bad.bin", options); });
    EXPECT_EQ(refusal.find(scratch / "bad.bin"), 0u) << refusal;
  }
}

}  // namespace
}  // namespace csrkit
