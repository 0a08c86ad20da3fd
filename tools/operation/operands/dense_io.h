// Dense operands of the tools: from a .npy file or from a seed, and back to a .npy file.
#pragma once

#include <optional>
#include <string>

#include "core/file/npy_map.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// The matrix with every element converted to `kind` (one rounding each).
DenseMatrix convert_dense(const DenseMatrix& from, ValueKind kind);

/// B for a product. From `path` if that is not "": its shape must be rows x cols, and its kind
/// `kind` unless `may_convert`. Otherwise random, a pure function of (seed, row, column).
DenseMatrix make_dense_input(const std::string& path, Index rows, Index cols, ValueKind kind,
                             bool may_convert, std::uint64_t seed);

/// B for a product: as make_dense_input, or, if it `may_map` a large file, in that file.
class DenseOperand {
 public:
  DenseOperand(const std::string& path, Index rows, Index cols, ValueKind kind, bool may_convert,
               std::uint64_t seed, bool may_map);
  ConstDenseView view() const { return mapped_ ? mapped_->view() : memory_.view(); }
  bool is_mapped() const { return mapped_.has_value(); }

 private:
  std::optional<MappedNpy> mapped_;
  DenseMatrix memory_;
};

/// C of a product: in memory or, if it `may_map` a large one that is to be written, in its file.
class DenseResult {
 public:
  DenseResult(const std::string& path, Index rows, Index cols, ValueKind kind, bool may_map);
  DenseView view() { return mapped_ ? mapped_->view() : memory_.view(); }
  bool is_mapped() const { return mapped_.has_value(); }
  /// From here on the file is there.
  void write(const std::string& path);

 private:
  std::optional<MappedNpyOutput> mapped_;
  DenseMatrix memory_;
};

/// Whether DenseOperand and DenseResult map a file of that size.
bool is_worth_mapping(std::uint64_t bytes);

}  // namespace csrkit
