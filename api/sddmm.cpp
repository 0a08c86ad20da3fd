// SDDMM of csrkit.h: dense products where a matrix has entries.
#include "core/contract/sddmm.h"

#include "api/handles.h"
#include "core/contract/takes_stream.h"
#include "cpu/common/kernels.h"

struct csrkit_sddmm {
  std::unique_ptr<csrkit::SddmmPlan> plan;
  std::string kernel, choice;  // what csrkit_sddmm_describe points to
};

namespace csrkit::api {

namespace {

SddmmProblem sddmm_problem_of(const CsrMatrix& a, const csrkit_sddmm_options& given) {
  const std::int64_t cols = given.dense_cols == 0 ? 1 : given.dense_cols;
  SddmmProblem problem =
      default_sddmm_problem(a, checked_cast<Index, UsageError>(cols, "dense_cols"));
  problem.multiplies_by_a = given.times_values != 0;
  set_dense_kind(&problem, kind_of(given.kind, problem.x));
  problem.c = kind_of(given.c_kind, problem.c);
  return problem;
}

/// C: nnz x 1 without gaps.
ValuesView values_of(const csrkit_dense* c) {
  const csrkit_dense given = read_operand(c, "C");
  if (given.cols != 1 || given.leading_dim > 1) {
    throw UsageError("C must be one column without gaps");
  }
  return {given.data, kind_of(given.kind, ValueKind::f32), given.rows,
          given.space == CSRKIT_HOST ? MemorySpace::host : MemorySpace::device};
}

}  // namespace

}  // namespace csrkit::api

using namespace csrkit;
using namespace csrkit::api;

csrkit_status csrkit_sddmm_make(const csrkit_matrix* matrix, const csrkit_sddmm_options* options,
                                csrkit_sddmm** plan) {
  return guarded([&] {
    require_given(matrix, "matrix");
    require_given(plan, "plan");
    const csrkit_sddmm_options given = read_options(options, "csrkit_sddmm_options");
    PlanOptions plan_options;
    plan_options.memory_limit_bytes = given.memory_limit_bytes;
    plan_options.where.threads = given.threads;
    plan_options.where.device = given.device;
    plan_options.where.stream = given.stream;
    const std::string room = text_or(given.room, kCpu);
    const auto& kernels =
        kernels_in(room, &cpu::sddmm_kernels, &gpu::Face::sddmm_kernels, "a plan on a GPU");
    auto handle = std::make_unique<csrkit_sddmm>();
    handle->kernel = name_in_table(room, {"sddmm"}, text_or(given.kernel, "auto"));
    handle->plan = find_kernel(kernels, handle->kernel)
                       .make_plan(sddmm_problem_of(matrix->file.matrix, given), plan_options);
    if (const std::string chosen = handle->plan->chosen_kernel(); !chosen.empty()) {
      handle->kernel = chosen;
    }
    *plan = handle.release();
  });
}

csrkit_status csrkit_sddmm_multiply(csrkit_sddmm* plan, const csrkit_dense* x,
                                    const csrkit_dense* y, const csrkit_dense* c, double alpha,
                                    double beta) {
  return guarded([&] {
    require_given(plan, "plan");
    const ValuesView values = values_of(c);
    const ConstDenseView of_x = view_of(x, "X"), of_y = view_of(y, "Y"), of_c = view_of(c, "C");
    require_apart(of_x, "X", of_c);
    require_apart(of_y, "Y", of_c);
    plan->plan->bind(of_x, of_y, values);
    plan->plan->multiply(alpha, beta);
    if (values.space == MemorySpace::host) plan->plan->fetch_output();
  });
}

csrkit_status csrkit_sddmm_use_stream(csrkit_sddmm* plan, void* stream) {
  return guarded([&] {
    require_given(plan, "plan");
    use_stream(*plan->plan, stream);
  });
}

csrkit_status csrkit_sddmm_describe(csrkit_sddmm* plan, const char** kernel, const char** choice) {
  return guarded([&] {
    require_given(plan, "plan");
    plan->choice = plan->plan->choice();
    if (kernel != nullptr) *kernel = plan->kernel.c_str();
    if (choice != nullptr) *choice = plan->choice.c_str();
  });
}

void csrkit_sddmm_free(csrkit_sddmm* plan) { delete plan; }
