// random: a uniform shuffle (Durstenfeld's version of Fisher and Yates, CACM 7(7), 1964). Destroys
// whatever locality the input had: the other end of the scale from the orderings that make some.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/hash.h"
#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

Ordering random(const CsrMatrix& matrix, const MethodRequest& request) {
  Buffer<Index> old_of_new(matrix.rows());
  std::iota(old_of_new.begin(), old_of_new.end(), Index{0});
  RandomStream stream(request.seed);
  for (Index left = matrix.rows(); left > 1; --left) {
    std::swap(old_of_new[left - 1],
              old_of_new[static_cast<Offset>(stream.below(static_cast<std::uint64_t>(left)))]);
  }
  return {Permutation::from_old_of_new(std::move(old_of_new))};
}

}  // namespace csrkit::reorder
