#include "tools/info/python_map.h"

#include <cstdio>

namespace csrkit {

namespace {

const char* numpy_dtype(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return "";
    case ValueKind::f32: return "<f4";
    case ValueKind::f64: return "<f8";
    case ValueKind::f16: return "<f2";
    case ValueKind::bf16: return "<u2";  // the upper half of an f4
  }
  return "";
}

/// A path as a Python literal: bytes, which every name has, where it is not plain text.
std::string python_literal(const std::string& path) {
  bool is_plain = true;
  std::string text;
  for (const char character : path) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7f) {
      if (byte == '"' || byte == '\\') text += '\\';
      text += character;
    } else {
      is_plain = false;
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(byte));
      text += escape;
    }
  }
  return (is_plain ? "\"" : "b\"") + text + "\"";
}

std::string array_line(const std::string& name, const std::string& path, const std::string& dtype,
                       std::uint64_t offset, std::int64_t size) {
  // An empty file region cannot be mapped.
  if (size == 0) return name + " = np.empty(0, '" + dtype + "')\n";
  return name + " = np.memmap(" + path + ", '" + dtype + "', 'r', " + std::to_string(offset) +
         ", " + std::to_string(size) + ")\n";
}

}  // namespace

std::string numpy_lines(const std::string& path, const CsrFileHeader& header) {
  const std::string quoted = python_literal(path);
  std::string text = "import numpy as np\n";
  for (const CsrSection& section : header.sections) {
    if (section.name == "row_offsets") {
      text += array_line(section.name, quoted, "<i8", section.offset_bytes,
                         std::int64_t{header.rows} + 1);
    } else if (section.name == "col_indices") {
      text += array_line(section.name, quoted, "<i4", section.offset_bytes, header.nnz);
    } else if (section.name == "values" && header.value_kind != ValueKind::none) {
      text += array_line(section.name, quoted, numpy_dtype(header.value_kind), section.offset_bytes,
                         header.nnz);
    }
  }
  if (header.value_kind == ValueKind::none) {
    text += "values = np.ones(" + std::to_string(header.nnz) + ", '<f4')  # none are stored\n";
  }
  if (header.value_kind == ValueKind::bf16) {
    text += "values = (values.astype('<u4') << 16).view('<f4')  # bf16 is the upper half of f4\n";
  }
  return text + "shape = (" + std::to_string(header.rows) + ", " + std::to_string(header.cols) +
         ")\n";
}

}  // namespace csrkit
