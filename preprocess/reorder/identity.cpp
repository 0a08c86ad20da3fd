// identity: every row stays where it is. The baseline of every comparison of orderings.
#include "preprocess/reorder/reorder.h"

namespace csrkit::reorder {

Ordering identity(const CsrMatrix& matrix, const ReorderOptions&) {
  return {Permutation::identity(matrix.rows())};
}

}  // namespace csrkit::reorder
