// A product out of core before there is a plan.
#pragma once

#include <string>

#include "core/contract/out_of_core.h"

namespace csrkit {

/// What a plan will hold, move and take.
struct OutOfCoreForecast {
  std::string kernel;  // that runs
  std::string choice;  // as the plan will say it
  OutOfCoreReport report;
};

}  // namespace csrkit
