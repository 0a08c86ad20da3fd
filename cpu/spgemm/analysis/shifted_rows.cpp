#include "cpu/spgemm/analysis/shifted_rows.h"

#include <omp.h>

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

void mark_shifted_rows(const CsrMatrix& a, Index first, Index last, std::uint8_t* marks) {
  for (Index row = first; row < last; ++row) marks[row] = next_is_shifted(a, row) ? 1 : 0;
}

void keep_shifted_products(const CsrMatrix& a, Index first, Index last, const std::uint8_t* of_a,
                           const std::uint8_t* of_b, std::uint8_t* found) {
  for (Index row = first; row < last; ++row) {
    std::uint8_t is_shifted = of_a[row];
    if (is_shifted != 0) {
      for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
        is_shifted &= of_b[a.col_indices()[at]];
      }
    }
    found[row] = is_shifted;
  }
}

Buffer<std::uint8_t> find_shifted_rows(const CsrMatrix& a, const CsrMatrix& op_b, int threads) {
  const bool b_is_a = a.col_indices() == op_b.col_indices() && a.rows() == op_b.rows();
  if (!may_have_shifted_rows(a, op_b)) return {};
  Buffer<std::uint8_t> of_a(a.rows()), of_other_b(b_is_a ? 0 : op_b.rows()), found(a.rows());
  const std::uint8_t* const of_b = b_is_a ? of_a.data() : of_other_b.data();
  const auto begin_of = [&](Index rows, int part, int parts) {
    return static_cast<Index>(Offset{rows} * part / parts);
  };
#pragma omp parallel num_threads(threads)
  {
    const int parts = omp_get_num_threads(), part = omp_get_thread_num();
    const Index first = begin_of(a.rows(), part, parts), last = begin_of(a.rows(), part + 1, parts);
    mark_shifted_rows(a, first, last, of_a.data());
    if (!b_is_a) {
      mark_shifted_rows(op_b, begin_of(op_b.rows(), part, parts),
                        begin_of(op_b.rows(), part + 1, parts), of_other_b.data());
    }
#pragma omp barrier
    keep_shifted_products(a, first, last, of_a.data(), of_b, found.data());
  }
  return found;
}

}  // namespace csrkit::cpu
