// What adaptive_rows and one_pass_rows share: the same rows, counted first or not.
#pragma once

#include "cpu/spgemm/plan.h"

namespace csrkit::cpu {

/// The kernel that a chooser chose, and why; no text if it was asked for.
struct Chosen {
  std::string kernel = {};
  std::string because = {};
};

/// With `makes_rows_once`, the method offers SpgemmMethod::one_pass.
std::unique_ptr<SpgemmMethod> make_adaptive(const SpgemmInput& input, bool makes_rows_once,
                                            const Chosen& chosen = {});

}  // namespace csrkit::cpu
