// Products of two sparse matrices of csrkit.h.
#include "core/contract/spgemm.h"

#include "api/handles.h"
#include "core/matrix/csr_sink.h"
#include "cpu/common/kernels.h"

namespace csrkit::api {

namespace {

CsrMatrix product(const CsrMatrix& a, const CsrMatrix& b, const csrkit_spgemm_options& given) {
  SpgemmProblem problem = default_spgemm_problem(a, b, given.transpose != 0);
  problem.drop_below = given.drop_below;
  problem.semiring = parse_semiring(text_or(given.semiring, "plus-times"));
  if (given.mask != nullptr) problem.mask = given.mask->file.matrix;
  PlanOptions options;
  options.memory_limit_bytes = given.memory_limit_bytes;
  options.where.threads = given.threads;
  options.where.device = given.device;
  const std::string room = text_or(given.room, kCpu);
  const auto& kernels =
      kernels_in(room, &cpu::spgemm_kernels, &gpu::Face::spgemm_kernels, "a product on a GPU");
  const auto plan =
      find_kernel(kernels, name_in_table(room, {"spgemm"}, text_or(given.kernel, "auto")))
          .make_plan(problem, options);
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  plan->multiply(sink);
  return sink.finish();
}

}  // namespace

}  // namespace csrkit::api

csrkit_status csrkit_spgemm(const csrkit_matrix* a, const csrkit_matrix* b,
                            const csrkit_spgemm_options* options, csrkit_matrix** c) {
  using namespace csrkit;
  using namespace csrkit::api;
  return guarded([&] {
    require_given(a, "a");
    require_given(b, "b");
    require_given(c, "c");
    auto handle = std::make_unique<csrkit_matrix>();
    const auto given = read_options(options, "csrkit_spgemm_options");
    handle->file.matrix = product(a->file.matrix, b->file.matrix, given);
    // Rows of C are those of A, columns those of op(B).
    handle->file.row_order = a->file.row_order;
    handle->file.col_order = given.transpose != 0 ? b->file.row_order : b->file.col_order;
    *c = handle.release();
  });
}
