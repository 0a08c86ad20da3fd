// New values of a known C from a list of its products, where that pays.
#pragma once

#include <string>

#include "gpu/spgemm/adaptive_rows/rules/rules.h"
#include "gpu/spgemm/product_list/product_list.h"

namespace csrkit::gpu {

class ListedValues {
 public:
  /// Makes the list, if that pays. Returns whether it is made.
  bool make(const SpgemmOperands& op, const DeviceProduct& c, const BinLimits& limits,
            DeviceMemory& memory);
  void leave_out(const std::string& reason);

  bool is_made() const { return is_made_; }
  const ProductList& list() const { return list_; }
  /// How new values come, and why.
  const std::string& choice() const { return choice_; }

 private:
  ProductList list_;
  bool is_made_ = false;
  std::string choice_;
};

}  // namespace csrkit::gpu
