#include "tools/support/problem_key.h"

#include <nlohmann/json.hpp>

#include "tools/support/version.h"

namespace csrkit {

Json problem_key(const ProblemPlace& place, const KernelRoom& room, const SpmmProblem& problem,
                 bool deterministic) {
  return {{"matrix_xxh3_128", place.matrix_xxh3_128},
          {"room", room.name + "." + room.operation},
          {"device", place.device},
          {"dense_cols", problem.dense_cols},
          {"kinds",
           {{"a", name_of(problem.a.value_kind())},
            {"b", name_of(problem.b)},
            {"c", name_of(problem.c)}}},
          {"transpose", problem.transpose_a},
          {"semiring", name_of(problem.semiring)},
          {"deterministic", deterministic},
          {"version", version()}};
}

}  // namespace csrkit
