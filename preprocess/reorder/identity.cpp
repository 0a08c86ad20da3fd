// identity: every row stays where it is. The baseline of every comparison of orderings.
#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

Ordering identity(const CsrMatrix& matrix, const MethodRequest&) {
  return {Permutation::identity(matrix.rows())};
}

}  // namespace csrkit::reorder
