#include "tools/cli/options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tools/cli/run_tool.h"

namespace csrkit {
namespace {

Options parsed(std::vector<const char*> arguments) {
  Options options("tool", "INPUT OUTPUT", 1, 2, "Does something.");
  options.flag("fast", "a flag")
      .value("k,dense-cols", "K", "a number", "32")
      .value("size", "SIZE", "bytes")
      .optional_value("check", "full|sampled", "optional", "auto")
      .repeated("set", "NAME=VALUE", "many")
      .value("alpha", "X", "a real number", "1");
  arguments.insert(arguments.begin(), "tool");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

std::string refusal(std::vector<const char*> arguments) {
  try {
    parsed(std::move(arguments));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, ReadsNamesFlagsAndValues) {
  const Options options =
      parsed({"a", "--fast", "-k", "7", "b", "--check", "--set", "x=1", "--set=y=2"});
  EXPECT_EQ(options.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(options.flag("fast"));
  EXPECT_EQ(options.integer("dense-cols", 1, 100), 7);
  EXPECT_EQ(options.text("check"), "auto");
  EXPECT_EQ(options.texts("set"), (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_EQ(options.number("alpha"), 1);
}

TEST(Options, ReadsTheShortFormWithoutASpace) {
  EXPECT_EQ(parsed({"a", "-k64"}).integer("dense-cols", 1, 100), 64);
}

TEST(Options, NegativeNumbersAreValues) {
  EXPECT_EQ(parsed({"a", "--alpha", "-2.5"}).number("alpha"), -2.5);
  EXPECT_EQ(parsed({"a", "--alpha=-1e-3"}).number("alpha"), -1e-3);
}

TEST(Options, AnOptionalValueNeedsTheEqualsSign) {
  EXPECT_EQ(parsed({"a", "--check=full"}).text("check"), "full");
  // Without it the word is a name like any other, but hardly meant as one where it is a choice.
  EXPECT_EQ(parsed({"a", "--check", "b"}).names().size(), 2u);
  EXPECT_EQ(parsed({"a", "--check", "./full"}).names().size(), 2u);
  EXPECT_EQ(parsed({"a", "--check", "--", "full"}).names().size(), 2u);
  EXPECT_EQ(refusal({"a", "--check", "full"}),
            "--check full reads 'full' as a file; say --check=full");
}

TEST(Options, WordsAfterTwoDashesAreNames) {
  EXPECT_EQ(parsed({"--", "--fast", "-k"}).names(), (std::vector<std::string>{"--fast", "-k"}));
}

TEST(Options, RefusesWhatItDoesNotUnderstand) {
  EXPECT_NE(refusal({"a", "--fsat"}).find("did you mean --fast?"), std::string::npos);
  EXPECT_EQ(refusal({"a", "-q"}), "there is no option -q");
  EXPECT_NE(refusal({"a", "--vertices=9"}).find("; parameters are given as --set NAME=VALUE"),
            std::string::npos);
  EXPECT_NE(refusal({"a", "--fast", "--fast"}).find("given 2 times"), std::string::npos);
  EXPECT_NE(refusal({"a", "--fast=yes"}).find("takes no value"), std::string::npos);
  EXPECT_NE(refusal({"a", "-k"}).find("needs a value"), std::string::npos);
  EXPECT_NE(refusal({"a", "-k", ""}).find("empty"), std::string::npos);
  EXPECT_NE(refusal({"a", "--size", "--fast"}).find("found the option '--fast'"),
            std::string::npos);
  EXPECT_NE(refusal({"a", "b", "c"}).find("'c'"), std::string::npos);
  EXPECT_NE(refusal({}).find("found none"), std::string::npos);
  EXPECT_NE(refusal({""}).find("empty name"), std::string::npos);
}

TEST(Options, NumbersAreWholeAndInRange) {
  for (const char* word : {"0", "101", "-1", "1e9x", "3.0", " 3", "0x3", "99999999999999999999"}) {
    EXPECT_THROW(parsed({"a", "-k", word}).integer("dense-cols", 1, 100), UsageError) << word;
  }
  for (const char* word : {"nan", "inf", "1x", "1,5"}) {
    EXPECT_THROW(parsed({"a", "--alpha", word}).number("alpha"), UsageError) << word;
  }
}

TEST(Options, ListsAreSplitAtCommas) {
  EXPECT_EQ(parsed({"a", "-k", "1,20,3"}).integers("dense-cols", 1, 100),
            (std::vector<std::int64_t>{1, 20, 3}));
  EXPECT_THROW(parsed({"a", "-k", "1,,3"}).integers("dense-cols", 1, 100), UsageError);
  EXPECT_THROW(parsed({"a", "-k", "1,"}).integers("dense-cols", 1, 100), UsageError);
}

TEST(Options, AListMayRefuseWhatIsThereTwice) {
  EXPECT_EQ(parsed({"a", "-k", "4,4"}).integers("dense-cols", 1, 100),
            (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(parsed({"a", "-k", "20,3"}).different_integers("dense-cols", 1, 100),
            (std::vector<std::int64_t>{20, 3}));
  try {
    parsed({"a", "-k", "4,3,4"}).different_integers("dense-cols", 1, 100);
    ADD_FAILURE() << "4 is there twice";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--dense-cols names 4 twice; once is enough");
  }
}

TEST(Options, SizesHaveUnitsOf1024) {
  EXPECT_EQ(parsed({"a", "--size", "512M"}).bytes("size"), 512ull << 20);
  EXPECT_EQ(parsed({"a", "--size", "8GiB"}).bytes("size"), 8ull << 30);
  EXPECT_EQ(parsed({"a", "--size", "7"}).bytes("size"), 7u);
  for (const char* word : {"0", "8X", "1.5G", "G", "99999999999T"}) {
    EXPECT_THROW(parsed({"a", "--size", word}).bytes("size"), UsageError) << word;
  }
}

TEST(Options, HelpIsCompleteAndFinishes) {
  testing::internal::CaptureStdout();
  EXPECT_THROW(parsed({"--help"}), Finished);
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* part :
       {"usage: tool INPUT OUTPUT", "-k, --dense-cols K", "(default: 32)", "--json"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace csrkit
