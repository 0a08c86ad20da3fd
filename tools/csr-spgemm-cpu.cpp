// csr-spgemm-cpu: C = alpha * A * op(B), all three sparse, on the CPU, checked and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("spgemm", "cpu", argc, argv); }
