// Kernels that had other names when records were written.
#pragma once

#include <string>

namespace csrkit {

/// The full name, with its variant if it has one, under which a recorded kernel is known today:
/// "cpu.spmm.unrolled:8" for "cpu.spmm.unrolled_8". A name that never changed is returned as it is.
std::string current_kernel_name(const std::string& recorded);

}  // namespace csrkit
