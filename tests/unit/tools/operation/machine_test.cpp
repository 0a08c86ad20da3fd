#include "tools/operation/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/error.h"
#include "core/base/usable_cpus.h"

namespace csrkit {
namespace {

TEST(MachineFacts, NameWhatRecordsNeed) {
  const Json facts = machine_facts(3);
  EXPECT_EQ(facts["threads"], 3);
  for (const char* key : {"host", "system", "cpu", "pinned_to", "governor", "slurm_job",
                          "omp_proc_bind", "omp_places", "csrkit_version", "commit", "compiler"}) {
    EXPECT_TRUE(facts[key].is_string()) << key;
  }
  EXPECT_EQ(facts["cpu"], cpu_model());
  EXPECT_GT(facts["memory_bytes"].get<double>(), 1e6);
  EXPECT_FALSE(facts["host"].get<std::string>().empty());
}

TEST(MachineFacts, KnowTheCoresThatThisProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = usable_cpus();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Json facts = machine_facts(1);
  EXPECT_EQ(facts["cores"], 1);
  EXPECT_EQ(facts["pinned_to"], std::to_string(all.back()));
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(DeviceName, SaysWhatTimesDependOn) {
  Execution where;
  where.threads = 3;
  const std::string name = device_name(kCpu, where);
  EXPECT_EQ(name.rfind(cpu_model() + ", 3 threads, ", 0), 0u) << name;
  if (gpu_room() == nullptr) {
    EXPECT_THROW(device_name(kGpu, where), NoDeviceError);
  }
}

TEST(DeviceInfo, IsWrittenWithUnits) {
  gpu::DeviceInfo device;
  device.name = "a GPU";
  device.compute_major = 9;
  device.l2_bytes = 60u << 20;
  const Json json = to_json(device);
  EXPECT_EQ(json["name"], "a GPU");
  EXPECT_EQ(json["compute_capability"], "9.0");
  EXPECT_EQ(json["l2_bytes"], 60u << 20);
}

}  // namespace
}  // namespace csrkit
