#include "core/contract/semiring.h"

#include "core/contract/parse_name.h"

namespace csrkit {

const char* name_of(Semiring semiring) {
  switch (semiring) {
    case Semiring::plus_times: return "plus-times";
    case Semiring::min_plus: return "min-plus";
    case Semiring::max_times: return "max-times";
    case Semiring::or_and: return "or-and";
  }
  return "?";
}

Semiring parse_semiring(const std::string& name) {
  return parse_name(
      name, {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and},
      "semiring");
}

}  // namespace csrkit
