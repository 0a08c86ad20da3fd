// The inner loops for B in f16.
#include "cpu/spmm/rows/row_kernels.inc"

namespace csrkit::cpu {

template RowKernels<SpmmKinds<f16, f16, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<f16, f16, f16, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<float, f16, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<float, f16, f16, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<ImplicitOne, f16, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<ImplicitOne, f16, f16, float>> row_kernels(Isa, Semiring);

}  // namespace csrkit::cpu
