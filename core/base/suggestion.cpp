#include "core/base/suggestion.h"

#include <algorithm>
#include <sstream>

#include "core/base/text.h"

namespace csrkit {

namespace {

/// Slips of the keyboard between two words: Levenshtein distance, exchanged neighbours being one.
std::size_t slips(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchanged) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = row;
    row = next;
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(const std::string& given, const std::vector<std::string>& names) {
  constexpr std::size_t kShort = 5;
  if (given.size() <= 1) return "";
  const std::string word = lower_case(given);
  std::size_t best = word.size() <= kShort ? 2 : 3;
  std::string found;
  for (const std::string& wanted : names) {
    const std::string name = lower_case(wanted);
    const std::size_t distance = name.rfind(word, 0) == 0 ? 0 : slips(word, name);
    if (distance >= best) continue;
    best = distance;
    found = wanted;
  }
  return found;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const std::string name = nearest(word, names);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

std::string did_you_mean(const std::string& word, const std::string& listed) {
  std::vector<std::string> names;
  std::istringstream stream(listed);
  for (std::string item; std::getline(stream >> std::ws, item, ',');) {
    names.push_back(item.substr(0, item.find(' ')));
  }
  return did_you_mean(word, names);
}

}  // namespace csrkit
