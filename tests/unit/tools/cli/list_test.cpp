#include "tools/cli/list.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

TEST(List, ListsForPeopleAndPrograms) {
  const std::vector<ListRow> rows = {{"rcm", "narrows the band"}};
  EXPECT_EQ(list_rows("method", rows, false), "method  what it is\nrcm     narrows the band\n");
  EXPECT_EQ(list_rows("method", rows, true),
            "{\"schema\":1,\"rows\":[{\"name\":\"rcm\",\"summary\":\"narrows the band\"}]}\n");
}

TEST(List, ShowsParametersOfThoseThatHaveSome) {
  const std::vector<ListRow> rows = {
      {"one", "the first", {parameter::integer("parts", "auto", 1, 9, "number")}},
      {"second", "the other"}};
  EXPECT_EQ(list_rows("what", rows, false),
            "what    what it is\n"
            "one     the first\n"
            "second  the other\n"
            "\n"
            "parameters (--name VALUE):\n"
            "\n"
            "one\n"
            "  parts: number [a whole number from 1 to 9, or auto; default auto]\n");
  const Json json = list_json(rows);
  EXPECT_EQ(json[0]["parameters"][0]["default"], "auto");
  EXPECT_FALSE(json[1].contains("parameters"));
}

}  // namespace
}  // namespace csrkit
