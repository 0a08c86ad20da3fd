// SpMM for tools: C = alpha * op(A) * B + beta * C, B and C dense.
#pragma once

#include <memory>

#include "core/contract/spmm.h"
#include "tools/operation/product/typed_operation.h"

namespace csrkit {

/// With the kernels and marks of this build.
const Operation& spmm_operation();

/// y = alpha * op(A) * x + beta * y: one column, kernels of its own.
const Operation& spmv_operation();

/// With other kernels, for tests.
std::unique_ptr<Operation> make_spmm_operation(KernelSource<Spmm> source);

}  // namespace csrkit
