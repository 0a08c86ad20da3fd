#include "core/file/npy_file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/atomic_file.h"
#include "core/base/counted.h"
#include "core/base/input_file.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kMaxHeaderText = 1 << 20;  // real ones have about 100 bytes

/// A reader for the Python literal that NumPy writes: a dict of one string, one bool, one tuple.
class HeaderText {
 public:
  HeaderText(const char* text, std::uint64_t size, std::uint64_t offset, const std::string& where)
      : text_(text, size), offset_(offset), where_(where) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        skip_space();
        if (peek() == '[') fail("a structured array (a record of several fields); save one field");
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.is_fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail("the key '" + key + "', unknown or for the second time");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ < text_.size()) fail("text after the dictionary");
    if (!has_descr || !has_order || !has_shape)
      fail("a dictionary in which one of them is missing");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& found) const {
    throw InputError(
        where_ + ": byte " + std::to_string(offset_ + at_) +
        ": expected an .npy header {'descr': ..., 'fortran_order': ..., 'shape': ...}, "
        "found " +
        found + "; save the array again with numpy.save");
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t') ++at_;
  }
  bool accept(char wanted) {
    skip_space();
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) {
      fail(at_ < text_.size() ? std::string("'") + peek() + "' where '" + wanted + "' should be"
                              : "its end");
    }
  }
  std::string string() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("no string where one should be");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) fail("a string without end");
    std::string value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{"True", true}, {"False", false}}) {
      if (text_.compare(at_, std::strlen(word), word) == 0) {
        at_ += std::strlen(word);
        return value;
      }
    }
    fail("neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t number = 0;
      const std::size_t start = at_;
      for (; peek() >= '0' && peek() <= '9'; ++at_) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, peek() - '0', &number)) {
          fail("a dimension above 2^63");
        }
      }
      if (at_ == start) fail("no number in the shape");
      if (peek() == 'L') ++at_;  // Python 2 wrote long integers so
      numbers.push_back(number);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  std::string text_;
  std::uint64_t offset_;
  std::string where_;
  std::size_t at_ = 0;
};

/// The kind of a dense operand, or InputError.
ValueKind kind_of(const std::string& descr, const std::string& path) {
  if (descr == "<f4") return ValueKind::f32;
  if (descr == "<f8") return ValueKind::f64;
  if (descr == "<f2") return ValueKind::f16;
  const bool is_big_endian = !descr.empty() && descr[0] == '>';
  const bool is_complex = descr.size() > 1 && descr[1] == 'c';
  throw InputError(path +
                   ": byte 10: expected little-endian floating-point elements (<f2, <f4 or "
                   "<f8), found " +
                   (is_big_endian ? "big-endian " : "") + "'" + descr + "'; " +
                   (is_complex ? "numbers here are real: export the real part, array.real"
                               : "convert the array with .astype('<f4') or .astype('<f8')"));
}

/// to[i][j] = from[j][i], tile by tile so that neither side jumps through memory.
template <class T>
void copy_transposed(const T* from, const DenseView& to) {
  constexpr Index kTile = 32;
  const Index rows = to.rows, cols = to.cols;
#pragma omp parallel for schedule(static)
  for (Index i0 = 0; i0 < rows; i0 += kTile) {
    for (Index j0 = 0; j0 < cols; j0 += kTile) {
      const Index i1 = i0 + std::min(kTile, rows - i0), j1 = j0 + std::min(kTile, cols - j0);
      for (Index i = i0; i < i1; ++i) {
        T* const row = to.as<T>() + i * to.leading_dim;
        for (Index j = j0; j < j1; ++j) row[j] = from[Offset{j} * rows + i];
      }
      if (j1 == cols) break;  // j0 + kTile could exceed the largest Index
    }
  }
}

}  // namespace

std::int64_t NpyHeader::elements() const {
  std::int64_t count = 1;
  bool overflows = false;
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    overflows |= __builtin_mul_overflow(count, extent, &count);
  }
  return overflows ? std::numeric_limits<std::int64_t>::max() : count;
}

NpyHeader parse_npy_header(const char* data, std::uint64_t size, const std::string& where) {
  const auto fail = [&](std::uint64_t at, const std::string& what) {
    throw InputError(where + ": byte " + std::to_string(at) + ": " + what +
                     "; save the array again with numpy.save");
  };
  const std::uint64_t compared = std::min<std::uint64_t>(size, 6);
  if (compared == 0 || std::memcmp(data, "\x93NUMPY", compared) != 0) {
    fail(0, "expected an .npy array (93 'NUMPY'), found something else");
  }
  const auto byte = [&](std::uint64_t at) -> std::uint64_t {
    if (at >= size) fail(size, "expected an .npy header, found the end of the data");
    return static_cast<unsigned char>(data[at]);
  };
  const std::uint64_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    fail(6, "expected .npy version 1.0, 2.0 or 3.0, found " + std::to_string(major) + "." +
                std::to_string(minor));
  }
  std::uint64_t length = byte(8) | byte(9) << 8;
  std::uint64_t start = 10;
  if (major > 1) {
    length |= byte(10) << 16 | byte(11) << 24;
    start = 12;
  }
  if (length > kMaxHeaderText) {
    fail(8, "expected an .npy header of at most 1048576 bytes, found " + std::to_string(length));
  }
  if (size - start < length) {
    fail(size,
         "expected an .npy header of " + counted(length, "byte") + ", found the end of the data");
  }
  NpyHeader header = HeaderText(data + start, length, start, where).parse();
  header.data_offset = start + length;
  if (header.descr.find('O') != std::string::npos) {
    throw InputError(where + ": byte " + std::to_string(start) +
                     ": expected numbers, found Python objects (dtype O), which are not read: they "
                     "could run code; save the array again with a numeric dtype");
  }
  return header;
}

std::string make_npy_header(const std::string& descr, const std::vector<std::int64_t>& shape) {
  std::string tuple = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    tuple += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  tuple += shape.size() == 1 ? ",)" : ")";
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + tuple + ", }";
  // Spaces, then a newline, so that the data starts at a multiple of 64.
  const std::size_t prefix = 10;
  text.append(63 - (prefix + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

NpyFile::NpyFile(const std::string& path) : file_(path) {
  std::string start(std::min<std::uint64_t>(file_.size_bytes(), 12 + kMaxHeaderText), '\0');
  file_.read_at(0, start.data(), start.size());
  header_ = parse_npy_header(start.data(), start.size(), path);
  kind_ = kind_of(header_.descr, path);
  const std::size_t dimensions = header_.shape.size();
  if (dimensions != 1 && dimensions != 2) {
    throw InputError(path + ": byte 10: expected an array of one or two dimensions, found " +
                     std::to_string(dimensions) + "; reshape it");
  }
  const std::int64_t row_count = header_.shape[0],
                     col_count = dimensions == 2 ? header_.shape[1] : 1;
  if (row_count > kMaxIndex || col_count > kMaxIndex) {
    throw InputError(path + ": byte 10: expected at most 2147483647 rows and columns, found " +
                     std::to_string(row_count) + " x " + std::to_string(col_count) +
                     "; split the array");
  }
  // Two 31-bit factors and at most 8 bytes: no overflow. Compared before anything is allocated.
  const auto data_bytes = static_cast<unsigned __int128>(row_count) *
                          static_cast<unsigned __int128>(col_count) *
                          static_cast<unsigned>(size_of(kind_));
  if (data_bytes != file_.size_bytes() - header_.data_offset) {
    throw InputError(path + ": byte " + std::to_string(header_.data_offset) + ": expected the " +
                     std::to_string(row_count) + " x " + std::to_string(col_count) +
                     " elements of the header, found " +
                     counted(file_.size_bytes() - header_.data_offset, "byte") +
                     "; the file was cut or extended, save the array again");
  }
  rows_ = static_cast<Index>(row_count);
  cols_ = static_cast<Index>(col_count);
}

void NpyFile::read(Index first_row, Index first_col, DenseView block) const {
  if (block.rows == 0 || block.cols == 0) return;
  const auto size = static_cast<std::uint64_t>(size_of(kind_));
  const auto place = [&](Index row, Index col) {
    const Offset at =
        header_.is_fortran_order ? Offset{col} * rows_ + row : Offset{row} * cols_ + col;
    return header_.data_offset + static_cast<std::uint64_t>(at) * size;
  };
  if (!header_.is_fortran_order || rows_ == 1 || cols_ == 1) {
    if (block.cols == cols_ && block.leading_dim == cols_) {
      const auto elements = static_cast<std::uint64_t>(Offset{block.rows} * cols_);
      return file_.read_at(place(first_row, 0), block.data, elements * size);
    }
    for (Index i = 0; i < block.rows; ++i) {
      const auto to = static_cast<std::uint64_t>(i * block.leading_dim) * size;
      file_.read_at(place(first_row + i, first_col), block.as<char>() + to,
                    static_cast<std::uint64_t>(block.cols) * size);
    }
    return;
  }
  Buffer<char> columns(Offset{block.rows} * block.cols * static_cast<Offset>(size));
  const auto column_bytes = static_cast<std::uint64_t>(block.rows) * size;
  for (Index j = 0; j < block.cols; ++j) {
    file_.read_at(place(first_row, first_col + j),
                  columns.data() + static_cast<std::uint64_t>(j) * column_bytes, column_bytes);
  }
  with_value_type(kind_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, ImplicitOne>) {
      copy_transposed(reinterpret_cast<const T*>(columns.data()), block);
    }
  });
}

DenseMatrix read_npy(const std::string& path) {
  const NpyFile file(path);
  DenseMatrix dense(file.rows(), file.cols(), file.kind());
  file.read(0, 0, dense.view());
  return dense;
}

const char* npy_descr(ValueKind kind) {
  return kind == ValueKind::f64 ? "<f8" : kind == ValueKind::f16 ? "<f2" : "<f4";
}

void write_npy(const std::string& path, ConstDenseView dense) {
  if (dense.space != MemorySpace::host) {
    throw UsageError("cannot write '" + path + "': the matrix is in device memory; fetch it first");
  }
  AtomicFile file(path);
  const std::string header = make_npy_header(npy_descr(dense.kind), {dense.rows, dense.cols});
  file.write(header.data(), header.size());
  const auto row_bytes =
      static_cast<std::uint64_t>(dense.cols) * static_cast<std::uint64_t>(size_of(dense.kind));
  if (dense.kind != ValueKind::bf16 && dense.leading_dim == dense.cols) {
    file.write(dense.data, row_bytes * static_cast<std::uint64_t>(dense.rows));
  } else if (dense.cols > 0) {
    // Several rows at a time: small writes are slow, a copy of everything is large.
    const Index batch = static_cast<Index>(
        std::clamp<std::int64_t>((8 << 20) / (Offset{dense.cols} * 4), 1, std::max(dense.rows, 1)));
    if (dense.kind == ValueKind::bf16) {
      Buffer<float> rows(Offset{batch} * dense.cols);
      for (Index i = 0; i < dense.rows; i += std::min(batch, dense.rows - i)) {
        const Index count = std::min(batch, dense.rows - i);
        for (Index r = 0; r < count; ++r) {
          const bf16* from = dense.as<bf16>() + (Offset{i} + r) * dense.leading_dim;
          for (Index j = 0; j < dense.cols; ++j)
            rows[Offset{r} * dense.cols + j] = to_float(from[j]);
        }
        file.write(rows.data(),
                   static_cast<std::uint64_t>(Offset{count} * dense.cols) * sizeof(float));
      }
    } else {
      const auto stride = static_cast<std::uint64_t>(dense.leading_dim) *
                          static_cast<std::uint64_t>(size_of(dense.kind));
      Buffer<char> rows(static_cast<Offset>(row_bytes) * batch);
      for (Index i = 0; i < dense.rows; i += std::min(batch, dense.rows - i)) {
        const Index count = std::min(batch, dense.rows - i);
        for (Index r = 0; r < count; ++r) {
          std::memcpy(rows.data() + static_cast<std::uint64_t>(r) * row_bytes,
                      dense.as<char>() + (static_cast<std::uint64_t>(i) + r) * stride, row_bytes);
        }
        file.write(rows.data(), static_cast<std::uint64_t>(count) * row_bytes);
      }
    }
  }
  file.commit();
}

}  // namespace csrkit
