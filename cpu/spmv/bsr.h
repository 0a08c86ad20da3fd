// Dense blocks in a matrix, for auto.
#pragma once

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu::spmv {

/// Square blocks at multiples of their size, of which every entry is stored.
struct BlocksFound {
  int size = 2;     // the one of 2, 3, 4, 6, 8 that saves most bytes
  double part = 0;  // of the entries that lie in such blocks
};

/// From evenly spread samples of at most about a million entries.
BlocksFound find_blocks(const CsrMatrix& a);

/// What a product is expected to read of A.
std::uint64_t expected_bsr_bytes(const CsrMatrix& a, const BlocksFound& found);

std::unique_ptr<SpmmMethod> make_bsr(const MethodInput& input);

}  // namespace csrkit::cpu::spmv
