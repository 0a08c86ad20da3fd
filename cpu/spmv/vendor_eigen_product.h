// The product of Eigen, behind plain pointers: nothing else of Eigen is seen outside of
// vendor_eigen_product.cpp.
#pragma once

namespace csrkit::cpu::spmv {

template <class Value>
struct EigenVectors {
  int rows, cols, nnz;
  const int* row_offsets;
  const int* col_indices;
  const Value* values;
  const Value* x;
  Value* y;
  int threads;
};

void multiply_with_eigen(const EigenVectors<float>& p);
void multiply_with_eigen(const EigenVectors<double>& p);

}  // namespace csrkit::cpu::spmv
