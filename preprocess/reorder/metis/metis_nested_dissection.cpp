// metis-nested-dissection: METIS's multilevel nested dissection (Karypis, Kumar, SIAM J. Sci.
// Comput. 20(1), 1998), made to keep the fill of a sparse factorisation low: the halves of the
// graph first, recursively, the vertices that separate them last.
#include <utility>

#include "preprocess/reorder/method.h"
#include "preprocess/reorder/metis/metis_call.h"

namespace csrkit::reorder {

Ordering metis_nested_dissection(const CsrMatrix& matrix, const MethodRequest& request) {
  const MetisJob job(matrix);
  const Index n = matrix.rows();
  // Without edges there is nothing to dissect, and METIS does not take graphs without vertices.
  if (job.exchange().entries == 0) return {Permutation::identity(n)};
  run_metis("METIS_NodeND", job, request);
  const idx_t* const iperm = job.exchange().result() + n;
  // METIS's manual: with A' the reordered matrix, A' = A[perm] and A = A'[iperm]. So iperm tells
  // where an old row goes. The unit test on the fill of a grid fails if the two are exchanged.
  Buffer<Index> new_of_old(n);
  for (Index i = 0; i < n; ++i) new_of_old[i] = static_cast<Index>(iperm[i]);
  try {
    return {Permutation::from_new_of_old(std::move(new_of_old), "METIS_NodeND")};
  } catch (const InputError& fault) {
    throw Error(std::string(fault.what()) + "; try the method rcm or degree, or another seed");
  }
}

}  // namespace csrkit::reorder
