// How much memory may still be used: what forecasts are compared with.
#pragma once

#include <cstdint>

namespace csrkit {

/// Bytes this process can still allocate without the kernel having to kill something: the smaller
/// of the machine's MemAvailable and what is left under the limits of the control groups (version
/// 2) it runs in, page cache counted as free. UINT64_MAX if the system tells neither.
std::uint64_t available_memory_bytes();

/// Throws MemoryError with both numbers if `needed_bytes` is more than that. `what` starts the
/// message; `advice` ends it with something to try.
void require_available_memory(std::uint64_t needed_bytes, const char* what, const char* advice);

}  // namespace csrkit
