// The inner loops for B in f64.
#include "cpu/spmm/rows/row_kernels.inc"

namespace csrkit::cpu {

template RowKernels<SpmmKinds<double, double, double, double>> row_kernels(Isa, Semiring);
template RowKernels<SpmmKinds<ImplicitOne, double, double, double>> row_kernels(Isa, Semiring);

}  // namespace csrkit::cpu
