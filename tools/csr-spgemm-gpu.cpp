// csr-spgemm-gpu: C = alpha * A * op(B), all three sparse, on a GPU, checked and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("spgemm", "gpu", argc, argv); }
