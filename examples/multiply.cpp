// Imports a matrix, multiplies it by the contract of the C++ headers, and checks the product.
//
//   multiply_cpp MATRIX
//
// MATRIX is anything that csr-import reads.
#include <core/base/error.h>
#include <core/contract/spmm.h>
#include <core/judge/compare.h>
#include <cpu/common/kernels.h>
#include <preprocess/import/import.h>

#include <iostream>

using namespace csrkit;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: multiply_cpp MATRIX\n";
    return 2;
  }
  try {
    const SpmmProblem problem = default_spmm_problem(import_matrix(argv[1]).matrix, 32);
    DenseMatrix b(problem.input_rows(), problem.dense_cols, problem.b);
    DenseMatrix c(problem.output_rows(), problem.dense_cols, problem.c);
    fill_random(b.view(), /*seed=*/1);

    const auto plan = find_kernel(cpu::spmm_kernels(), "auto").make_plan(problem, {});
    plan->bind(b.view(), c.view());
    plan->multiply();
    plan->fetch_output();

    const CheckResult check = check_spmm(problem, b.view(), 1, 0, nullptr, c.view(), {});
    std::cout << plan->chosen_kernel() << ": " << (check.passed ? "right" : check.failure) << "\n";
    return check.passed ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << "multiply_cpp: error: " << error.what() << "\n";
    return 3;
  }
}
