#include "tools/cli/option_row.h"

#include <algorithm>

namespace csrkit {

namespace {

/// Levenshtein distance, for suggestions.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

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
  std::string suggestion;
  if (option.size() <= 1) return suggestion;
  std::size_t best = 3;
  for (const OptionRow& row : rows) {
    const std::string name = row.long_name();
    const std::size_t distance = name.rfind(option, 0) == 0 ? 0 : edit_distance(option, name);
    if (distance >= best) continue;
    best = distance;
    suggestion = "; did you mean --" + name + "?";
  }
  return suggestion;
}

}  // namespace csrkit
