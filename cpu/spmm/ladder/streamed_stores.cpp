// streamed_stores: register_blocks, and C is written past the caches.
// Owns     a thread makes blocks of 64 neighbouring rows of C
// Reads    as register_blocks
// Writes   C by non-temporal stores where its rows lie on vectors, otherwise as before: a line of C
//          is not read before it is written, and pushes no row of B out of a cache
// Launch   as row_parallel, in blocks of rows, because stores in flight are waited for after each
// Needs    nothing
// Against  register_blocks: wins where C does not fit the caches (short rows, wide B), loses where
//          it does and is used again
#include <algorithm>

#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

namespace {

constexpr Index kRowsPerBlock = 64;

template <class Kinds>
class StreamedStores : public SpmmMethod {
 public:
  explicit StreamedStores(const MethodInput& input)
      : op_a_(input.op_a),
        team_(input.team),
        kernels_(row_kernels<Kinds>(chosen_isa(), Semiring::plus_times)) {}

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    const ScopedSchedule schedule(team_);
    RowSettings settings;
    settings.streams_c = true;
    const Index blocks = x.a.rows / kRowsPerBlock + (x.a.rows % kRowsPerBlock != 0);
#pragma omp parallel for schedule(runtime) num_threads(team_.threads)
    for (Index block = 0; block < blocks; ++block) {
      const Index first = block * kRowsPerBlock;
      const Index last = first + std::min(kRowsPerBlock, x.a.rows - first);
      kernels_.rows(x, {first, last, 0, x.dense_cols, settings});
    }
  }

 private:
  CsrMatrix op_a_;
  Team team_;
  RowKernels<Kinds> kernels_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_streamed_stores(const MethodInput& input) {
  return with_spmm_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<StreamedStores<decltype(kinds)>>(input);
  });
}

}  // namespace csrkit::cpu
