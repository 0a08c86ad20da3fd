// What the tools of SpMM and SpMV say: options, and the first words and examples of their help.
#pragma once

#include "tools/operation/product/operation.h"

namespace csrkit {

OperationFacts spmm_facts();
OperationFacts spmv_facts();
ToolPage spmm_page(const std::string& room);
ToolPage spmv_page(const std::string& room);

}  // namespace csrkit
