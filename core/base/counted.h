// Counts in sentences: "1 row", "2 entries".
#pragma once

#include <string>

namespace csrkit {

/// The word for `count` of `thing`: "row", "rows"; "entry", "entries".
template <class Integer>
std::string noun_for(Integer count, std::string thing) {
  if (count == 1) return thing;
  const std::size_t size = thing.size();
  const bool ends_in_ies = size > 1 && thing[size - 1] == 'y' &&
                           std::string("aeiou").find(thing[size - 2]) == std::string::npos;
  if (!ends_in_ies) return thing + "s";
  thing.replace(size - 1, 1, "ies");
  return thing;
}

/// "1 byte", "112 bytes".
template <class Integer>
std::string counted(Integer count, const char* thing) {
  return std::to_string(count) + " " + noun_for(count, thing);
}

}  // namespace csrkit
