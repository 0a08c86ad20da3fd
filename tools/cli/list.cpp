#include "tools/cli/list.h"

#include <nlohmann/json.hpp>

#include "tools/cli/report.h"

namespace csrkit {

Json list_json(const std::vector<ListRow>& rows) {
  Json json = Json::array();
  for (const ListRow& row : rows) {
    Json parameters = Json::array();
    for (const Parameter& parameter : row.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"default", parameter.default_value},
                            {"expected", parameter.expected()},
                            {"summary", parameter.summary}});
    }
    Json object{{"name", row.name}, {"summary", row.summary}};
    if (!parameters.empty()) object["parameters"] = parameters;
    json.push_back(object);
  }
  return json;
}

std::string list_text(const std::string& heading, const std::vector<ListRow>& rows,
                      const std::string& how) {
  TextTable table({heading, "what it is"});
  std::string parameters;
  for (const ListRow& row : rows) {
    table.add({row.name, row.summary});
    if (!row.parameters.empty()) parameters += "\n" + row.name + "\n";
    for (const Parameter& parameter : row.parameters) {
      const std::string& preset = parameter.default_value;
      parameters += "  " + parameter.name + ": " + parameter.summary + " [" + parameter.expected() +
                    (preset.empty() ? "; must be given" : "; default " + preset) + "]\n";
    }
  }
  return table.text() + (parameters.empty() ? "" : "\nparameters (" + how + "):\n" + parameters);
}

std::string list_rows(const std::string& heading, const std::vector<ListRow>& rows, bool as_json) {
  if (!as_json) return list_text(heading, rows);
  return Json{{"schema", kReportSchema}, {"rows", list_json(rows)}}.dump() + "\n";
}

}  // namespace csrkit
