#include "gpu/spgemm/adaptive_rows/listed_values.h"

#include <algorithm>

#include "core/base/counted.h"

namespace csrkit::gpu {

bool ListedValues::make(const SpgemmOperands& op, const DeviceProduct& c, const BinLimits& limits,
                        DeviceMemory& memory) {
  const Offset products = count_products(op.a, op.b, memory).products;
  const auto per_entry =
      static_cast<double>(products) / static_cast<double>(std::max<Offset>(1, c.nnz));
  const std::uint32_t most =
      products <= limits.few_listed ? limits.most_listed_of_few : limits.most_listed;
  if (per_entry > most) {
    leave_out("an entry has " + counted(static_cast<Offset>(per_entry), "product") +
              ", more than " + std::to_string(most));
  } else if (const char* const reason = list_.make(op, c, products, memory)) {
    leave_out(reason);
  } else {
    is_made_ = true;
    choice_ = "; new values by a list of " + counted(products, "product") + " (" +
              counted(list_.size_bytes(), "byte") + ")";
  }
  return is_made_;
}

void ListedValues::leave_out(const std::string& reason) {
  choice_ = "; new values row by row (because " + reason + ")";
}

}  // namespace csrkit::gpu
