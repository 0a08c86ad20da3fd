// Which build this library is, for libraries that are opened at run time and share its types.
#pragma once

namespace csrkit {

/// Equal in two libraries if they were compiled from the same public headers by the same compiler:
/// then they agree on what their types look like. 32 hexadecimal digits.
const char* build_id();

}  // namespace csrkit
