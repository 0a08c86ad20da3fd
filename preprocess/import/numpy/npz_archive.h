// A NumPy .npz archive: a zip file of named .npy arrays, read one by one.
#pragma once

#include <string>
#include <vector>

#include "core/file/npy_file.h"
#include "core/matrix/sort/coo_to_csr.h"
#include "preprocess/import/source/byte_source.h"

namespace csrkit {

/// One array of an archive, in C or Fortran order as its header says.
class NpyArray {
 public:
  NpyArray(std::string where, NpyHeader header, Buffer<char> elements)
      : where_(std::move(where)), header_(std::move(header)), elements_(std::move(elements)) {}

  const NpyHeader& header() const { return header_; }
  Offset size() const { return header_.elements(); }
  /// "graph.npz(indices.npy)", to begin messages with.
  const std::string& where() const { return where_; }

  /// Throws InputError unless the array has one dimension (and `length` elements, if not negative).
  void require_vector(Offset length = -1) const;

  /// Throws InputError unless it holds `length` elements in one dimension, or in one column:
  /// one for each `item`.
  void require_column(Offset length, const char* item) const;
  /// Edges as two rows, sources and targets (PyG, OGB), or as two columns; nodes below `limit`. The
  /// matrix has no size yet and no values.
  CooMatrix to_edges(Offset limit) const;

  /// Integers of any width as row or column numbers; each must be in [0, limit). InputError names
  /// the byte of the first that is not.
  Buffer<Index> to_indices(Offset limit) const;
  /// Integers of any width.
  Buffer<Offset> to_offsets() const;
  /// f2, f4, f8 as they are; true/false as kind none if all are true, else as f32; integers of 8
  /// and 16 bits as f32, wider ones as f64, which must hold them exactly.
  ValueArray to_values() const;
  /// Bytes or characters of a NumPy string, "csr" or "coo" for SciPy's format.
  std::string to_text() const;

 private:
  template <class F>
  void for_integer_type(F&& f) const;
  [[noreturn]] void refuse_element(Offset position, int element_bytes, const std::string& expected,
                                   const std::string& found, const char* advice = "") const;

  std::string where_;
  NpyHeader header_;
  Buffer<char> elements_;
};

/// One .npy array. `possible_bytes` bounds what its header may claim. Throws InputError; pickled
/// Python objects are refused with what to do instead.
NpyArray read_npy_array(ByteSource& source, std::uint64_t possible_bytes);

class NpzArchive {
 public:
  /// Lists the arrays; reads none.
  explicit NpzArchive(ArchivePlace archive, const SourceLimits& limits = {});

  /// Its name in messages.
  std::string path() const { return archive_.name(); }
  bool has(const std::string& name) const;
  /// Names without ".npy".
  std::vector<std::string> names() const;

  /// The array called `name`. Its size is checked against the archive before memory is taken.
  /// Pickled Python objects are refused with what to do instead.
  NpyArray read(const std::string& name) const;
  /// The same, but looks at the header only.
  NpyHeader read_header(const std::string& name) const;

 private:
  ArchivePlace archive_;
  SourceLimits limits_;
  std::uint64_t possible_bytes_ = 0;  // of an array
  std::vector<ArchiveMember> members_;
};

}  // namespace csrkit
