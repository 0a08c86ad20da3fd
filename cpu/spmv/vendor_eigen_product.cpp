// Compiled for the machine at hand, because Eigen chooses its vectors at compile time. No header of
// ours with inline functions may be included here: the linker could take their wide versions for
// the rest of the program.
#include "cpu/spmv/vendor_eigen_product.h"

#include <Eigen/Sparse>

namespace csrkit::cpu::spmv {

namespace {

template <class Value>
void multiply(const EigenVectors<Value>& p) {
  using Vector = Eigen::Matrix<Value, Eigen::Dynamic, 1>;
  const Eigen::Map<const Eigen::SparseMatrix<Value, Eigen::RowMajor, int>> a(
      p.rows, p.cols, p.nnz, p.row_offsets, p.col_indices, p.values);
  const Eigen::Map<const Vector> x(p.x, p.cols);
  Eigen::Map<Vector> y(p.y, p.rows);
  Eigen::setNbThreads(p.threads);
  y.noalias() = a * x;
}

}  // namespace

void multiply_with_eigen(const EigenVectors<float>& p) { multiply(p); }
void multiply_with_eigen(const EigenVectors<double>& p) { multiply(p); }

}  // namespace csrkit::cpu::spmv
