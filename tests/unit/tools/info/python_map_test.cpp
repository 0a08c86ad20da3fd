#include "tools/info/python_map.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

CsrFileHeader header_of(ValueKind kind, Offset nnz) {
  CsrFileHeader header;
  header.value_kind = kind;
  header.rows = 2;
  header.cols = 3;
  header.nnz = nnz;
  header.sections = {{"row_offsets", 4096, 24}, {"col_indices", 8192, 4}, {"values", 12288, 4}};
  return header;
}

TEST(PythonMap, MapsEveryArrayWhereItLies) {
  EXPECT_EQ(numpy_lines("a.csr", header_of(ValueKind::f32, 1)),
            "import numpy as np\n"
            "row_offsets = np.memmap(\"a.csr\", '<i8', 'r', 4096, 3)\n"
            "col_indices = np.memmap(\"a.csr\", '<i4', 'r', 8192, 1)\n"
            "values = np.memmap(\"a.csr\", '<f4', 'r', 12288, 1)\n"
            "shape = (2, 3)\n");
}

TEST(PythonMap, WhatNumPyDoesNotHaveIsMade) {
  const std::string none = numpy_lines("a.csr", header_of(ValueKind::none, 1));
  EXPECT_NE(none.find("values = np.ones(1, '<f4')"), std::string::npos) << none;
  const std::string bf16 = numpy_lines("a.csr", header_of(ValueKind::bf16, 1));
  EXPECT_NE(bf16.find("'<u2'"), std::string::npos) << bf16;
  EXPECT_NE(bf16.find("(values.astype('<u4') << 16).view('<f4')"), std::string::npos) << bf16;
  // Nothing cannot be mapped.
  const std::string empty = numpy_lines("a.csr", header_of(ValueKind::f64, 0));
  EXPECT_NE(empty.find("values = np.empty(0, '<f8')"), std::string::npos) << empty;
}

TEST(PythonMap, AnyNameOfAFileIsALiteral) {
  const auto has = [](const char* path, const char* literal) {
    const std::string text = numpy_lines(path, header_of(ValueKind::f32, 1));
    EXPECT_NE(text.find("memmap(" + std::string(literal) + ","), std::string::npos) << text;
  };
  has("it's \"a\\", R"("it's \"a\\")");
  has("a\n\x7f.csr", R"(b"a\x0a\x7f.csr")");
  has("\xf0\x9f\x98\x80\xff", R"(b"\xf0\x9f\x98\x80\xff")");
}

}  // namespace
}  // namespace csrkit
