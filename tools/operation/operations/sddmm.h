// SDDMM for tools: C = alpha * S .* (X Y^T) + beta * A where A has entries, X and Y dense.
#pragma once

#include "core/contract/sddmm.h"
#include "tools/operation/product/typed_operation.h"

namespace csrkit {

/// With the kernels of this build.
const Operation& sddmm_operation();

}  // namespace csrkit
