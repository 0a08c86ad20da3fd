// A sparse product by a kernel of this machine, and what its plan says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cpu/common/kernels.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

/// C by a kernel with so many threads, whose plan has to stay below its own forecast; `choice` gets
/// what the plan says of itself.
inline CsrMatrix product_by(const char* kernel, int threads, const SpgemmProblem& problem,
                            std::string* choice) {
  PlanOptions options;
  options.where.threads = threads;
  const auto plan = find_kernel(cpu::spgemm_kernels(), kernel).make_plan(problem, options);
  CsrMatrix c = product_of(*plan, problem);
  EXPECT_LE(plan->phases().peak_bytes, plan->forecast().peak_bytes);
  *choice = plan->choice();
  return c;
}

}  // namespace csrkit::testing
