#include "tools/forecast/out_of_core.h"

#include <nlohmann/json.hpp>

#include "tools/cli/report.h"
#include "tools/operation/operations/out_of_core.h"

namespace csrkit {

std::string words_of(const OutOfCoreForecast& forecast) {
  return forecast.choice + "; " + readable_bytes(static_cast<double>(forecast.report.bytes_in)) +
         " in, " + readable_bytes(static_cast<double>(forecast.report.bytes_out)) +
         " out in each product";
}

Json to_json(const OutOfCoreForecast& forecast) {
  Json json = {{"kernel", forecast.kernel}};
  json.update(plan_facts(forecast.report));
  return json;
}

}  // namespace csrkit
