// auto: always one_pass_rows. Rows of one matrix differ more than matrices do, so the choice of an
// accumulator is made for every row, by accumulator_for in rows/row_products.h.
// Owns     the decision; the work is the kernel's
// Needs    nothing
// Against  choosing by hand: what is measured about the kernels is written down once
#include "cpu/spgemm/adaptive_rows.h"

namespace csrkit::cpu {

std::unique_ptr<SpgemmMethod> make_spgemm_auto(const SpgemmInput& input) {
  return make_adaptive(input, true, {"one_pass_rows", "it chooses for every row"});
}

}  // namespace csrkit::cpu
