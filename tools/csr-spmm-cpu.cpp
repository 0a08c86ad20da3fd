// csr-spmm-cpu: C = alpha * op(A) * B + beta * C on the CPU, checked and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("spmm", "cpu", argc, argv); }
