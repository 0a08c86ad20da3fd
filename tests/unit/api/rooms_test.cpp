#include "api/rooms.h"

#include <gtest/gtest.h>

#include "core/base/build_id.h"
#include "core/base/error.h"

namespace csrkit {
namespace {

TEST(NameInTable, IsWithoutRoomAndOperation) {
  for (const char* name : {"row_loop", "cpu.row_loop", "cpu.spmm.row_loop"}) {
    EXPECT_EQ(name_in_table(kCpu, {"spmv", "spmm"}, name), "row_loop");
  }
  for (const char* name : {"gpu.spmm.auto", "spmm.auto", "auto.cpu."}) {
    EXPECT_EQ(name_in_table(kCpu, {"spmm"}, name), name);
  }
  EXPECT_EQ(name_in_table(kCpu, {"spmm"}, "cpu.spmv.auto"), "spmv.auto");
  EXPECT_EQ(name_in_table(kCpu, {"spmm"}, "cpu.spmm.spmm.auto"), "spmm.auto");
}

// Both kinds of machine run this: cli.all.gpu_library takes the library away where there is one.
TEST(GpuRoom, IsThereOrSaysWhatIsInTheWay) {
  if (const gpu::Face* room = gpu_room()) {
    EXPECT_EQ(std::string(room->build_id), build_id());
    EXPECT_EQ(why_no_gpu_room(), "");
    EXPECT_EQ(&require_gpu_room("a test"), room);
    return;
  }
  EXPECT_NE(why_no_gpu_room(), "");
  try {
    require_gpu_room("a test");
    FAIL() << "nothing was thrown";
  } catch (const NoDeviceError& error) {
    EXPECT_EQ(error.what(), "a test needs the GPU library: " + why_no_gpu_room());
  }
}

TEST(BuildOfPlans, IsOfTheLibraryThatMakesThem) {
  EXPECT_EQ(build_of_plans(kCpu), build_id());
  if (const gpu::Face* room = gpu_room()) {
    EXPECT_EQ(build_of_plans(kGpu), room->analysis_id);
  } else {
    EXPECT_THROW(build_of_plans(kGpu), NoDeviceError);
  }
}

TEST(GpuRoom, IsOpenedOnce) { EXPECT_EQ(gpu_room(), gpu_room()); }

}  // namespace
}  // namespace csrkit
