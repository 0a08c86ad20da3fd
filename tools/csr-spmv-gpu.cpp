// csr-spmv-gpu: y = alpha * op(A) * x + beta * y on a GPU, checked and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("spmv", "gpu", argc, argv); }
