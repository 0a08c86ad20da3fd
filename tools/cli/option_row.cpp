#include "tools/cli/option_row.h"

#include "core/base/suggestion.h"

namespace csrkit {

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    if (column > indent && column + 1 + (end - begin) > 100) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return result;
}

std::string help_of(const std::vector<OptionRow>& rows) {
  constexpr std::size_t kIndent = 30;
  std::string text;
  for (const OptionRow& row : rows) {
    const std::string short_name = row.short_name();
    std::string left = (short_name.empty() ? "      " : "  -" + short_name + ", ") + "--";
    left += row.long_name();
    if (!row.implied.empty()) {
      left += "[=" + row.placeholder + "]";
    } else if (!row.is_flag()) {
      left += " " + row.placeholder;
    }
    std::string right = row.help;
    if (!row.default_value.empty()) right += " (default: " + row.default_value + ")";
    if (row.is_repeated) right += " (may be repeated)";
    const bool fits = left.size() + 2 <= kIndent;
    left += fits ? std::string(kIndent - left.size(), ' ') : "\n" + std::string(kIndent, ' ');
    text += left + wrapped(right, kIndent) + "\n";
  }
  return text;
}

std::string suggestion_for(const std::string& option, const std::vector<OptionRow>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const OptionRow& row : rows) names.push_back(row.long_name());
  const std::string name = nearest(option, names);
  return name.empty() ? "" : "; did you mean --" + name + "?";
}

}  // namespace csrkit
