#include "core/file/npy_file.h"

#include <limits>

#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

/// An .npy file of the given version around the given header text.
std::string npy(int major, const std::string& text, const std::string& data) {
  std::string file = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(text.size() >> (8 * i) & 0xff);
  }
  return file + text + data;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string refusal_of_npy(const std::string& bytes) {
  const ScratchFolder folder;
  save_bytes(folder / "a.npy", bytes);
  try {
    read_npy(folder / "a.npy");
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find((folder / "a.npy") + ": byte "), 0u) << error.what();
    return error.what();
  }
  return "";
}

TEST(NpyFile, RoundTripsEveryKind) {
  const ScratchFolder folder;
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    for (const auto& [rows, cols, leading] : {std::tuple<Index, Index, Offset>{0, 0, 0},
                                              {0, 5, 0},
                                              {5, 0, 0},
                                              {1, 1, 0},
                                              {7, 3, 0},
                                              {7, 3, 11},
                                              {3, 1000000, 1000001},
                                              {100000, 30, 31}}) {
      DenseMatrix dense(rows, cols, kind, leading);
      fill_random(dense.view(), 1);
      write_npy(folder / "a.npy", dense.view());
      const DenseMatrix read = read_npy(folder / "a.npy");
      EXPECT_EQ(read.kind(), kind == ValueKind::bf16 ? ValueKind::f32 : kind);
      ASSERT_EQ(read.rows(), rows);
      ASSERT_EQ(read.cols(), cols);
      const ConstDenseView a = dense.view(), b = read.view();
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; j += 1 + cols / 100) ASSERT_EQ(a.at(i, j), b.at(i, j));
      }
    }
  }
}

TEST(NpyFile, ReadsEveryVersionAndOrder) {
  const ScratchFolder folder;
  const std::string path = folder / "a.npy";
  for (const int major : {1, 2, 3}) {
    save_bytes(path, npy(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                         raw<float>({1, 2, 3, 4, 5, 6})));
    EXPECT_EQ(read_npy(path).view().as<float>()[5], 6);
    EXPECT_EQ(read_npy(path).rows(), 2);
  }
  // As Python 2 wrote it, keys in another order, columns first.
  save_bytes(path, npy(1, "{\"shape\":(2L,3L),'fortran_order': True,'descr':'<f8'}\n",
                       raw<double>({1, 4, 2, 5, 3, 6})));
  const DenseMatrix columns_first = read_npy(path);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(columns_first.view().as<double>()[i], i + 1);
  // One dimension is one column.
  save_bytes(path, npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }\n",
                       raw<std::uint16_t>({0x3c00, 0x4000, 0xc000})));
  const DenseMatrix column = read_npy(path);
  EXPECT_EQ(column.rows(), 3);
  EXPECT_EQ(column.cols(), 1);
  const ConstDenseView view = column.view();
  EXPECT_EQ(view.at(2, 0), -2);
}

TEST(NpyFile, TransposesLargeFortranArrays) {
  const ScratchFolder folder;
  constexpr int kRows = 70, kCols = 101;
  std::vector<float> data;
  for (int j = 0; j < kCols; ++j) {
    for (int i = 0; i < kRows; ++i) data.push_back(static_cast<float>(1000 * i + j));
  }
  save_bytes(folder / "a.npy",
             npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (70, 101), }\n", raw(data)));
  const DenseMatrix dense = read_npy(folder / "a.npy");
  const ConstDenseView view = dense.view();
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kCols; ++j) ASSERT_EQ(view.at(i, j), 1000 * i + j);
  }
}

TEST(NpyFile, RefusesByName) {
  const auto with = [](const char* descr, const char* shape) {
    return npy(1,
               std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + shape +
                   ", }\n",
               std::string(16, '\0'));
  };
  ASSERT_EQ(refusal_of_npy(with("<f4", "(2, 2)")), "");
  for (const auto& [bytes, message] : std::vector<std::pair<std::string, std::string>>{
           {with(">f4", "(2, 2)"), "big-endian"},
           {with("<i4", "(2, 2)"), "'<i4'"},
           {with("|b1", "(4, 4)"), "'|b1'"},
           {with("|O", "(2, 1)"), "objects"},
           {with("<f4", "(4, 2)"), "16 bytes"},
           {with("<f4", "(1, 2)"), "16 bytes"},
           {with("<i8", "(1, 2)"), ".astype('<f4') or .astype('<f8')"},
           {with("<c16", "(1, 2)"), "the real part"},
           {with("<f4", "()"), "dimensions, found 0"},
           {with("<f4", "(1, 2, 2)"), "dimensions, found 3"},
           {with("<f4", "(4294967296, 4294967296)"), "at most 2147483647"},
           {with("<f4", "(2147483647, 2147483647)"), "16 bytes"},
           {with("<f4", "(99999999999999999999, 1)"), "2^63"},
           {with("<f4", "(-2, -2)"), "no number"},
           {with("<f4", "(2 2)"), "where ')' should be"},
           {npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}",
                "0123456789abcdef"),
            "structured"},
           {npy(1, "{'descr': '<f4', 'shape': (4,)}", "0123456789abcdef"), "missing"},
           {npy(1, "{'descr': '<f4', 'descr': '<f4'}", ""), "second time"},
           {npy(1, "{'descr': '<f4", ""), "without end"},
           {npy(4, "{}", ""), "version"},
           {"", "found something else"},
           {"\x93NUM", "end of the data"},
           {"PK\x03\x04", "something else"},
           {std::string("\x93NUMPY\x01\x00\xff", 9), "end of the data"},
           {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "at most 1048576"}}) {
    const std::string found = refusal_of_npy(bytes);
    EXPECT_NE(found.find(message), std::string::npos) << message << "\n" << found;
  }
  EXPECT_THROW(read_npy("/dev/zero"), IoError);
  EXPECT_THROW(read_npy("/no/such/file.npy"), IoError);
}

TEST(NpyFile, EveryCutIsRefused) {
  const std::string good = npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n",
                               std::string(16, '\1'));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(refusal_of_npy(good.substr(0, size)), "") << size;
  }
}

TEST(NpyFile, WritesTheHeaderAsNumPyDoes) {
  const std::string header = make_npy_header("<f4", {3, 4});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(make_npy_header("<f8", {5}).find("'shape': (5,), }"), std::string::npos);
  for (std::int64_t rows = 1; rows < 1000000000; rows *= 10) {
    EXPECT_EQ(make_npy_header("<f4", {rows}).size() % 64, 0u);
    const std::string text = make_npy_header("<f4", {rows, rows});
    EXPECT_EQ(parse_npy_header(text.data(), text.size(), "here").shape,
              (std::vector<std::int64_t>{rows, rows}));
  }
}

TEST(NpyFile, ElementsAreCountedWithoutOverflow) {
  NpyHeader header;
  header.shape = {1ll << 40, 1ll << 40, 0};
  EXPECT_EQ(header.elements(), 0);
  header.shape = {1ll << 40, 1ll << 40};
  EXPECT_EQ(header.elements(), std::numeric_limits<std::int64_t>::max());
  header.shape = {};
  EXPECT_EQ(header.elements(), 1);
}

}  // namespace
}  // namespace csrkit
