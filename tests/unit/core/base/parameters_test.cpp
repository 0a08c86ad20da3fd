#include "core/base/parameters.h"

#include <gtest/gtest.h>

#include <clocale>

#include "core/base/error.h"

namespace csrkit {
namespace {

using namespace parameter;

const std::vector<Parameter>& table() {
  static const std::vector<Parameter> parameters = {
      integer("n", "", 0, kMaxIndex, "rows"),
      integer("hub", "auto", 1, 9, "places"),
      integers("offsets", "none", 1, 100, "diagonals"),
      number("share", "0.5", 0, 1, "of the entries"),
      bytes("cache", "1M", "of a core"),
      choice("inside", "keep", {"keep", "degree", "rcm"}, "of a part"),
      flag("symmetric", "no", "both sides"),
      text("name", "x", "of it"),
  };
  return parameters;
}

std::string refusal(const ParameterValues& given) {
  try {
    Parameters("here", table(), given);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Parameters, DefaultsStandWhereNothingIsGiven) {
  const Parameters given("here", table(), {{"n", "7"}});
  EXPECT_EQ(given.index("n"), 7);
  EXPECT_TRUE(given.is_given("n"));
  EXPECT_FALSE(given.is_given("share"));
  EXPECT_TRUE(given.is_set("share"));
  EXPECT_FALSE(given.is_set("hub"));
  EXPECT_FALSE(given.is_set("offsets"));
  EXPECT_EQ(given.number("share"), 0.5);
  EXPECT_EQ(given.bytes("cache"), 1u << 20);
  EXPECT_EQ(given.choice("inside"), 0);
  EXPECT_FALSE(given.flag("symmetric"));
  EXPECT_EQ(given.text("name"), "x");
}

TEST(Parameters, EveryKindIsRead) {
  const Parameters given("here", table(),
                         {{"n", "2.5e6"},
                          {"hub", "auto"},
                          {"offsets", "1,64,1e2"},
                          {"share", "1e-3"},
                          {"cache", "8GiB"},
                          {"inside", "rcm"},
                          {"symmetric", "yes"}});
  EXPECT_EQ(given.integer("n"), 2500000);
  EXPECT_FALSE(given.is_set("hub"));
  EXPECT_EQ(given.indices("offsets"), (std::vector<Index>{1, 64, 100}));
  EXPECT_EQ(given.number("share"), 1e-3);
  EXPECT_EQ(given.bytes("cache"), std::uint64_t{8} << 30);
  EXPECT_EQ(given.choice("inside"), 2);
  EXPECT_TRUE(given.flag("symmetric"));
}

TEST(Parameters, BadValuesAreRefusedWithWhatIsExpected) {
  const std::pair<const char*, std::vector<const char*>> bad[] = {
      {"n", {" 3", "3 ", "1.5", "-1", "2147483648", "1e99", "nan", "0x1g"}},
      {"hub", {"0", "10", "none", "Auto"}},
      {"offsets", {"1,,2", "0", "1,", ",", "101", "auto"}},
      {"share", {"nan", "inf", "-0.1", "1.1", "half", "1x", " 0.5", "0x1p-1", "0,5"}},
      {"cache", {"0", "1.5G", "8X", "-1", "G", "99999999999T"}},
      {"inside", {"heap", "KEEP", "keep,rcm"}},
      {"symmetric", {"true", "maybe", "1"}},
  };
  for (const auto& [name, values] : bad) {
    for (const char* value : values) {
      ParameterValues given{{"n", "1"}};
      given[name] = value;
      const std::string meant = value == std::string("KEEP") ? "; did you mean 'keep'?" : "";
      EXPECT_EQ(refusal(given), std::string("here: ") + name + " is '" + value + "'; it must be " +
                                    find_parameter(table(), name)->expected() + meant);
    }
  }
  EXPECT_EQ(find_parameter(table(), "hub")->expected(), "a whole number from 1 to 9, or auto");
  EXPECT_EQ(find_parameter(table(), "inside")->expected(), "keep, degree or rcm");
  EXPECT_EQ(number("x", "1", 1e-9, 1e12, "").expected(), "a number from 1e-09 to 1000000000000");
}

/// The first locale with a decimal comma that this machine has, while it lives.
class CommaLocale {
 public:
  CommaLocale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
      if (std::setlocale(LC_NUMERIC, name) != nullptr) return;
    }
  }
  ~CommaLocale() { std::setlocale(LC_NUMERIC, "C"); }
};

TEST(Parameters, ALocaleChangesNoNumber) {
  const CommaLocale comma;  // where there is none, the refusals of "0,5" and " 0.5" are the test
  const Parameters given("here", table(), {{"n", "2.5e6"}, {"share", "0.25"}});
  EXPECT_EQ(given.integer("n"), 2500000);
  EXPECT_EQ(given.number("share"), 0.25);
  EXPECT_EQ(number("x", "1", 0.25, 1e9, "").expected(), "a number from 0.25 to 1000000000");
}

TEST(Parameters, NamesAreChecked) {
  EXPECT_EQ(refusal({{"n", "1"}, {"color", "red"}}),
            "here has no parameter 'color'; it has n, hub, offsets, share, cache, inside, "
            "symmetric, name");
  EXPECT_EQ(refusal({}), "here needs the parameter n: rows");
  EXPECT_EQ(refusal({{"n", ""}}), "here needs the parameter n: rows");
  const Parameters given("here", table(), {{"n", "1"}});
  EXPECT_THROW(given.text("color"), std::logic_error);
  EXPECT_THROW(given.integer("hub"), std::logic_error);  // auto
  EXPECT_THROW(given.refuse("n", "less"), UsageError);
}

struct Row {
  const char* name;
  std::vector<Parameter> parameters;
};

TEST(Parameters, ATableSaysWhoTakesWhat) {
  const std::vector<Row> rows = {{"a", {table()[0], table()[3]}}, {"b", {table()[3]}}, {"c", {}}};
  EXPECT_EQ(owners_of(rows, "share"), "a, b");
  EXPECT_EQ(owners_of(rows, "color"), "");
  const std::vector<OwnedParameter> all = all_parameters(rows);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].parameter.name, "share");
  EXPECT_EQ(all[1].owners, "a, b");
  EXPECT_EQ(parameters_of(rows, rows[1], {{"share", "0"}}).number("share"), 0);
  try {
    parameters_of(rows, rows[2], {{"share", "0"}});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "'share' is a parameter of a, b, not of c");
  }
  EXPECT_EQ(own_values(rows[1].parameters, {{"n", "1"}, {"share", "0"}}),
            (ParameterValues{{"share", "0"}}));
}

}  // namespace
}  // namespace csrkit
