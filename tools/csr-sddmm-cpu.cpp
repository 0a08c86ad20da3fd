// csr-sddmm-cpu: two dense matrices multiplied where a sparse one has entries, checked and
// measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("sddmm", "cpu", argc, argv); }
