#include "cpu/common/alike_rows.h"

#include <algorithm>

namespace csrkit::cpu {

AlikeRows find_alike_rows(const CsrMatrix& a, int threads) {
  AlikeRows found;
  found.next_is_alike = Buffer<std::uint8_t>(a.rows());
  const Offset* const offsets = a.row_offsets();
  const Index* const cols = a.col_indices();
  const auto is_alike = [&](Index i) {
    const Offset begin = offsets[i], end = offsets[i + 1];
    return begin < end && i + 1 < a.rows() && offsets[i + 2] - end == end - begin &&
           std::equal(cols + begin, cols + end, cols + end);
  };
  Offset entries = 0, of_firsts = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (Index i = 0; i < a.rows(); ++i) {
      found.next_is_alike[i] = static_cast<std::uint8_t>(is_alike(i) ? 1 : 0);
    }
#pragma omp for schedule(static) reduction(+ : entries, of_firsts)
    for (Index i = 0; i < a.rows(); ++i) {
      const bool has_one_before = i > 0 && found.next_is_alike[i - 1] != 0;
      const bool has_one_after = found.next_is_alike[i] != 0;
      const Offset length = offsets[i + 1] - offsets[i];
      if (has_one_before || has_one_after) entries += length;
      if (has_one_after && !has_one_before) of_firsts += length;
    }
  }
  found.entries = entries;
  found.of_firsts = of_firsts;
  return found;
}

bool are_worth_joining(const AlikeRows& rows, const CsrMatrix& a) {
  constexpr Offset kShare = 8;
  return rows.entries > 0 && rows.entries >= a.nnz() / kShare;
}

}  // namespace csrkit::cpu
