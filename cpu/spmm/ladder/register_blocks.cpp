// register_blocks: rows as in row_parallel, sums in vector registers, coming rows of B asked for
// early.
// Owns     a thread makes whole rows of C, up to 16 vectors of columns at a time
// Reads    as rows/row_kernels_body.inc says: for every nonzero the block's stretch of one row of
//          B, which was asked for 4 KiB of work earlier
// Launch   as row_parallel
// Needs    nothing
// Against  simd and unrolled: the widest vectors of the machine at run time and no sum in memory;
//          the caches answer before the loads wait; rows are still shared out by number, not by
//          work
#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

namespace {

template <class Kinds>
class RegisterBlocks : public SpmmMethod {
 public:
  explicit RegisterBlocks(const MethodInput& input)
      : op_a_(input.op_a),
        team_(input.team),
        kernels_(row_kernels<Kinds>(chosen_isa(), Semiring::plus_times)) {}

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    const ScopedSchedule schedule(team_);
#pragma omp parallel for schedule(runtime) num_threads(team_.threads)
    for (Index i = 0; i < x.a.rows; ++i) {
      kernels_.rows(x, {i, i + 1, 0, x.dense_cols, RowSettings{}});
    }
  }

 private:
  CsrMatrix op_a_;
  Team team_;
  RowKernels<Kinds> kernels_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_register_blocks(const MethodInput& input) {
  return with_spmm_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<RegisterBlocks<decltype(kinds)>>(input);
  });
}

}  // namespace csrkit::cpu
