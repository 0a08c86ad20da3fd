#include "tools/support/provenance.h"

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tools/support/version.h"

namespace csrkit {

std::string utc_time_stamp() {
  std::time_t time = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    char* end = nullptr;
    const long long seconds = std::strtoll(epoch, &end, 10);
    if (end != epoch && *end == '\0') time = static_cast<std::time_t>(seconds);
  }
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string append_step(const std::string& earlier, const ProvenanceStep& step) {
  Json document = Json::object();
  if (!earlier.empty()) {
    document = Json::parse(earlier, nullptr, /*allow_exceptions=*/false);
    // Written by another program: keep its text, start our list.
    if (!document.is_object()) document = Json{{"earlier", earlier}};
  }
  if (!document["steps"].is_array()) document["steps"] = Json::array();

  Json inputs = Json::array();
  for (const FileDigest& input : step.inputs) {
    inputs.push_back(
        {{"path", input.path}, {"size_bytes", input.size_bytes}, {"xxh3_128", input.xxh3_128}});
  }
  Json entry{{"tool", step.command_line.empty() ? "" : step.command_line.front()},
             {"version", version()},
             {"command_line", step.command_line},
             {"time", utc_time_stamp()},
             {"inputs", inputs}};
  if (step.details != nullptr) entry["details"] = *step.details;
  document["steps"].push_back(entry);
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace csrkit
