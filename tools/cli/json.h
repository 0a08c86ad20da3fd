// The one JSON type of the tools: keys keep the order in which they were written.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace csrkit {

using Json = nlohmann::ordered_json;

}  // namespace csrkit
