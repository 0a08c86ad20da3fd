// NumPy's .npy: how dense operands come in and go out, and the member format of .npz archives.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>
#include <vector>

#include "core/base/input_file.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// The header of an .npy array.
struct NpyHeader {
  std::string descr;  // "<f4", "|b1", "|S3", ...
  bool is_fortran_order = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_offset = 0;  // bytes from the start of the array file
  std::int64_t elements() const;  // product of the shape; 2^63 - 1 if it is larger
};

/// Parses versions 1, 2 and 3 from the first bytes of an array; `where` begins error messages.
/// Throws InputError for anything else, object arrays (dtype O) by name.
NpyHeader parse_npy_header(const char* data, std::uint64_t size, const std::string& where);

/// Header bytes, padded as NumPy does it, for a C-order array.
std::string make_npy_header(const std::string& descr, const std::vector<std::int64_t>& shape);

/// NumPy's name for elements of that kind, "<f4"; bf16, which NumPy lacks, becomes f32.
const char* npy_descr(ValueKind kind);

/// A dense 2-D (or 1-D, read as one column) array of f2, f4 or f8, row-major or Fortran order.
DenseMatrix read_npy(const std::string& path);

/// Such an array, read block by block.
class NpyFile {
 public:
  explicit NpyFile(const std::string& path);
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  ValueKind kind() const { return kind_; }
  const std::string& path() const { return file_.path(); }
  const InputFile& file() const { return file_; }
  const NpyHeader& header() const { return header_; }

  /// The rectangle of `block`'s size that begins at (first_row, first_col) and lies in the array.
  /// `block` is of the array's kind. Several threads may read at once.
  void read(Index first_row, Index first_col, DenseView block) const;

 private:
  InputFile file_;
  NpyHeader header_;
  ValueKind kind_ = ValueKind::f32;
  Index rows_ = 0, cols_ = 0;
};

/// Writes f32, f64 and f16 as they are, and bf16, which NumPy lacks, as f32. Atomic.
void write_npy(const std::string& path, ConstDenseView dense);

}  // namespace csrkit
