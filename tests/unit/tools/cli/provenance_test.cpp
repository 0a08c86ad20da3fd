#include "tools/cli/provenance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace csrkit {
namespace {

TEST(Provenance, StepsAreAppended) {
  const std::string first =
      append_step("", {{"csr-import", "a", "b"}, {{"a", 3, "00ff"}}, nullptr});
  const Json details{{"method", "rcm"}};
  const Json both = Json::parse(append_step(first, {{"csr-reorder"}, {}, &details}));
  ASSERT_EQ(both["steps"].size(), 2u);
  EXPECT_EQ(both["steps"][0]["tool"], "csr-import");
  EXPECT_EQ(both["steps"][0]["inputs"][0]["xxh3_128"], "00ff");
  EXPECT_EQ(both["steps"][1]["details"]["method"], "rcm");
}

TEST(Provenance, TextOfOtherProgramsIsKept) {
  for (const char* earlier : {"made by hand", "[1, 2]", "{broken", "{\"steps\": 7}"}) {
    const Json document = Json::parse(append_step(earlier, {{"csr-reorder"}, {}, nullptr}));
    EXPECT_EQ(document["earlier"], earlier);
    EXPECT_EQ(document["steps"].size(), 1u);
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":[";
  EXPECT_EQ(Json::parse(append_step(deep, {{"csr-reorder"}, {}, nullptr}))["earlier"], deep);
  const Json kept = Json::parse(append_step("{\"lab\": 7}", {{"csr-reorder"}, {}, nullptr}));
  EXPECT_EQ(kept["lab"], 7);
}

TEST(Provenance, TheTimeOfABuildCanBeGiven) {
  setenv("SOURCE_DATE_EPOCH", "86399", 1);
  EXPECT_EQ(utc_time_stamp(), "1970-01-01T23:59:59Z");
  EXPECT_TRUE(is_time_given());
  setenv("SOURCE_DATE_EPOCH", "253402300799", 1);
  EXPECT_EQ(utc_time_stamp(), "9999-12-31T23:59:59Z");
  for (const char* no_time : {"soon", "-1", "1.5", "253402300800", "99999999999999999999"}) {
    setenv("SOURCE_DATE_EPOCH", no_time, 1);
    EXPECT_THROW(utc_time_stamp(), UsageError);
    EXPECT_THROW(is_time_given(), UsageError);
  }
  setenv("SOURCE_DATE_EPOCH", "", 1);
  EXPECT_EQ(utc_time_stamp().substr(0, 2), "20");  // the clock
  EXPECT_FALSE(is_time_given());
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_FALSE(is_time_given());
}

}  // namespace
}  // namespace csrkit
