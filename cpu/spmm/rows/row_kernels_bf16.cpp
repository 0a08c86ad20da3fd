// The inner loops for B in bf16.
#include "cpu/spmm/rows/row_kernels.inc"

namespace csrkit::cpu {

template RowKernels<SpmmKinds<bf16, bf16, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<bf16, bf16, bf16, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<float, bf16, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<float, bf16, bf16, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<ImplicitOne, bf16, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<ImplicitOne, bf16, bf16, float>> row_kernels(Isa, Semiring);

}  // namespace csrkit::cpu
