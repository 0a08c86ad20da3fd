// When two multiplications are the same one: what tuning and saved plans are kept under.
#pragma once

#include <string>

#include "tools/support/json.h"
#include "tools/support/kernel_room.h"
#include "tools/support/multiply_flow.h"

namespace csrkit {

/// What cannot be seen from the problem.
struct ProblemPlace {
  std::string matrix_xxh3_128;  // digest of the matrix's file
  std::string device;           // what the kernels run on: a model, with threads if they matter
};

/// Matrix, width, kinds, direction, semiring, determinism, room, device and version of csrkit.
Json problem_key(const ProblemPlace& place, const KernelRoom& room, const SpmmProblem& problem,
                 bool deterministic);

}  // namespace csrkit
