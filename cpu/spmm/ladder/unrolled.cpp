// unrolled: the loop over columns unrolled 4, 8, 16 or 32 times, sums in local variables.
// Owns     a thread makes whole rows of C, that many columns at a time; what is left over one by
//          one
// Reads    a row of A once per block of columns (from L1 after the first); of B a piece of a row
// Launch   as row_parallel
// Needs    nothing
// Against  row_parallel: sums stay in registers and are written once; with wide B the row of A is
//          walked again for every block, left-over columns go one at a time, and the compiler
//          decides what becomes a vector
#include "cpu/common/operator_plan.h"
#include "cpu/spmm/settings.h"

namespace csrkit::cpu {

namespace {

/// Columns [j, j + kColumns) of row i.
template <int kColumns, class Kinds>
void multiply_block(const Operands<Kinds>& x, Index i, Index j) {
  using Acc = typename Kinds::Acc;
  Acc sum[kColumns] = {};
  for (Offset at = x.a.row_offsets[i]; at < x.a.row_offsets[i + 1]; ++at) {
    const Acc value = x.a.template value_as<Acc>(at);
    const auto* b = x.b_row(x.a.col_indices[at]) + j;
#pragma GCC unroll 32
    for (int k = 0; k < kColumns; ++k) sum[k] += value * load_as<Acc>(b[k]);
  }
  auto* c = x.c_row(i) + j;
#pragma GCC unroll 32
  for (int k = 0; k < kColumns; ++k) x.store(c[k], sum[k]);
}

template <int kColumns, class Kinds>
void multiply_unrolled(const Operands<Kinds>& x) {
  const ScopedSchedule schedule(x.team);
#pragma omp parallel for schedule(runtime) num_threads(x.team.threads)
  for (Index i = 0; i < x.a.rows; ++i) {
    Index j = 0;
    for (; j <= x.dense_cols - kColumns; j += kColumns) multiply_block<kColumns>(x, i, j);
    for (; j < x.dense_cols; ++j) multiply_block<1>(x, i, j);
  }
}

template <class Kinds>
struct Unrolled4 {
  static void multiply(const Operands<Kinds>& x) { multiply_unrolled<4>(x); }
};

template <class Kinds>
struct Unrolled8 {
  static void multiply(const Operands<Kinds>& x) { multiply_unrolled<8>(x); }
};

template <class Kinds>
struct Unrolled16 {
  static void multiply(const Operands<Kinds>& x) { multiply_unrolled<16>(x); }
};

template <class Kinds>
struct Unrolled32 {
  static void multiply(const Operands<Kinds>& x) { multiply_unrolled<32>(x); }
};

}  // namespace

std::vector<std::string> unrolled_widths(const SpmmProblem&) { return {"16", "4", "8", "32"}; }

std::unique_ptr<SpmmMethod> make_unrolled(const MethodInput& input) {
  if (input.variant.empty() || input.variant == "16") return make_stateless<Unrolled16>(input);
  if (input.variant == "4") return make_stateless<Unrolled4>(input);
  if (input.variant == "8") return make_stateless<Unrolled8>(input);
  if (input.variant == "32") return make_stateless<Unrolled32>(input);
  throw UsageError("variant '" + input.variant + "' is no width of unrolled; use 4, 8, 16 or 32");
}

}  // namespace csrkit::cpu
