// SpGEMM for tools: C = alpha * A * op(B), all three sparse.
#pragma once

#include <memory>

#include "core/contract/spgemm.h"
#include "tools/operation/product/typed_operation.h"

namespace csrkit {

/// With the kernels of this build.
const Operation& spgemm_operation();

/// With other kernels, for tests.
std::unique_ptr<Operation> make_spgemm_operation(KernelSource<Spgemm> source);

}  // namespace csrkit
