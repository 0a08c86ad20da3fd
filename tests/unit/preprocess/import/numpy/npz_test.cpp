#include <gtest/gtest.h>

#include <cstdint>

#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/import/numpy/small_npz.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

using I4 = std::vector<std::int32_t>;
using I8 = std::vector<std::int64_t>;
using F4 = std::vector<float>;
using F8 = std::vector<double>;
using U1 = std::vector<std::uint8_t>;

// The matrix of most tests:  1 . 2
//                            . . 3
const std::vector<double> kDense = {1, 0, 2, 0, 0, 3};

TEST(ImportNpz, ReadsSciPyCsrOfEveryIndexAndValueType) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "a.npz")
      .add("indices", "<i4", I4{0, 2, 2})
      .add("indptr", "<i4", I4{0, 2, 3})
      .add_text("format", "csr")
      .add("shape", "<i8", I8{2, 3})
      .add("data", "<f4", F4{1, 2, 3})
      .finish();
  const ImportResult f32 = import_matrix(scratch / "a.npz");
  EXPECT_EQ(f32.format, "npz");
  EXPECT_EQ(f32.entries_read, 3);
  EXPECT_TRUE(identical(f32.matrix, matrix_of(2, 3, kDense, ValueKind::f32)));

  // No format, 64-bit offsets, 32-bit shape.
  SmallNpz(scratch / "b.npz")
      .add("indices", "<i8", I8{0, 2, 2})
      .add("indptr", "<i8", I8{0, 2, 3})
      .add("shape", "<i4", I4{2, 3})
      .add("data", "<f8", F8{1, 2, 3})
      .finish();
  EXPECT_TRUE(
      identical(import_matrix(scratch / "b.npz").matrix, matrix_of(2, 3, kDense, ValueKind::f64)));
  ImportOptions pattern_only;
  pattern_only.value_kind = "none";
  EXPECT_TRUE(identical(import_matrix(scratch / "b.npz", pattern_only).matrix,
                        matrix_of(2, 3, kDense, ValueKind::none)));
}

template <class T>
CsrMatrix import_with_data(const ScratchFolder& scratch, const char* descr,
                           const std::vector<T>& data) {
  SmallNpz(scratch / "d.npz")
      .add("indices", "<i4", I4{0, 2, 2})
      .add("indptr", "<i4", I4{0, 2, 3})
      .add("shape", "<i8", I8{2, 3})
      .add("data", descr, data)
      .finish();
  return import_matrix(scratch / "d.npz").matrix;
}

TEST(ImportNpz, KeepsEveryNumberOfEveryType) {
  const ScratchFolder scratch;
  const auto expect = [](const CsrMatrix& matrix, ValueKind kind, std::vector<double> dense) {
    EXPECT_EQ(matrix.value_kind(), kind);
    EXPECT_EQ(dense_of(matrix), dense);
  };
  expect(import_with_data(scratch, "|b1", U1{1, 1, 1}), ValueKind::none, {1, 0, 1, 0, 0, 1});
  expect(import_with_data(scratch, "|b1", U1{1, 0, 1}), ValueKind::f32, {1, 0, 0, 0, 0, 1});
  expect(import_with_data(scratch, "|u1", U1{1, 2, 255}), ValueKind::f32, {1, 0, 2, 0, 0, 255});
  expect(import_with_data(scratch, "<i2", std::vector<std::int16_t>{1, -2, 3}), ValueKind::f32,
         {1, 0, -2, 0, 0, 3});
  expect(import_with_data(scratch, "<u2", std::vector<std::uint16_t>{1, 65535, 3}), ValueKind::f32,
         {1, 0, 65535, 0, 0, 3});
  expect(import_with_data(scratch, "|i1", std::vector<std::int8_t>{1, -128, 3}), ValueKind::f32,
         {1, 0, -128, 0, 0, 3});
  expect(import_with_data(scratch, "<u4", std::vector<std::uint32_t>{1, 4294967295u, 3}),
         ValueKind::f64, {1, 0, 4294967295, 0, 0, 3});
  expect(import_with_data(scratch, "<u8", std::vector<std::uint64_t>{1, 1ull << 53, 3}),
         ValueKind::f64, {1, 0, 0x1p53, 0, 0, 3});
  EXPECT_NE(message_of<InputError>([&] {
              import_with_data(scratch, "<u8", std::vector<std::uint64_t>{1, 2, ~0ull});
            }).find("found 18446744073709551615 as element 2"),
            std::string::npos);
  expect(import_with_data(scratch, "<i4", I4{1, 2147483647, -3}), ValueKind::f64,
         {1, 0, 2147483647, 0, 0, -3});
  expect(import_with_data(scratch, "<i8", I8{1, std::int64_t{1} << 53, -3}), ValueKind::f64,
         {1, 0, 0x1p53, 0, 0, -3});
  expect(import_with_data(scratch, "<f2", std::vector<std::uint16_t>{0x3c00, 0x4000, 0x4200}),
         ValueKind::f16, kDense);
  const std::string refusal = message_of<InputError>([&] {
    import_with_data(scratch, "<i8", I8{1, 2, (std::int64_t{1} << 53) + 1});
  });
  EXPECT_NE(refusal.find("(data.npy): byte 144: expected"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("found 9007199254740993 as element 2; .astype("), std::string::npos)
      << refusal;
  EXPECT_NE(message_of<InputError>([&] {
              import_with_data(scratch, "<c8", std::vector<std::uint64_t>{1, 2, 3});
            }).find("'<c8'"),
            std::string::npos);
}

TEST(ImportNpz, SparseArraysOfOtherDimensionsAreNoMatrices) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "coo.npz")
      .add("coords", "<i4", I4{0, 2}, {1, 2})
      .add_text("format", "coo")
      .add("shape", "<i8", I8{3})
      .add("data", "<f8", F8{1, 3})
      .finish();
  SmallNpz(scratch / "csr.npz")
      .add("indices", "<i4", I4{0, 2})
      .add("indptr", "<i4", I4{0, 2})
      .add_text("format", "csr")
      .add("shape", "<i8", I8{3})
      .add("data", "<f8", F8{1, 3})
      .finish();
  for (const char* const name : {"coo.npz", "csr.npz"}) {
    EXPECT_NE(message_of<InputError>([&] {
                import_matrix(scratch / name);
              }).find("expected a matrix of two dimensions, found 1; reshape it"),
              std::string::npos);
  }
}

TEST(ImportNpz, ReadsCooAndCscAndRepairsWhatIsUnsortedOrDouble) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "coo.npz")
      .add("row", "<i4", I4{1, 0, 0, 0})
      .add("col", "<i4", I4{2, 2, 0, 2})
      .add_text("format", "coo")
      .add("shape", "<i8", I8{2, 3})
      .add("data", "<f8", F8{3, 0.5, 1, 1.5})
      .finish();
  const ImportResult coo = import_matrix(scratch / "coo.npz");
  EXPECT_TRUE(identical(coo.matrix, matrix_of(2, 3, kDense, ValueKind::f64)));
  EXPECT_EQ(coo.repairs.duplicates, 1);
  EXPECT_EQ(coo.repairs.out_of_order, 2);

  SmallNpz(scratch / "csc.npz")
      .add("indices", "<i4", I4{0, 1, 0})
      .add("indptr", "<i4", I4{0, 1, 1, 3})
      .add_bytes("format", make_npy_header("<U3", {}) + std::string("c\0\0\0s\0\0\0c\0\0\0", 12))
      .add("shape", "<i8", I8{2, 3})
      .add("data", "<f8", F8{1, 3, 2})
      .finish();
  const ImportResult csc = import_matrix(scratch / "csc.npz");
  EXPECT_TRUE(identical(csc.matrix, matrix_of(2, 3, kDense, ValueKind::f64)));
  EXPECT_EQ(csc.repairs.out_of_order, 1);

  // Places are those of the matrix, not of its transpose, in which the file goes.
  SmallNpz(scratch / "double.npz")
      .add("indices", "<i4", I4{1, 0, 1})
      .add("indptr", "<i4", I4{0, 0, 0, 3})
      .add_text("format", "csc")
      .add("shape", "<i8", I8{2, 3})
      .add("data", "<f8", F8{1.5e308, 2, 1.5e308})
      .finish();
  const auto refusal = [&](Duplicates duplicates) {
    ImportOptions options;
    options.duplicates = duplicates;
    return message_of<InputError>([&] { import_matrix(scratch / "double.npz", options); });
  };
  for (const Duplicates duplicates : {Duplicates::sum, Duplicates::error}) {
    EXPECT_NE(refusal(duplicates).find("row 1, column 2 (counted from 0)"), std::string::npos)
        << refusal(duplicates);
  }
  ImportOptions first;
  first.duplicates = Duplicates::first;
  const ImportResult merged = import_matrix(scratch / "double.npz", first);
  EXPECT_TRUE(identical(merged.matrix, matrix_of(2, 3, {0, 0, 2, 0, 0, 1.5e308}, ValueKind::f64)));
  EXPECT_EQ(merged.repairs.duplicates, 1);
  EXPECT_EQ(merged.repairs.out_of_order, 1);

  // A CSR whose rows are not sorted, with room behind the last entry.
  SmallNpz(scratch / "csr.npz")
      .add("indices", "<i4", I4{2, 0, 2, 0, 0})
      .add("indptr", "<i4", I4{0, 2, 3})
      .add("shape", "<i8", I8{2, 3})
      .add("data", "<f8", F8{2, 1, 3, 9, 9})
      .finish();
  const ImportResult csr = import_matrix(scratch / "csr.npz");
  EXPECT_TRUE(identical(csr.matrix, matrix_of(2, 3, kDense, ValueKind::f64)));
  EXPECT_EQ(csr.entries_read, 3);
  EXPECT_EQ(csr.repairs.out_of_order, 1);
}

TEST(ImportNpz, RefusesValuesBeyondTheRangeOfTheKindAskedFor) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "a.npz")
      .add("indices", "<i4", I4{0, 2, 2})
      .add("indptr", "<i4", I4{0, 2, 3})
      .add("shape", "<i8", I8{2, 3})
      .add("data", "<f8", F8{1, 1e39, -1e300})
      .finish();
  ImportOptions options;
  options.value_kind = "f32";
  try {
    import_matrix(scratch / "a.npz", options);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), (scratch / "a.npz") +
                                ": expected values that f32 can hold, found 2 values beyond the "
                                "range of f32, the first 1e+39 in row 0, column 2 (counted from "
                                "0); a wider --value-kind may hold them");
  }
  options.value_kind = "f64";
  EXPECT_EQ(import_matrix(scratch / "a.npz", options).matrix.nnz(), 3);
}

TEST(ImportNpz, ReadsTheLayoutsOfGnnBenchmarks) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "adj.npz")
      .add("adj_data", "<f4", F4{1, 2, 3})
      .add("adj_indices", "<i4", I4{0, 2, 2})
      .add("adj_indptr", "<i4", I4{0, 2, 3})
      .add("adj_shape", "<i8", I8{2, 3})
      .add("labels", "<i8", I8{5, 6})
      .finish();
  EXPECT_TRUE(identical(import_matrix(scratch / "adj.npz").matrix,
                        matrix_of(2, 3, kDense, ValueKind::f32)));
  SmallNpz(scratch / "edges.npz")
      .add("src_li", "<i8", I8{2, 0, 0})
      .add("dst_li", "<i8", I8{0, 1, 1})
      .add("num_nodes", "<i8", I8{3}, {})
      .finish();
  const ImportResult edges = import_matrix(scratch / "edges.npz");
  EXPECT_TRUE(
      identical(edges.matrix, matrix_of(3, 3, {0, 1, 0, 0, 0, 0, 1, 0, 0}, ValueKind::none)));
  EXPECT_EQ(edges.repairs.duplicates, 1);
}

struct Fault {
  const char* name;
  std::string expected;  // part of the message
  I8 indices, indptr, shape;
  F8 data;
};

TEST(ImportNpz, RefusesArraysThatAreNoMatrix) {
  const ScratchFolder scratch;
  const Fault faults[] = {
      {"column too large",
       "(indices.npy): byte 136: expected an index in [0, 3), found 3",
       {0, 3, 2},
       {0, 2, 3},
       {2, 3},
       {1, 2, 3}},
      {"negative column", "found -1 as element 0", {-1, 2, 2}, {0, 2, 3}, {2, 3}, {1, 2, 3}},
      {"offsets decrease", "never decrease", {0, 2, 2}, {0, 4, 3}, {2, 3}, {1, 2, 3}},
      {"offsets start late", "from 1", {0, 2, 2}, {1, 2, 3}, {2, 3}, {1, 2, 3}},
      {"negative offset", "found -2 as element 1", {0, 2, 2}, {0, -2, 3}, {2, 3}, {1, 2, 3}},
      {"too few offsets",
       "(indptr.npy): byte 0: expected one dimension of 3 elements",
       {0, 2, 2},
       {0, 3},
       {2, 3},
       {1, 2, 3}},
      {"entries missing", "to the number of entries", {0, 2}, {0, 2, 3}, {2, 3}, {1, 2}},
      {"values missing",
       "(data.npy): byte 0: expected one dimension of 3 elements",
       {0, 2, 2},
       {0, 2, 3},
       {2, 3},
       {1, 2}},
      {"three dimensions", "(shape.npy)", {0, 2, 2}, {0, 2, 3}, {2, 3, 1}, {1, 2, 3}},
      {"too many rows", "(shape.npy): byte 128", {}, {0}, {std::int64_t{1} << 31, 3}, {}},
      {"a shape beyond the offsets", "(indptr.npy)", {}, {0}, {2147483647, 3}, {}},
  };
  for (const Fault& fault : faults) {
    SmallNpz(scratch / "f.npz")
        .add("indices", "<i8", fault.indices)
        .add("indptr", "<i8", fault.indptr)
        .add("shape", "<i8", fault.shape)
        .add("data", "<f8", fault.data)
        .finish();
    const std::string refusal = message_of<InputError>([&] { import_matrix(scratch / "f.npz"); });
    EXPECT_NE(refusal.find(fault.expected), std::string::npos) << fault.name << ": " << refusal;
    EXPECT_EQ(refusal.find(scratch / "f.npz"), 0u) << refusal;
  }
}

TEST(ImportNpz, RefusesWhatOnlyPythonCanRead) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "objects.npz")
      .add_bytes("adj_matrix", make_npy_header("|O", {}) + "\x80\x04pickle")
      .finish();
  const std::string refusal =
      message_of<InputError>([&] { import_matrix(scratch / "objects.npz"); });
  EXPECT_NE(refusal.find("(adj_matrix.npy): byte 0:"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("save the array with a numeric dtype"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("scipy.sparse.save_npz"), std::string::npos) << refusal;

  SmallNpz(scratch / "features.npz").add("x", "<f4", F4{1}).finish();
  EXPECT_NE(
      message_of<InputError>([&] { import_matrix(scratch / "features.npz"); }).find("found x"),
      std::string::npos);
  SmallNpz(scratch / "bsr.npz")
      .add("indices", "<i4", I4{0})
      .add("indptr", "<i4", I4{0, 1})
      .add_text("format", "bsr")
      .finish();
  EXPECT_NE(message_of<InputError>([&] { import_matrix(scratch / "bsr.npz"); }).find("'bsr'"),
            std::string::npos);
  SmallNpz(scratch / "big_endian.npz")
      .add("indices", ">i4", I4{0})
      .add("indptr", ">i4", I4{0, 1})
      .add("shape", "<i8", I8{1, 1})
      .add("data", "<f4", F4{1})
      .finish();
  EXPECT_NE(message_of<InputError>([&] {
              import_matrix(scratch / "big_endian.npz");
            }).find("little-endian"),
            std::string::npos);
  SmallNpz(scratch / "complex.npz")
      .add("indices", "<i4", I4{0})
      .add("indptr", "<i4", I4{0, 1})
      .add("shape", "<i8", I8{1, 1})
      .add("data", "<c8", std::vector<double>{1})
      .finish();
  EXPECT_NE(
      message_of<InputError>([&] { import_matrix(scratch / "complex.npz"); }).find("matrix.real"),
      std::string::npos);
}

TEST(ImportNpz, RefusesArraysOfOtherTypesAndSizes) {
  const ScratchFolder scratch;
  const auto refusal = [&](const std::string& descr, std::size_t bytes) {
    SmallNpz(scratch / "a.npz")
        .add("indices", "<i4", I4{0})
        .add_bytes("indptr", make_npy_header("<i4", {2}) + std::string(8, '\0'))
        .add("shape", "<i8", I8{1, 1})
        .add_bytes("data", make_npy_header(descr, {1}) + std::string(bytes, '\1'))
        .finish();
    return message_of<InputError>([&] { import_matrix(scratch / "a.npz"); });
  };
  for (const char* descr : {"<f", "<fx", "<f4x", "<f/", "<f10000000", "|V0"}) {
    EXPECT_NE(refusal(descr, 4).find("(data.npy): byte 0: expected"), std::string::npos)
        << refusal(descr, 4);
  }
  EXPECT_NE(refusal("<f4", 3).find("expected 4 bytes of elements, found 3"), std::string::npos)
      << refusal("<f4", 3);
  EXPECT_NE(refusal("<f4", 5).find("expected 4 bytes of elements, found more"), std::string::npos)
      << refusal("<f4", 5);
}

TEST(ImportNpz, TakesNoMemoryForWhatCannotBeThere) {
  const ScratchFolder scratch;
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  for (const I8& shape : {I8{kMany}, I8{kMany, kMany}}) {  // the second has more than 2^63 elements
    SmallNpz(scratch / "huge.npz")
        .add_bytes("indices", make_npy_header("<i4", shape))
        .add("indptr", "<i4", I4{0, 0})
        .add("shape", "<i8", I8{1, 3})
        .add("data", "<f4", F4{})
        .finish();
    const std::string refusal =
        message_of<InputError>([&] { import_matrix(scratch / "huge.npz"); });
    EXPECT_EQ(refusal.find(scratch / "huge.npz"), 0u) << refusal;
    EXPECT_NE(refusal.find("that fits the file"), std::string::npos) << refusal;
  }
}

TEST(ImportNpz, TakesNoMemoryForRowsOfAFewColumns) {
  const ScratchFolder scratch;
  SmallNpz(scratch / "csc.npz")
      .add("indices", "<i4", I4{0, 2})
      .add("indptr", "<i4", I4{0, 1, 2})
      .add_text("format", "csc")
      .add("shape", "<i8", I8{kMaxIndex, 2})
      .add("data", "<f4", F4{1, 2})
      .finish();
  const std::string refusal = message_of<InputError>([&] { import_matrix(scratch / "csc.npz"); });
  EXPECT_NE(refusal.find("csc.npz: expected about as many rows as entries, found 2147483647 rows"),
            std::string::npos)
      << refusal;
}

TEST(ImportNpz, RefusesEveryTruncation) {
  const ScratchFolder scratch;
  // Cut behind "data", it would be the transposed matrix: CSC without its name is read as CSR.
  SmallNpz(scratch / "a.npz")
      .add("indices", "<i4", I4{0, 2, 2})
      .add("indptr", "<i4", I4{0, 2, 3, 3})
      .add("shape", "<i8", I8{3, 3})
      .add("data", "<f4", F4{1, 2, 3})
      .add_text("format", "csc")
      .finish();
  const std::string whole = content_of(scratch / "a.npz");
  ImportOptions options;
  options.format = "npz";
  EXPECT_EQ(import_matrix(scratch / "a.npz", options).matrix.row_length(2), 2);
  for (std::size_t length = 0; length + 22 <= whole.size(); ++length) {
    scratch.write("cut.npz", whole.substr(0, length));
    EXPECT_THROW(import_matrix(scratch / "cut.npz", options), InputError) << length;
  }
}

}  // namespace
}  // namespace csrkit
