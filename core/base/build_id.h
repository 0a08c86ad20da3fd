// Which build this library is, for libraries that are opened at run time and share its types.
#pragma once

namespace csrkit {

/// 32 hexadecimal digits. Two libraries have the same id if they were compiled from the same public
/// headers by the same compiler: then they agree on the layout of their types.
const char* build_id();

}  // namespace csrkit
