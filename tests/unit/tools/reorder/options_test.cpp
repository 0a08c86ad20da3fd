// What csr-reorder understands and refuses, before any file is read.
#include "tools/reorder/options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

ReorderToolOptions parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "csr-reorder");
  return parse_reorder_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(std::vector<const char*> arguments) {
  try {
    parsed(std::move(arguments));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ReorderOptions, EveryParameterIsAnOptionOfItsMethodsAlone) {
  for (const OwnedParameter& row : all_parameters(reorder_methods())) {
    const Parameter& parameter = row.parameter;
    const bool is_flag = parameter.kind == ParameterKind::flag;
    const bool is_number = parameter.kind == ParameterKind::integer;
    const std::string option = "--" + parameter.name +
                               (is_flag     ? ""
                                : is_number ? "=3"
                                            : "=" + parameter.default_value);
    for (const ReorderMethod& method : reorder_methods()) {
      SCOPED_TRACE(option + " " + method.name);
      const std::vector<const char*> arguments = {"a", "b", "--method", method.name,
                                                  option.c_str()};
      if (find_parameter(method.parameters, parameter.name) != nullptr) {
        EXPECT_EQ(parsed(arguments).reorder.parameters.count(parameter.name), 1u);
      } else {
        const bool is_width = parameter.name == "dense-cols";  // other tasks take it, too
        EXPECT_EQ(refusal(arguments), "--" + parameter.name + " is for " +
                                          (is_width ? "--report, --advise and " : "") +
                                          "--method " + row.owners);
      }
    }
  }
}

TEST(ReorderOptions, TheWidthOfBServesTheReportAndThePartition) {
  const auto width_of = [](std::vector<const char*> arguments) -> std::string {
    const ParameterValues values = parsed(std::move(arguments)).reorder.parameters;
    const auto found = values.find("dense-cols");
    return found == values.end() ? "none" : found->second;
  };
  EXPECT_EQ(width_of({"a", "b", "--method", "metis-partition", "-k", "32"}), "32");
  EXPECT_EQ(width_of({"a", "b", "--method", "metis-partition", "-k", "32,64", "--report"}), "32");
  EXPECT_EQ(width_of({"a", "b", "--method", "rcm", "-k", "32,64", "--report"}), "none");
  EXPECT_NE(refusal({"a", "b", "--method", "rcm", "-k", "32"}), "accepted");
}

TEST(ReorderOptions, ASeedIsForOrdersThatDraw) {
  for (const ReorderMethod& method : reorder_methods()) {
    const std::string found = refusal({"a", "b", "--method", method.name, "--seed", "2"});
    if (method.is_random) {
      EXPECT_EQ(found, "accepted") << method.name;
    } else {
      EXPECT_EQ(found,
                "--seed is for --advise and --method random, row-similarity, "
                "metis-nested-dissection, metis-partition")
          << method.name;
    }
  }
  EXPECT_EQ(parsed({"a", "b", "--method", "rcm", "--then", "random", "--seed", "7"}).reorder.seed,
            7u);
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"a", "b", "--undo", "--seed", "2"},
                                             {"a", "b", "--apply-to", "x", "--seed", "2"},
                                             {"a", "b", "--order-from", "x", "--seed", "2"}}) {
    EXPECT_EQ(refusal(arguments).find("--seed is for"), 0u);
  }
}

TEST(ReorderOptions, OneTaskAtATime) {
  for (const auto& arguments : std::vector<std::vector<const char*>>{
           {"a", "b"},
           {"a", "--method", "rcm"},
           {"a", "b", "--method", "rcm", "--undo"},
           {"a", "b", "--method", "no-such"},
           {"a", "b", "--undo", "--then", "rcm"},
           {"a", "b", "--undo", "--sides=rows"},
           {"a", "b", "--undo", "--parts", "3"},
           {"a", "b", "--method", "rcm", "--measure"},
           {"a", "b", "--method", "rcm", "--sample", "5000"},
           {"a", "--advise"},
           {"a", "b", "--advise", "--machine", "m.json"},
           {"a", "--advise", "--machine", "m.json", "--parts", "3"},
           {"a", "--advise", "--machine", "m.json", "--undo"}}) {
    EXPECT_NE(refusal(arguments), "accepted") << arguments.size();
  }
  EXPECT_TRUE(parsed({"a", "b", "--undo"}).is_undo);
  EXPECT_EQ(parsed({"a", "b", "--method", "random", "--then", "degree", "--binned"}).methods,
            (std::vector<std::string>{"random", "degree"}));
}

}  // namespace
}  // namespace csrkit
