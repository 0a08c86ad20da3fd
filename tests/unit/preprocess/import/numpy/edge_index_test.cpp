#include "preprocess/import/numpy/edge_index.h"

#include <gtest/gtest.h>

#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/import/numpy/small_npz.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

using I8 = std::vector<std::int64_t>;
using I4 = std::vector<std::int32_t>;

template <class T>
std::string npy(const char* descr, const std::vector<T>& elements,
                std::vector<std::int64_t> shape) {
  return make_npy_header(descr, shape) +
         std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

const CsrMatrix& expected() {
  static const CsrMatrix matrix = matrix_of(3, 3, {0, 1, 0, 0, 0, 1, 1, 0, 0}, ValueKind::none);
  return matrix;
}

TEST(EdgeIndex, TwoRowsOrTwoColumnsOfAnyWidth) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("a.npy", npy("<i8", I8{2, 0, 1, 0, 1, 2}, {2, 3}));
  EXPECT_TRUE(identical(import_matrix(path).matrix, expected()));
  EXPECT_EQ(import_matrix(path).format, "edge-index");
  EXPECT_EQ(import_matrix(path).repairs.out_of_order, 1);
  scratch.write("b.npy", npy("<i4", I4{2, 0, 0, 1, 1, 2}, {3, 2}));
  EXPECT_TRUE(identical(import_matrix(scratch / "b.npy").matrix, expected()));
  // Fortran order, as numpy.save writes the transpose of the other.
  std::string fortran = npy("<i4", I4{2, 0, 0, 1, 1, 2}, {2, 3});
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_TRUE(identical(import_matrix(scratch.write("c.npy", fortran)).matrix, expected()));
}

TEST(EdgeIndex, SizesAreTheLargestIdOrAsGiven) {
  const ScratchFolder scratch;
  scratch.write("a.npy", npy("<i8", I8{0, 4}, {2, 1}));
  EXPECT_EQ(import_matrix(scratch / "a.npy").matrix.rows(), 5);
  ImportOptions options;
  options.parameters = {{"rows", "2"}, {"cols", "6"}};
  const CsrMatrix sized = import_matrix(scratch / "a.npy", options).matrix;
  EXPECT_EQ(sized.rows(), 2);
  EXPECT_EQ(sized.cols(), 6);
  options.parameters = {{"cols", "4"}};
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "a.npy", options);
            }).find("expected ids below --cols 4, found 4"),
            std::string::npos);
  scratch.write("huge.npy", npy("<i8", I8{0, 2147483000}, {2, 1}));
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "huge.npy");
            }).find("raise --max-expansion"),
            std::string::npos);
}

TEST(EdgeIndex, RefusesOtherArrays) {
  const ScratchFolder scratch;
  const auto refusal = [&](const std::string& bytes) {
    return message_of<InputError>([&] { import_matrix(scratch.write("a.npy", bytes)); });
  };
  EXPECT_NE(refusal(npy("<f8", std::vector<double>{1, 2}, {2, 1})).find("dense matrix"),
            std::string::npos);
  EXPECT_NE(refusal(npy("<i8", I8{1, 2, 3}, {3})).find("found shape (3"), std::string::npos);
  EXPECT_NE(refusal(npy("<i8", I8{-1, 0}, {2, 1})).find("found -1 as element 0"),
            std::string::npos);
  EXPECT_NE(refusal(npy("<i8", I8{1, 0}, {2, 1000000000})).find("fits the file"),
            std::string::npos);
  EXPECT_NE(refusal(npy("<i8", I8{1}, {2, 1})).find("expected"), std::string::npos);
}

TEST(EdgeIndex, DenseMatricesAreNamedWithTheLinesThatConvertThem) {
  const ScratchFolder scratch;
  for (const std::string& bytes :
       {npy("<f8", std::vector<double>{1, 2}, {2, 1}), npy("|b1", std::vector<char>{1, 0}, {2, 1}),
        npy("<i8", I8{0, 1, 0, 1, 0, 0, 0, 0, 1}, {3, 3})}) {
    const std::string path = scratch.write("it's.npy", bytes);
    const std::string message = message_of<InputError>([&] { import_matrix(path); });
    EXPECT_NE(message.find("found a dense matrix"), std::string::npos) << message;
    EXPECT_NE(message.find("it\\'s.npy')))"), std::string::npos) << message;
  }
}

TEST(EdgeIndex, ArchivesMayHoldNodesAndWeights) {
  const ScratchFolder scratch;
  const I8 edges{2, 0, 1, 0, 1, 2};
  SmallNpz(scratch / "a.npz").add("edge_index", "<i8", edges, {2, 3}).finish();
  EXPECT_TRUE(identical(import_matrix(scratch / "a.npz").matrix, expected()));
  SmallNpz(scratch / "b.npz")
      .add("edge_index", "<i8", edges, {2, 3})
      .add("edge_weight", "<f4", std::vector<float>{1, 2, 3}, {3, 1})
      .add("num_nodes", "<i8", I8{4}, {})
      .finish();
  EXPECT_TRUE(
      identical(import_matrix(scratch / "b.npz").matrix,
                matrix_of(4, 4, {0, 2, 0, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0}, ValueKind::f32)));
  ImportOptions options;
  options.parameters = {{"rows", "9"}};
  EXPECT_EQ(import_matrix(scratch / "a.npz", options).matrix.rows(), 9);
  EXPECT_THROW(import_matrix(scratch / "b.npz", options), UsageError);
  SmallNpz(scratch / "c.npz")
      .add("edge_index", "<i8", edges, {2, 3})
      .add("edge_weight", "<f4", std::vector<float>{1, 2}, {2})
      .finish();
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "c.npz");
            }).find("expected 3 elements, one for each edge"),
            std::string::npos);
  SmallNpz(scratch / "d.npz")
      .add("edge_index", "<i8", edges, {2, 3})
      .add("edge_attr", "<f4", std::vector<float>{1, 2, 3}, {3})
      .finish();
  const ImportResult without_values = import_matrix(scratch / "d.npz");
  ASSERT_EQ(without_values.warnings.size(), 1u);
  EXPECT_EQ(without_values.warnings[0].find("edge_attr is left out; "), 0u);
}

}  // namespace
}  // namespace csrkit
