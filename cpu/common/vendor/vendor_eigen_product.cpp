// Compiled for the machine at hand, because Eigen chooses its vectors at compile time. No header of
// ours with inline functions may be included here: the linker could take their wide versions for
// the rest of the program.
#include "cpu/common/vendor/vendor_eigen_product.h"

#include <Eigen/Sparse>

namespace csrkit::cpu {

namespace {

template <class Value>
auto matrix_of(const EigenOperands<Value>& x) {
  return Eigen::Map<const Eigen::SparseMatrix<Value, Eigen::RowMajor, int>>(
      x.rows, x.cols, x.nnz, x.row_offsets, x.col_indices, x.values);
}

template <class Value>
void multiply_matrix(const EigenOperands<Value>& x) {
  using Dense = Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Dense, 0, Stride> b(x.b, x.cols, x.dense_cols, Stride(x.b_leading_dim));
  Eigen::Map<Dense, 0, Stride> c(x.c, x.rows, x.dense_cols, Stride(x.c_leading_dim));
  Eigen::setNbThreads(x.threads);
  c.noalias() = matrix_of(x) * b;
}

template <class Value>
void multiply_vector(const EigenOperands<Value>& x) {
  using Vector = Eigen::Matrix<Value, Eigen::Dynamic, 1>;
  const Eigen::Map<const Vector> b(x.b, x.cols);
  Eigen::Map<Vector> c(x.c, x.rows);
  Eigen::setNbThreads(x.threads);
  c.noalias() = matrix_of(x) * b;
}

}  // namespace

void multiply_matrix_with_eigen(const EigenOperands<float>& x) { multiply_matrix(x); }
void multiply_matrix_with_eigen(const EigenOperands<double>& x) { multiply_matrix(x); }
void multiply_vector_with_eigen(const EigenOperands<float>& x) { multiply_vector(x); }
void multiply_vector_with_eigen(const EigenOperands<double>& x) { multiply_vector(x); }

const char* eigen_version() {
#define CSRKIT_TEXT(x) #x
#define CSRKIT_VERSION_TEXT(world, major, minor) \
  "Eigen " CSRKIT_TEXT(world) "." CSRKIT_TEXT(major) "." CSRKIT_TEXT(minor)
#if defined(EIGEN_VECTORIZE_AVX512)
  return CSRKIT_VERSION_TEXT(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                             EIGEN_MINOR_VERSION) ", avx512";
#elif defined(EIGEN_VECTORIZE_AVX2)
  return CSRKIT_VERSION_TEXT(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                             EIGEN_MINOR_VERSION) ", avx2";
#else
  return CSRKIT_VERSION_TEXT(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
#endif
}

}  // namespace csrkit::cpu
