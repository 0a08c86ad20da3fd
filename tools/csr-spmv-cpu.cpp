// csr-spmv-cpu: y = alpha * op(A) * x + beta * y on the CPU, checked and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("spmv", "cpu", argc, argv); }
