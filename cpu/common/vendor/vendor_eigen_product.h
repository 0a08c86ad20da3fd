// The products of Eigen, behind plain pointers: nothing else of Eigen is seen outside of
// vendor_eigen_product.cpp.
#pragma once

namespace csrkit::cpu {

template <class Value>
struct EigenOperands {
  int rows, cols, nnz, dense_cols;
  const int* row_offsets;
  const int* col_indices;
  const Value* values;
  const Value* b;
  long b_leading_dim;
  Value* c;
  long c_leading_dim;
  int threads;
};

void multiply_matrix_with_eigen(const EigenOperands<float>& x);
void multiply_matrix_with_eigen(const EigenOperands<double>& x);
/// B and C are vectors.
void multiply_vector_with_eigen(const EigenOperands<float>& x);
void multiply_vector_with_eigen(const EigenOperands<double>& x);

/// "3.4.0, avx512"
const char* eigen_version();

}  // namespace csrkit::cpu
