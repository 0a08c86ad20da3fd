#include "tools/operation/operations.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/error.h"
#include "tools/operation/operations/spmm.h"

namespace csrkit {
namespace {

TEST(KernelNames, EveryFormIsAccepted) {
  const Operation& spmm = spmm_operation();
  const KernelInfo* kernel = find_kernel(spmm, kCpu, "row_loop").kernel;
  EXPECT_EQ(find_kernel(spmm, kCpu, "cpu.row_loop").kernel, kernel);
  EXPECT_EQ(find_kernel(spmm, kCpu, "cpu.spmm.row_loop").kernel, kernel);
  EXPECT_EQ(find_kernel(spmm, kCpu, "row_loop").full_name(), "cpu.spmm.row_loop");
  EXPECT_THROW(find_kernel(spmm, kCpu, "gpu.row_loop"), UsageError);
  EXPECT_THROW(find_kernel(spmm, kCpu, "cpu.spgemm.auto"), UsageError);
}

TEST(KernelNames, AreFoundAnywhereWithTheirRoom) {
  EXPECT_EQ(find_kernel_anywhere("cpu.auto", "--kernels").full_name(), "cpu.spmm.auto");
  EXPECT_EQ(find_kernel_anywhere("cpu.spgemm.auto", "--kernels").full_name(), "cpu.spgemm.auto");
  EXPECT_EQ(find_kernel_anywhere("cpu.gather_mark", "--kernels").kernel->role, Role::mark);
  const NamedKernel varied = find_kernel_anywhere("cpu.nnz_balanced:tile=64", "--kernels");
  EXPECT_EQ(varied.variant, "tile=64");
  EXPECT_EQ(varied.full_name(), "cpu.spmm.nnz_balanced:tile=64");
  for (const char* name : {"auto", "cpu.", "cpu.spgemm.", "cpu.none", "tpu.auto",
                           "cpu.nnz_balanced:", "cpu.naive:8"}) {
    EXPECT_THROW(find_kernel_anywhere(name, "--kernels"), UsageError) << name;
  }
}

TEST(KernelNames, OfARefusalCanBeTyped) {
  const auto refusal = [](const char* name) {
    try {
      find_kernel_anywhere(name, "--kernels");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("cpu.row_lop").find("did you mean 'cpu.row_loop'?"), std::string::npos);
  EXPECT_NE(refusal("cpu.sddmm.none").find("use one of cpu.sddmm.auto, "), std::string::npos);
}

TEST(KernelNames, AMarkMakesNoProduct) {
  try {
    find_kernel(spmm_operation(), kCpu, "gather_mark");
    FAIL() << "a mark was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("csr-bench --kernels cpu.spmm.gather_mark"),
              std::string::npos);
  }
}

TEST(KernelNames, EveryOperationCanBeFoundAndListed) {
  const Json all = Json::parse(list_kernels(operations(), {kCpu, kGpu}, true, true))["rows"];
  for (const Operation* operation : operations()) {
    EXPECT_EQ(&find_operation(operation->name()), operation);
    EXPECT_NE(all.dump().find(std::string("cpu.") + operation->name() + ".auto"),
              std::string::npos);
  }
  EXPECT_THROW(find_operation("spttm"), UsageError);
}

TEST(KernelNames, OfTheGpuNeedItsLibrary) {
  if (gpu_room() != nullptr) {
    EXPECT_EQ(find_kernel_anywhere("gpu.auto", "--kernels").full_name(), "gpu.spmm.auto");
    EXPECT_THROW(find_kernel_anywhere("gpu.nobodys_kernel", "--kernels"), UsageError);
  } else {
    EXPECT_THROW(find_kernel_anywhere("gpu.auto", "--kernels"), NoDeviceError);
  }
}

}  // namespace
}  // namespace csrkit
