#include "core/matrix/filled_columns.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace csrkit {

namespace {

struct PatternArrays {
  CsrMatrix of_rows;  // whose row offsets the pattern has
  Buffer<Index> places;
};

}  // namespace

FilledColumns filled_columns(const CsrMatrix& matrix) {
  const Offset nnz = matrix.nnz();
  const Index* const col_indices = matrix.col_indices();
  FilledColumns filled;
  filled.cols = Buffer<Index>::copy_of(col_indices, nnz);
  std::sort(filled.cols.begin(), filled.cols.end());
  filled.cols.truncate(std::unique(filled.cols.begin(), filled.cols.end()) - filled.cols.begin());
  auto arrays = std::make_shared<PatternArrays>(PatternArrays{matrix, Buffer<Index>(nnz)});
  Index* const places = arrays->places.data();
#pragma omp parallel for schedule(static)
  for (Offset at = 0; at < nnz; ++at) {
    places[at] = static_cast<Index>(
        std::lower_bound(filled.cols.begin(), filled.cols.end(), col_indices[at]) -
        filled.cols.begin());
  }
  filled.pattern =
      CsrMatrix(matrix.rows(), static_cast<Index>(filled.cols.size()), matrix.row_offsets(), places,
                ValueKind::none, nullptr, std::move(arrays));
  return filled;
}

}  // namespace csrkit
