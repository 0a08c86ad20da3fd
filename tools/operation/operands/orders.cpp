#include "tools/operation/operands/orders.h"

#include "tools/cli/log.h"

namespace csrkit {

namespace {

bool is_same(const std::optional<Permutation>& one, const std::optional<Permutation>& other,
             Index size) {
  const auto place = [](const std::optional<Permutation>& order, Index i) {
    return order ? order->new_of_old()[i] : i;
  };
  for (Index i = 0; i < size; ++i) {
    if (place(one, i) != place(other, i)) return false;
  }
  return true;
}

}  // namespace

void warn_of_other_order(const std::optional<Permutation>& one,
                         const std::optional<Permutation>& other, Index size,
                         const std::string& which) {
  if (is_same(one, other, size)) return;
  log_warning(
      which +
      " are in different orders: this is no product of the matrices at import; reorder them "
      "alike, or take them as csr-reorder --undo gives them back");
}

}  // namespace csrkit
