#include "tools/cli/parameter_options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

using namespace parameter;

std::vector<OwnedParameter> table() {
  return {{flag("fast", "no", "no care"), "a"},
          {integer("parts", "auto", 1, 9, "number"), "a, b"},
          {bytes("room", "1M", "memory"), "b"},
          {choice("side", "auto", {"left", "right"}, "of the road", "left"), "b"}};
}

Options parsed(std::vector<const char*> arguments) {
  Options options("tool", "INPUT", 0, 1, "Does something.");
  declare_parameters(options, table());
  arguments.insert(arguments.begin(), "tool");
  options.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

ParameterValues given(std::vector<const char*> arguments) {
  return given_parameters(parsed(std::move(arguments)), table());
}

TEST(ParameterOptions, OnlyWhatIsGivenIsHandedOn) {
  EXPECT_TRUE(given({}).empty());
  EXPECT_EQ(given({"--fast", "--parts", "3", "--room=8K", "--side"}),
            (ParameterValues{{"fast", "yes"}, {"parts", "3"}, {"room", "8K"}, {"side", "left"}}));
  EXPECT_EQ(given({"--side=right", "--parts", "auto"}),
            (ParameterValues{{"parts", "auto"}, {"side", "right"}}));
}

TEST(ParameterOptions, RefusalsNameTheOption) {
  const auto refusal = [](std::vector<const char*> arguments) -> std::string {
    try {
      given(std::move(arguments));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({"--parts", "10"}),
            "--parts is '10'; it must be a whole number from 1 to 9, or auto");
  EXPECT_EQ(refusal({"--room", "8X"}),
            "--room is '8X'; it must be a size such as 4096, 512M or 8G");
  EXPECT_EQ(refusal({"--side=up"}), "--side is 'up'; it must be left or right, or auto");
  EXPECT_NE(refusal({"--fast=3"}), "accepted");
}

TEST(ParameterOptions, HelpSaysWhoTakesIt) {
  const std::string help = parsed({}).help();
  for (const char* line : {"--fast                  a: no care",
                           "--parts N               a, b: number (default: auto)",
                           "--room SIZE             b: memory (default: 1M)",
                           "--side[=left|right]     b: of the road (default: auto)"}) {
    EXPECT_NE(help.find(line), std::string::npos) << line << "\n" << help;
  }
}

}  // namespace
}  // namespace csrkit
