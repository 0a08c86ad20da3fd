// What csr-info understands and refuses, before any file is read.
#include "tools/info/info_options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

InfoToolOptions parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "csr-info");
  return parse_info_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(InfoOptions, ModesExcludeEachOther) {
  const std::pair<const char*, InfoMode> modes[] = {
      {"--locality", InfoMode::locality}, {"--header-only", InfoMode::header},
      {"--verify", InfoMode::verify},     {"--provenance", InfoMode::provenance},
      {"--python", InfoMode::python},     {"--spy=a.png", InfoMode::spy}};
  EXPECT_EQ(parsed({"a.csr"}).mode, InfoMode::statistics);
  for (const auto& [option, mode] : modes) {
    EXPECT_EQ(parsed({"a.csr", option}).mode, mode) << option;
    for (const auto& [other, ignored] : modes) {
      if (other == option) continue;
      EXPECT_THROW(parsed({"a.csr", option, other}), UsageError) << option << other;
    }
  }
  EXPECT_THROW(parsed({"a.csr", "--pixels", "9"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "-k", "32"}), UsageError);
}

}  // namespace
}  // namespace csrkit
