#include "tools/operation/operands/dense_io.h"

#include "core/base/error.h"
#include "core/file/npy_file.h"
#include "tools/operation/operands/losses.h"

namespace csrkit {

namespace {

std::string shape_of(Index rows, Index cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

void require_shape(const std::string& path, Index rows, Index cols, Index found_rows,
                   Index found_cols) {
  if (found_rows == rows && found_cols == cols) return;
  throw InputError(path + ": expected an array of " + shape_of(rows, cols) +
                   " (rows x columns), found " + shape_of(found_rows, found_cols));
}

}  // namespace

DenseMatrix convert_dense(const DenseMatrix& from, ValueKind kind) {
  DenseMatrix to(from.rows(), from.cols(), kind);
  const ConstDenseView source = from.view();
  const DenseView target = to.view();
  for (Index i = 0; i < from.rows(); ++i) {
    for (Index j = 0; j < from.cols(); ++j) target.set(i, j, source.at(i, j));
  }
  return to;
}

DenseMatrix make_dense_input(const std::string& path, Index rows, Index cols, ValueKind kind,
                             bool may_convert, std::uint64_t seed) {
  if (path.empty()) {
    DenseMatrix random(rows, cols, kind);
    fill_random(random.view(), seed);
    return random;
  }
  DenseMatrix dense = read_npy(path);
  require_shape(path, rows, cols, dense.rows(), dense.cols());
  if (dense.kind() == kind) return dense;
  if (!may_convert) {
    throw InputError(path + ": expected elements of " + name_of(kind) + ", found " +
                     name_of(dense.kind()) + "; --dense-kind " + name_of(kind) +
                     " converts them, or convert the matrix with --value-kind");
  }
  Losses losses;
  losses.note(std::as_const(dense).view(), kind);
  warn_of_losses(path, losses);
  return convert_dense(dense, kind);
}

bool is_worth_mapping(std::uint64_t bytes) {
  constexpr std::uint64_t kMapAbove = 64ull << 20;  // as for .csr files
  return bytes > kMapAbove;
}

DenseOperand::DenseOperand(const std::string& path, Index rows, Index cols, ValueKind kind,
                           bool may_convert, std::uint64_t seed, bool may_map) {
  if (may_map && !path.empty()) {
    const NpyFile file(path);
    require_shape(path, rows, cols, file.rows(), file.cols());
    if (file.kind() == kind && MappedNpy::can_map(file) &&
        is_worth_mapping(file.file().size_bytes())) {
      mapped_.emplace(file);
      return;
    }
  }
  memory_ = make_dense_input(path, rows, cols, kind, may_convert, seed);
}

DenseResult::DenseResult(const std::string& path, Index rows, Index cols, ValueKind kind,
                         bool may_map) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
                              static_cast<std::uint64_t>(size_of(kind));
  if (may_map && !path.empty() && MappedNpyOutput::can_map(kind) && is_worth_mapping(bytes)) {
    mapped_.emplace(path, rows, cols, kind);
  } else {
    memory_ = DenseMatrix(rows, cols, kind);
  }
}

void DenseResult::write(const std::string& path) {
  if (mapped_) {
    mapped_->commit();
  } else {
    write_npy(path, std::as_const(memory_).view());
  }
}

}  // namespace csrkit
