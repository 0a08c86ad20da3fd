#include "core/base/build_id.h"

#include <csrkit_build_id.h>  // made at build time

namespace csrkit {

const char* build_id() { return CSRKIT_BUILD_ID; }

}  // namespace csrkit
