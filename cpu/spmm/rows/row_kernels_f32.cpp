// The inner loops for B in f32.
#include "cpu/spmm/rows/row_kernels.inc"

namespace csrkit::cpu {

template RowKernels<SpmmKinds<float, float, float, float>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<ImplicitOne, float, float, float>> row_kernels(Isa, Semiring);

}  // namespace csrkit::cpu
