// csr-solve-gpu: A x = b on a GPU, by conjugate gradients.
#include "tools/solve/run.h"

int main(int argc, char** argv) { return csrkit::run_solve_tool("gpu", argc, argv); }
