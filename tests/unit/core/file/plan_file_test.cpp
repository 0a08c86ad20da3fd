#include "core/file/plan_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "core/base/error.h"

namespace csrkit {
namespace {

class PlanFile : public testing::Test {
 protected:
  PlanFile()
      : path_(testing::TempDir() + "csrkit_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() +
              std::to_string(getpid()) + ".plan") {}
  ~PlanFile() override { std::remove(path_.c_str()); }

  std::string content() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string path_;
  PlanKey key_ = {{"matrix_xxh3_128", "aa"}, {"dense_cols", "32"}, {"kinds", "f32 f32"}};
};

TEST_F(PlanFile, ComesBackAsItWas) {
  const std::vector<unsigned char> bytes = {0, 10, 13, 255, '\n', 7};
  write_plan(path_, key_, {"row_bins", bytes});
  const SavedPlan plan = read_plan(path_, key_);
  EXPECT_EQ(plan.kernel, "row_bins");
  EXPECT_EQ(plan.analysis, bytes);
  write_plan(path_, key_, {"row_split", {}});
  EXPECT_TRUE(read_plan(path_, key_).analysis.empty());
}

TEST_F(PlanFile, OfAnotherProblemIsRefusedByName) {
  write_plan(path_, key_, {"row_bins", {1}});
  PlanKey other = key_;
  other[1].second = "64";
  try {
    read_plan(path_, other);
    FAIL() << "a plan for 32 columns";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("dense_cols 32, this multiplication has 64"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(PlanFile, EveryCutAndEveryFlippedBitIsRefused) {
  write_plan(path_, key_, {"row_bins", {1, 2, 3}});
  const std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    EXPECT_THROW(read_plan(path_, key_), InputError) << "cut at " << size;
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write(flipped);
    EXPECT_THROW(read_plan(path_, key_), InputError) << "bit " << bit;
  }
  EXPECT_THROW(read_plan(path_ + ".nowhere", key_), IoError);
}

}  // namespace
}  // namespace csrkit
