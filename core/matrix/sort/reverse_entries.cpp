#include <algorithm>
#include <utility>

#include "core/matrix/sort/entry_arrays.h"
#include "core/matrix/sort/sort_entries.h"

namespace csrkit {

namespace {

template <class Word>
void reverse_typed(CooMatrix& coo) {
  const Offset nnz = coo.nnz();
  const int threads = sort_threads_for(nnz);
  Index* rows = coo.row_indices.data();
  Index* cols = coo.col_indices.data();
  [[maybe_unused]] Word* words = coo.values.as<Word>();
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Offset i = 0; i < nnz / 2; ++i) {
    std::swap(rows[i], rows[nnz - 1 - i]);
    std::swap(cols[i], cols[nnz - 1 - i]);
    if constexpr (kHasWord<Word>) std::swap(words[i], words[nnz - 1 - i]);
  }
  if constexpr (kHasWord<Word>) {
    const auto is_repeat = [&](Offset i) {
      return rows[i] == rows[i - 1] && cols[i] == cols[i - 1];
    };
    // The thread that meets the first of equal entries turns their values; no other reads them.
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Offset i = 0; i < nnz; ++i) {
      if (i > 0 && is_repeat(i)) continue;
      Offset end = i + 1;
      while (end < nnz && is_repeat(end)) ++end;
      if (end > i + 1) std::reverse(words + i, words + end);
    }
  }
}

}  // namespace

void reverse_entries(CooMatrix& coo) {
  with_word_type(coo.values.kind(),
                 [&](auto tag) { reverse_typed<typename decltype(tag)::type>(coo); });
}

}  // namespace csrkit
