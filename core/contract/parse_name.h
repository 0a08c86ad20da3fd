// From the names that users type to enumerators.
#pragma once

#include <initializer_list>
#include <string>

#include "core/base/error.h"
#include "core/base/suggestion.h"
#include "core/base/text.h"

namespace csrkit {

/// The enumerator of `all` that name_of calls `name`; throws UsageError that lists the names.
template <class Enum>
Enum parse_name(const std::string& name, std::initializer_list<Enum> all, const char* what) {
  std::string known;
  for (const Enum item : all) {
    if (name == name_of(item)) return item;
    append_item(known, name_of(item));
  }
  throw UsageError("'" + name + "' is no " + what + "; use one of " + known +
                   did_you_mean(name, known));
}

}  // namespace csrkit
