// Where arrays are.
#pragma once

namespace csrkit {

enum class MemorySpace { host, device };

}  // namespace csrkit
