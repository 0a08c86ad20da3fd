// What --list prints: names, what they are, and their parameters.
#pragma once

#include <string>
#include <vector>

#include "core/base/parameters.h"
#include "tools/cli/json.h"

namespace csrkit {

struct ListRow {
  std::string name, summary;
  std::vector<Parameter> parameters = {};
};

/// [{"name", "summary", "parameters": [{"name", "default", "expected", "summary"}]}], the last if
/// there are some.
Json list_json(const std::vector<ListRow>& rows);

/// A table of names, then the parameters of those that have some. `how` says how to give them.
std::string list_text(const std::string& heading, const std::vector<ListRow>& rows,
                      const std::string& how = "--name VALUE");

/// One of the two.
std::string list_rows(const std::string& heading, const std::vector<ListRow>& rows, bool as_json);

}  // namespace csrkit
