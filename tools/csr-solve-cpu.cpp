// csr-solve-cpu: A x = b on the CPU, by conjugate gradients.
#include "tools/solve/run.h"

int main(int argc, char** argv) { return csrkit::run_solve_tool("cpu", argc, argv); }
