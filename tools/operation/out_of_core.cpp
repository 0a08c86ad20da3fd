#include "tools/operation/out_of_core.h"

#include <nlohmann/json.hpp>

namespace csrkit {

Json plan_facts(const OutOfCoreReport& report) {
  return {{"scheme", report.scheme()},
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
