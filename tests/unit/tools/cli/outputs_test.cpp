#include "tools/cli/outputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/preprocess/export/scratch_folder.h"

namespace csrkit {
namespace {

/// The options of a tool that writes files, given `words`.
Options parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "csr-test");
  Options options("csr-test", "[NAME]", 0, 1, "A test.");
  options.writes_files();
  options.parse(static_cast<int>(words.size()), words.data());
  return options;
}

std::string refusal(const Options& options, const std::vector<std::string>& outputs,
                    const std::vector<std::string>& inputs = {}) {
  try {
    require_outputs(options, outputs, inputs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

class Outputs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path("there")) << "kept";
    std::filesystem::create_symlink("there", path("link"));
    std::filesystem::create_symlink("not there", path("dangling"));
    std::filesystem::create_directory(path("sub"));
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  const ScratchFolder folder_;
};

TEST_F(Outputs, WhatExistsIsKept) {
  const Options options = parsed({});
  EXPECT_EQ(refusal(options, {path("there")}),
            "the output '" + path("there") + "' exists already; --force replaces it");
  EXPECT_NE(refusal(options, {path("link")}), "");
  EXPECT_NE(refusal(options, {"", path("new"), path("there")}), "");
}

TEST_F(Outputs, WhatCannotBeLookedAtCannotBeWritten) {
  std::filesystem::create_symlink("loop", path("loop"));
  EXPECT_THROW(refusal(parsed({}), {path("loop")}), IoError);
  EXPECT_THROW(refusal(parsed({"--force"}), {path("new"), path(std::string(300, 'a'))}), IoError);
  EXPECT_NE(refusal(parsed({}), {path("new"), path("loop"), path("new")}), "");
}

TEST_F(Outputs, WhatIsNewIsWritten) {
  EXPECT_EQ(refusal(parsed({}), {path("new"), path("dangling"), "", "-"}), "");
  // Nothing is left of what was tried.
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  EXPECT_FALSE(std::filesystem::exists(path("not there")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 5);
}

TEST_F(Outputs, ForceReplaces) {
  EXPECT_EQ(refusal(parsed({"--force"}), {path("there"), path("link.new"), ""}), "");
}

TEST_F(Outputs, WhatCannotBeWrittenIsRefusedBeforeAnyWork) {
  for (const std::string& name :
       {path("sub"), path("pipe"), std::string("/dev/null"), path("no/such/folder")}) {
    EXPECT_THROW(refusal(parsed({}), {name}), IoError) << name;
    EXPECT_THROW(refusal(parsed({"--force"}), {path("there"), name}), IoError) << name;
  }
  std::ifstream kept(path("there"));
  std::string content;
  kept >> content;
  EXPECT_EQ(content, "kept");
}

TEST_F(Outputs, AnInputIsNotReplacedByForce) {
  const std::string said = refusal(parsed({"--force"}), {path("link")}, {"", path("there")});
  EXPECT_NE(said.find("which would be lost"), std::string::npos) << said;
  EXPECT_NE(refusal(parsed({"--force"}), {path("new"), path("./new")}), "");
}

TEST_F(Outputs, FilesThatAreKeptUpToDateMayExist) {
  EXPECT_NO_THROW(require_other_files({path("there"), ""}, {path("pipe")}));
  EXPECT_THROW(require_other_files({path("there")}, {path("link")}), UsageError);
}

}  // namespace
}  // namespace csrkit
