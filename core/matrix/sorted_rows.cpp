#include "core/matrix/sorted_rows.h"

#include <omp.h>

#include <algorithm>
#include <numeric>

#include "core/base/team.h"

namespace csrkit {

CsrMatrix with_sorted_rows(const CsrMatrix& matrix, int threads) {
  const Index rows = matrix.rows();
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(matrix.nnz());
  ValueArray values(matrix.value_kind(), matrix.nnz());
  std::copy_n(matrix.row_offsets(), Offset{rows} + 1, row_offsets.data());
  Offset longest = 0;
  for (Index row = 0; row < rows; ++row) longest = std::max(longest, matrix.row_length(row));
  const int team = team_for(rows, team_size(threads));
  Buffer<Offset> places(longest * team);
  matrix.visit([&](auto view) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(team)
    for (Index row = 0; row < rows; ++row) {
      const Offset begin = view.row_offsets[row], count = view.row_offsets[row + 1] - begin;
      Offset* const from = places.data() + longest * omp_get_thread_num();
      std::iota(from, from + count, begin);
      std::sort(from, from + count,
                [&](Offset x, Offset y) { return view.col_indices[x] < view.col_indices[y]; });
      for (Offset i = 0; i < count; ++i) {
        col_indices[begin + i] = view.col_indices[from[i]];
        if constexpr (!std::is_same_v<decltype(view), CsrView<ImplicitOne>>) {
          using Value = std::remove_cv_t<std::remove_pointer_t<decltype(view.values)>>;
          values.template as<Value>()[begin + i] = view.values[from[i]];
        }
      }
    }
  });
  return CsrMatrix(rows, matrix.cols(), std::move(row_offsets), std::move(col_indices),
                   std::move(values));
}

}  // namespace csrkit
