#include "tools/cli/provenance.h"

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/version.h"

namespace csrkit {

namespace {

std::optional<std::time_t> given_time() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch == nullptr || *epoch == '\0') return std::nullopt;
  char* end = nullptr;
  const long long seconds = std::strtoll(epoch, &end, 10);
  constexpr long long kEndOfYear9999 = 253402300799;
  if (end == epoch || *end != '\0' || seconds < 0 || seconds > kEndOfYear9999) {
    throw UsageError("SOURCE_DATE_EPOCH is '" + std::string(epoch) +
                     "'; it must be whole seconds since 1970, or unset");
  }
  return static_cast<std::time_t>(seconds);
}

}  // namespace

bool is_time_given() { return given_time().has_value(); }

std::string utc_time_stamp() {
  const std::time_t time = given_time().value_or(std::time(nullptr));
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::optional<Json> parse_provenance(const std::string& text) {
  std::optional<Json> document = try_parse_json(text);
  if (!document || !document->is_object()) return std::nullopt;
  const auto steps = document->find("steps");
  if (steps == document->end()) {
    (*document)["steps"] = Json::array();
  } else if (!steps->is_array()) {
    return std::nullopt;
  }
  return document;
}

std::string append_step(const std::string& earlier, const ProvenanceStep& step) {
  Json document{{"steps", Json::array()}};
  if (std::optional<Json> ours = parse_provenance(earlier)) {
    document = std::move(*ours);
  } else if (!earlier.empty()) {  // another program's: keep its text, start our list
    document = Json{{"earlier", earlier}, {"steps", Json::array()}};
  }

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
