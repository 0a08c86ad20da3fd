// Conjugate gradients (Hestenes, Stiefel 1952) with a preconditioner, as an OpenMP program.
//   Owns:    five vectors per right-hand side, the preconditioner, A in the kind of the iteration.
//   Passes:  per iteration one product, and three over vectors: p'q; r, z, r'r, r'z; x, p.
//   Against: vendor_mkl, which makes five passes beside the product.
#include "cpu/solve/cg_method.h"

namespace csrkit::cpu {

std::unique_ptr<SolveMethod> make_cg(const SolveInput& input) {
  switch (input.problem.precision) {
    case Precision::f64: return std::make_unique<CgMethod<double, double>>(input);
    case Precision::f32: return std::make_unique<CgMethod<float, float>>(input);
    case Precision::refined: return std::make_unique<CgMethod<float, double>>(input);
  }
  return nullptr;
}

}  // namespace csrkit::cpu
