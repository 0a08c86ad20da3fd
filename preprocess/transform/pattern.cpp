#include "preprocess/transform/pattern.h"

#include <memory>

namespace csrkit::transform {

CsrMatrix with_values(const CsrMatrix& pattern, ValueArray values) {
  struct Owner {
    CsrMatrix pattern;
    ValueArray values;
  };
  const ValueKind kind = values.kind();
  auto owner = std::make_shared<Owner>(Owner{pattern, std::move(values)});
  const void* data = owner->values.data();
  return CsrMatrix(pattern.rows(), pattern.cols(), pattern.row_offsets(), pattern.col_indices(),
                   kind, data, std::move(owner));
}

void require_square(const CsrMatrix& matrix, const char* what) {
  if (matrix.rows() == matrix.cols()) return;
  throw UsageError(std::string(what) + " needs a square matrix; this one is " +
                   std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols()));
}

void accumulate_lengths(Buffer<Offset>& offsets) {
  offsets[0] = 0;
  for (Offset i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
}

}  // namespace csrkit::transform
