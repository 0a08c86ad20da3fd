// The compressed format, for auto, which takes it where it is smaller.
#pragma once

#include "cpu/common/operator_plan.h"

namespace csrkit::cpu::spmv {

/// The format, or null if a product would read more than `most_bytes` of A: then only the search
/// for the forms of the slices was made.
std::unique_ptr<SpmmMethod> make_compressed_within(const MethodInput& input,
                                                   std::uint64_t most_bytes);

}  // namespace csrkit::cpu::spmv
