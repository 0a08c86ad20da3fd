// The compressed format, for auto, which takes it where it is smaller.
#pragma once

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu::spmv {

struct CompressedLimits {
  std::uint64_t most_bytes;         // of A that a product may read
  double least_by_diagonals = 0.0;  // share of the slices
  /// The same limit where nearly all slices are diagonals: then a product gathers next to nothing.
  std::uint64_t most_bytes_of_diagonals = 0;
};

/// The format, or null beyond the limits: then only the search for the forms of the slices was
/// made.
std::unique_ptr<SpmmMethod> make_compressed_within(const MethodInput& input,
                                                   const CompressedLimits& limits);

}  // namespace csrkit::cpu::spmv
