#include "tools/cli/option_row.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

const std::vector<OptionRow> kRows = {{"k,dense-cols", "K", "columns of B and C", "32"},
                                      {"fast", "", "a flag"},
                                      {"check", "full|sampled", "judge the result", "", "full"},
                                      {"set", "NAME=VALUE", "many", "", "", true}};

TEST(OptionRow, HasALongNameAndMayHaveAShortOne) {
  EXPECT_EQ(kRows[0].long_name(), "dense-cols");
  EXPECT_EQ(kRows[0].short_name(), "k");
  EXPECT_FALSE(kRows[0].is_flag());
  EXPECT_EQ(kRows[1].long_name(), "fast");
  EXPECT_EQ(kRows[1].short_name(), "");
  EXPECT_TRUE(kRows[1].is_flag());
}

TEST(OptionRow, HelpShowsHowItIsWritten) {
  EXPECT_EQ(help_of(kRows),
            "  -k, --dense-cols K          columns of B and C (default: 32)\n"
            "      --fast                  a flag\n"
            "      --check[=full|sampled]  judge the result\n"
            "      --set NAME=VALUE        many (may be repeated)\n");
  const std::string lines = help_of({{"some-option-of-a-tool", "PLACEHOLDER",
                                      "a help text that is so long that it is broken at the "
                                      "last space before column 100"}});
  EXPECT_EQ(lines, "      --some-option-of-a-tool PLACEHOLDER\n" + std::string(30, ' ') +
                       "a help text that is so long that it is broken at the last space before\n" +
                       std::string(30, ' ') + "column 100\n");
}

TEST(OptionRow, IsSuggestedForWhatIsNear) {
  EXPECT_EQ(suggestion_for("dense-col", kRows), "; did you mean --dense-cols?");
  EXPECT_EQ(suggestion_for("dense", kRows), "; did you mean --dense-cols?");
  EXPECT_EQ(suggestion_for("fsat", kRows), "; did you mean --fast?");
  EXPECT_EQ(suggestion_for("alpha", kRows), "");
  EXPECT_EQ(suggestion_for("x", kRows), "");
}

}  // namespace
}  // namespace csrkit
