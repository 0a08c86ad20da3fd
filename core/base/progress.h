// How a library reports progress to its caller. Libraries never print.
#pragma once

#include <cstdint>
#include <functional>

namespace csrkit {

/// Called now and then, from one thread, with what is being done and how much of it is done, in
/// units of the phase (bytes, rows). `total` 0 means unknown. An empty callback is never called.
using ProgressCallback =
    std::function<void(const char* phase, std::uint64_t done, std::uint64_t total)>;

}  // namespace csrkit
