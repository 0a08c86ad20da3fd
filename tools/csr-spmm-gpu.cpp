// csr-spmm-gpu: C = alpha * op(A) * B + beta * C on a GPU, checked and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("spmm", "gpu", argc, argv); }
