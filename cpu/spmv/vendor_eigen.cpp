// vendor_eigen: Eigen's sparse times vector, compiled for the vectors of the machine at hand.
// Owns     nothing; the work is Eigen's
// Reads    A in place, row offsets narrowed to 32 bits
// Launch   Eigen's own OpenMP loop over rows, on the plan's threads
// Needs    stored values, x and y without gaps, below 2^31 nonzeros, alpha 1 and beta 0
// Against  the kernels here: the library in most C++ programs. Source: Eigen 3.4
#include "cpu/common/vendor/vendor_eigen.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Value>
using VendorEigen = EigenMethod<Value, &multiply_vector_with_eigen>;

}  // namespace

std::unique_ptr<SpmmMethod> make_vendor_eigen(const MethodInput& input) {
  return make_vendor<VendorEigen>(input);
}

}  // namespace csrkit::cpu::spmv
