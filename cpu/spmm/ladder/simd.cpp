// simd: blocks of columns in loops that the compiler is told to vectorise.
// Owns     a thread makes whole rows of C, 32 columns at a time; the last block is shorter
// Reads    a row of A once per block of columns (from L1 after the first); of B a piece of a row
// Launch   as row_parallel. 32 floats are 8 of the 16 vector registers that every x86-64 has
// Needs    nothing
// Against  unrolled: left-over columns are vectors too, and nothing depends on the compiler's
//          taste; compiled once for the oldest x86-64, so a wide machine computes in quarter
//          vectors
#include <algorithm>

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

namespace {

constexpr Index kBlock = 32;

template <class Kinds>
struct Simd {
  using Acc = typename Kinds::Acc;

  static void multiply(const Operands<Kinds>& x) {
    const ScopedSchedule schedule(x.team);
#pragma omp parallel for schedule(runtime) num_threads(x.team.threads)
    for (Index i = 0; i < x.a.rows; ++i) {
      Index j = 0;
      for (; j <= x.dense_cols - kBlock; j += kBlock) multiply_full_block(x, i, j);
      if (j < x.dense_cols) multiply_short_block(x, i, j);
    }
  }

 private:
  static void multiply_full_block(const Operands<Kinds>& x, Index i, Index j) {
    alignas(64) Acc sum[kBlock] = {};
    for (Offset at = x.a.row_offsets[i]; at < x.a.row_offsets[i + 1]; ++at) {
      const Acc value = x.a.template value_as<Acc>(at);
      const auto* b = x.b_row(x.a.col_indices[at]) + j;
#pragma omp simd
      for (Index k = 0; k < kBlock; ++k) sum[k] += value * load_as<Acc>(b[k]);
    }
    store_block(x, i, j, sum, kBlock);
  }

  static void multiply_short_block(const Operands<Kinds>& x, Index i, Index j) {
    alignas(64) Acc sum[kBlock] = {};
    const Index count = x.dense_cols - j;
    for (Offset at = x.a.row_offsets[i]; at < x.a.row_offsets[i + 1]; ++at) {
      const Acc value = x.a.template value_as<Acc>(at);
      const auto* b = x.b_row(x.a.col_indices[at]) + j;
#pragma omp simd
      for (Index k = 0; k < count; ++k) sum[k] += value * load_as<Acc>(b[k]);
    }
    store_block(x, i, j, sum, count);
  }

  static void store_block(const Operands<Kinds>& x, Index i, Index j, const Acc* sum, Index count) {
    auto* c = x.c_row(i) + j;
    for (Index k = 0; k < count; ++k) x.store(c[k], sum[k]);
  }
};

}  // namespace

std::unique_ptr<SpmmMethod> make_simd(const MethodInput& input) {
  return make_stateless<Simd>(input);
}

}  // namespace csrkit::cpu
