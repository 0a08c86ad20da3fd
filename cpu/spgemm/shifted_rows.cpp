#include "cpu/spgemm/shifted_rows.h"

#include <algorithm>

namespace csrkit::cpu {

namespace {

constexpr Index kSamples = 64;
/// Rows at equal distances would all lie on one edge of a grid.
constexpr Offset kScatter = 2654435761;  // Knuth's multiplicative hash

bool next_is_shifted(const CsrMatrix& a, Index row) {
  const Offset* const offsets = a.row_offsets();
  const Index* const cols = a.col_indices();
  const Offset begin = offsets[row], end = offsets[row + 1];
  return row + 1 < a.rows() && begin < end && offsets[row + 2] - end == end - begin &&
         std::equal(cols + begin, cols + end, cols + end,
                    [](Index here, Index below) { return below == here + 1; });
}

/// Rows with fewer than `fewest` entries are made as fast without.
bool is_worth_a_look(const CsrMatrix& a, Offset fewest) {
  const Index samples = std::min(a.rows(), kSamples);
  Index shifted = 0;
  for (Index n = 0; n < samples; ++n) {
    const auto row = static_cast<Index>(n * kScatter % a.rows());
    if (a.row_length(row) >= fewest && next_is_shifted(a, row)) ++shifted;
  }
  return 2 * shifted > samples;
}

}  // namespace

bool may_have_shifted_rows(const CsrMatrix& a, const CsrMatrix& op_b) {
  const bool b_is_a = a.col_indices() == op_b.col_indices() && a.rows() == op_b.rows();
  return is_worth_a_look(a, 2) && (b_is_a || is_worth_a_look(op_b, 1));
}

Buffer<std::uint8_t> find_shifted_rows(const CsrMatrix& a, const CsrMatrix& op_b, int threads) {
  const bool b_is_a = a.col_indices() == op_b.col_indices() && a.rows() == op_b.rows();
  if (!may_have_shifted_rows(a, op_b)) return {};
  Buffer<std::uint8_t> of_a(a.rows()), of_other_b(b_is_a ? 0 : op_b.rows()), found(a.rows());
  const std::uint8_t* const of_b = b_is_a ? of_a.data() : of_other_b.data();
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (Index row = 0; row < a.rows(); ++row) of_a[row] = next_is_shifted(a, row) ? 1 : 0;
    if (!b_is_a) {
#pragma omp for schedule(static)
      for (Index row = 0; row < op_b.rows(); ++row) {
        of_other_b[row] = next_is_shifted(op_b, row) ? 1 : 0;
      }
    }
#pragma omp for schedule(static)
    for (Index row = 0; row < a.rows(); ++row) {
      std::uint8_t is_shifted = of_a[row];
      if (is_shifted != 0) {
        for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
          is_shifted &= of_b[a.col_indices()[at]];
        }
      }
      found[row] = is_shifted;
    }
  }
  return found;
}

}  // namespace csrkit::cpu
