#include "tools/operation/dense_io.h"

#include "core/base/error.h"
#include "core/file/npy_file.h"

namespace csrkit {

namespace {

std::string shape_of(Index rows, Index cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
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
  if (dense.rows() != rows || dense.cols() != cols) {
    throw InputError(path + ": expected an array of " + shape_of(rows, cols) +
                     " (rows of B x --dense-cols), found " + shape_of(dense.rows(), dense.cols()));
  }
  if (dense.kind() == kind) return dense;
  if (!may_convert) {
    throw InputError(path + ": expected elements of " + name_of(kind) + ", found " +
                     name_of(dense.kind()) + "; --dense-kind " + name_of(kind) +
                     " converts them, or convert the matrix with --value-kind");
  }
  return convert_dense(dense, kind);
}

}  // namespace csrkit
