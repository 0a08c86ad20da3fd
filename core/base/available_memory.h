// How much memory is available: the number that forecasts are compared with.
#pragma once

#include <cstdint>

namespace csrkit {

/// Bytes that this process can still allocate before the kernel must kill something: the smaller
/// one of the machine's MemAvailable and the room under the limits of its control groups (version
/// 2), page cache counted as free. UINT64_MAX if the system reports neither.
std::uint64_t available_memory_bytes();

/// Throws MemoryError with both numbers if more than the available memory is needed. `what` begins
/// the message; `advice` ends it with something to try.
void require_available_memory(std::uint64_t needed_bytes, const char* what, const char* advice);

}  // namespace csrkit
