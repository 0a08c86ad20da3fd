// The inner loops for sums in f64.
#include "cpu/spmv/inner_loops.inc"

namespace csrkit::cpu::spmv {

template InnerLoops<ImplicitOne, double> inner_loops(Isa);
template InnerLoops<double, double> inner_loops(Isa);
template InnerLoops<float, double> inner_loops(Isa);

}  // namespace csrkit::cpu::spmv
