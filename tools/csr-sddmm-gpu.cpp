// csr-sddmm-gpu: two dense matrices multiplied where a sparse one has entries, on a GPU, checked
// and measured.
#include "tools/operation/tool.h"

int main(int argc, char** argv) { return csrkit::run_operation_tool("sddmm", "gpu", argc, argv); }
