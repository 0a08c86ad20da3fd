// epidemic: the Markov chain of an epidemic in a closed population. A state counts the healthy (h)
// and the ill (i), h + i <= size; people arrive (h + 1), fall ill (h - 1, i + 1) or leave (i - 1).
// Every row has at most four entries and no two rows are alike: all work is overhead.
#include <algorithm>
#include <cmath>

#include "preprocess/generate/common/grid.h"

namespace csrkit {

std::vector<Parameter> epidemic_parameters() {
  return {parameter::integer("size", "", 0, 65533, "people; (size + 1) * (size + 2) / 2 states")};
}

CsrMatrix generate_epidemic(const PatternRequest& request) {
  request.require_random_values();
  const Index size = request.parameters.index("size");
  const auto first_state = [&](Offset ill) { return ill * (size + 1) - ill * (ill - 1) / 2; };
  const auto states = static_cast<Index>(first_state(Offset{size} + 1));
  CsrPattern pattern = pattern_of(states, [&](Index state, auto&& add) {
    // The root of the quadratic gives the number of ill; rounding may be off by one.
    const double half = size + 1.5;
    Offset ill = std::max<Offset>(
        0, static_cast<Offset>(half - std::sqrt(std::max(0.0, half * half - 2.0 * state))));
    while (ill > 0 && first_state(ill) > state) --ill;
    while (ill < size && first_state(ill + 1) <= state) ++ill;
    const Offset healthy = state - first_state(ill);
    if (ill > 0) add(static_cast<Index>(first_state(ill - 1) + healthy));
    add(state);
    if (healthy + ill < size) add(state + 1);
    if (healthy > 0) add(static_cast<Index>(first_state(ill + 1) + healthy - 1));
  });
  return finish_matrix(states, states, std::move(pattern.row_offsets),
                       std::move(pattern.col_indices), request, ValueRule::independent);
}

}  // namespace csrkit
