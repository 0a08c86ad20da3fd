#include "tools/forecast/cluster_profile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace csrkit {
namespace {

class ClusterProfileFile : public testing::Test {
 protected:
  ~ClusterProfileFile() override { std::remove(path_.c_str()); }

  const std::string path_ = testing::TempDir() + "cluster_" + std::to_string(::getpid()) + ".json";
};

/// What is written is read again, whichever ways it has. The profiles of the program know no sizes
/// of memory and caches, which files must have.
void expect_round_trip(ClusterProfile profile, const std::string& path) {
  profile.device.memory_bytes = 1e11;
  profile.device.private_cache_bytes = 1e5;
  write_cluster_profile(path, profile, {{"host", "here"}});
  const ClusterProfile found = read_cluster_profile(path);
  EXPECT_EQ(to_json(found), to_json(profile));
}

TEST_F(ClusterProfileFile, WhatIsWrittenIsRead) {
  ClusterProfile profile = read_cluster_profile("h200x4");
  profile.name = "two GPUs";
  expect_round_trip(profile, path_);
  profile.peers.rows = {{64, 1e11}, {512, 3.5e11}};
  expect_round_trip(profile, path_);
  EXPECT_EQ(read_cluster_profile(path_).peers.rows.back().bytes_per_second, 3.5e11);
  profile.peers = {};
  expect_round_trip(profile, path_);
  expect_round_trip(read_cluster_profile("cluster"), path_);
}

TEST_F(ClusterProfileFile, RowsAscend) {
  ClusterProfile profile = read_cluster_profile("h200x4");
  profile.peers.rows = {{512, 1e11}, {512, 3.5e11}};
  write_cluster_profile(path_, profile, {});
  EXPECT_THROW(read_cluster_profile(path_), InputError);
}

}  // namespace
}  // namespace csrkit
