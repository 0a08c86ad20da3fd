#include "tools/forecast/out_of_core.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

TEST(OutOfCoreForecast, IsSaidInWordsAndWithTheKeysOfTheProduct) {
  OutOfCoreForecast forecast{"row_bins", "row_bins, out of core: 2 panels", {}};
  forecast.report.panels = 2;
  forecast.report.bytes_in = 3 << 20;
  forecast.report.bytes_out = 1 << 20;
  EXPECT_EQ(words_of(forecast),
            "row_bins, out of core: 2 panels; 3.0 MiB in, 1.0 MiB out in each product");
  const Json json = to_json(forecast);
  EXPECT_EQ(json["kernel"], "row_bins");
  EXPECT_EQ(json["scheme"], "rows");
  EXPECT_EQ(json["panels"], 2);
  EXPECT_EQ(json["bytes_in"], 3 << 20);
  forecast.report.keeps_a = true;
  EXPECT_EQ(to_json(forecast)["scheme"], "columns");
}

}  // namespace
}  // namespace csrkit
