#include "cpu/common/caches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace csrkit::cpu {
namespace {

TEST(CacheSizes, ALastLevelIsAsLargeAsAPrivateOne) {
  const CacheSizes sizes = cache_sizes();
  EXPECT_GE(sizes.private_bytes, 16u << 10);
  EXPECT_GE(sizes.last_level_bytes, sizes.private_bytes);
  EXPECT_GE(sizes.last_levels, 1);
}

/// A folder as Linux has one of its processors.
class CpuFolder : public testing::Test {
 protected:
  CpuFolder()
      : folder_(testing::TempDir() + "csrkit_caches_" + std::to_string(getpid()) +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~CpuFolder() override { std::filesystem::remove_all(folder_); }

  void add(int cpu, int index, const std::string& level, const std::string& type,
           const std::string& size, const std::string& shared_by) const {
    const std::string cache =
        folder_ + "/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index);
    std::filesystem::create_directories(cache);
    std::ofstream(cache + "/level") << level << "\n";
    std::ofstream(cache + "/type") << type << "\n";
    if (!size.empty()) std::ofstream(cache + "/size") << size << "\n";
    if (!shared_by.empty()) std::ofstream(cache + "/shared_cpu_list") << shared_by << "\n";
  }

  /// Level 1 in two, a level 2 and a level 3.
  void add_core(int cpu, const std::string& second, const std::string& third,
                const std::string& shared_by) const {
    add(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    add(cpu, 1, "1", "Instruction", "64M", std::to_string(cpu));
    add(cpu, 2, "2", "Unified", second, std::to_string(cpu));
    add(cpu, 3, "3", "Unified", third, shared_by);
  }

  CacheSizes read(const std::vector<int>& cpus) const { return read_cache_sizes(folder_, cpus); }

  std::string folder_;
};

void expect(const CacheSizes& sizes, std::uint64_t private_bytes, std::uint64_t last_level_bytes,
            int last_levels) {
  EXPECT_EQ(sizes.private_bytes, private_bytes);
  EXPECT_EQ(sizes.last_level_bytes, last_level_bytes);
  EXPECT_EQ(sizes.last_levels, last_levels);
}

TEST_F(CpuFolder, HasOneLastLevelWhereAllShareIt) {
  for (const int cpu : {0, 1}) add_core(cpu, "1024K", "32768K", "0-1");
  expect(read({0, 1}), 1u << 20, 32u << 20, 1);
}

TEST_F(CpuFolder, HasAsManyLastLevelsAsItsProcessorsSpan) {
  for (const int cpu : {0, 1, 16, 17}) add_core(cpu, "1M", "32M", "0-1,16-17");
  for (const int cpu : {2, 3, 18, 19}) add_core(cpu, "1M", "96M", "2-3,18-19");
  expect(read({0, 1, 2, 3, 16, 17, 18, 19}), 1u << 20, 32u << 20, 2);
  expect(read({1, 16}), 1u << 20, 32u << 20, 1);
  expect(read({3, 19}), 1u << 20, 96u << 20, 1);
}

TEST_F(CpuFolder, MayHaveTwoLevels) {
  for (const int cpu : {0, 1}) {
    add(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    add(cpu, 1, "2", "Unified", "2M", "0-1");
  }
  expect(read({0, 1}), 2u << 20, 2u << 20, 1);
}

TEST_F(CpuFolder, NeedNotSayWhoSharesACache) {
  for (const int cpu : {0, 1}) add_core(cpu, "512K", "16M", "");
  expect(read({0, 1}), 512u << 10, 16u << 20, 1);
}

TEST_F(CpuFolder, MayBeMissingOrInPart) {
  expect(read({0, 1}), 0, 0, 0);
  expect(read({}), 0, 0, 0);
  add(0, 0, "1", "Data", "32K", "0");
  expect(read({0, 1}), 0, 0, 0);
  add(0, 2, "2", "Unified", "", "0");
  add(0, 3, "not a number", "Unified", "many", "0-,-,x");
  expect(read({0, 1}), 0, 0, 0);
  add_core(1, "1M", "8M", "0-1");
  expect(read({0, 1}), 1u << 20, 8u << 20, 1);
}

}  // namespace
}  // namespace csrkit::cpu
