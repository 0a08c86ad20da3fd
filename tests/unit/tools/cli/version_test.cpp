#include "tools/cli/version.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(Version, TheTextNamesToolVersionAndBuild) {
  const std::string text = version_text("csr-test");
  EXPECT_EQ(text.rfind("csr-test (csrkit) " + version() + "\n", 0), 0u) << text;
  EXPECT_NE(text.find(commit()), std::string::npos) << text;
  EXPECT_NE(text.find(compiler()), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace csrkit
