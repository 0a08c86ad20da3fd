// The inner loops for sums in f32.
#include "cpu/spmv/inner_loops.inc"

namespace csrkit::cpu::spmv {

template InnerLoops<ImplicitOne, float> inner_loops(Isa);
template InnerLoops<float, float> inner_loops(Isa);
template InnerLoops<f16, float> inner_loops(Isa);
template InnerLoops<bf16, float> inner_loops(Isa);

}  // namespace csrkit::cpu::spmv
