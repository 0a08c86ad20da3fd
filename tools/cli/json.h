// The one JSON type of the tools: keys keep the order in which they were written.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace csrkit {

/// "schema" of the reports that --json prints; docs/json.md. Records have a number of their own.
inline constexpr int kReportSchema = 1;

using Json = nlohmann::ordered_json;

}  // namespace csrkit
