#include "tools/cli/parameter_options.h"

#include "core/base/suggestion.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

std::string placeholder_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::integer: return "N";
    case ParameterKind::integers: return "N,N";
    case ParameterKind::number: return "X";
    case ParameterKind::bytes: return "SIZE";
    case ParameterKind::text: return "TEXT";
    case ParameterKind::flag:
    case ParameterKind::choice: break;
  }
  std::string words;
  for (const std::string& word : parameter.words) append_item(words, word, "|");
  return words;
}

}  // namespace

void declare_parameters(Options& options, const std::vector<OwnedParameter>& table) {
  for (const auto& [parameter, owners] : table) {
    const std::string help = owners + ": " + parameter.summary;
    if (parameter.kind == ParameterKind::flag && parameter.default_value == "no") {
      options.flag(parameter.name, help);
    } else if (!parameter.implied.empty()) {
      options.optional_value(parameter.name, placeholder_of(parameter),
                             help + " (default: " + parameter.default_value + ")",
                             parameter.implied);
    } else {
      options.value(parameter.name, placeholder_of(parameter), help, parameter.default_value);
    }
  }
}

ParameterValues given_parameters(const Options& options, const std::vector<OwnedParameter>& table) {
  ParameterValues values;
  for (const OwnedParameter& row : table) {
    const Parameter& parameter = row.parameter;
    if (!options.given(parameter.name)) continue;
    // A flag is given without a value.
    const bool is_flag = parameter.kind == ParameterKind::flag && parameter.default_value == "no";
    const std::string value = is_flag ? parameter.implied : options.text(parameter.name);
    if (value != parameter.default_value && !parameter.accepts(value)) {
      throw UsageError("--" + parameter.name + " is '" + value + "'; it must be " +
                       parameter.expected() + did_you_mean(value, parameter.words));
    }
    values[parameter.name] = value;
  }
  return values;
}

}  // namespace csrkit
