#include "tools/forecast/out_of_core.h"

#include <nlohmann/json.hpp>

#include "tools/cli/report.h"

namespace csrkit {

std::string words_of(const OutOfCoreForecast& forecast) {
  return forecast.choice + "; " + readable_bytes(static_cast<double>(forecast.report.bytes_in)) +
         " in, " + readable_bytes(static_cast<double>(forecast.report.bytes_out)) +
         " out in each product";
}

Json to_json(const OutOfCoreForecast& forecast) {
  const OutOfCoreReport& report = forecast.report;
  return {{"kernel", forecast.kernel},
          {"scheme", report.scheme()},
          {"panels", report.panels},
          {"panel_cols", report.panel_cols},
          {"blocks", report.blocks},
          {"bytes_in", report.bytes_in},
          {"bytes_out", report.bytes_out},
          {"device_bytes", report.device_bytes},
          {"staging_bytes", report.staging_bytes},
          {"forecast_seconds", report.forecast_seconds}};
}

}  // namespace csrkit
