#include "tools/bench/renamed_kernels.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/bench/case.h"
#include "tools/bench/record_file.h"
#include "tools/operation/operations.h"

namespace csrkit {
namespace {

TEST(RenamedKernels, OldNamesMeanTodaysKernels) {
  EXPECT_EQ(current_kernel_name("gpu.spgemm.row_bins"), "gpu.spgemm.adaptive_rows");
  EXPECT_EQ(current_kernel_name("gpu.spgemm.v4_prefix_sum"), "gpu.spgemm.v5_prefix_sum");
  EXPECT_EQ(current_kernel_name("cpu.spmm.unrolled_8"), "cpu.spmm.unrolled:8");
}

TEST(RenamedKernels, OtherNamesStay) {
  for (const char* name : {"gpu.spmm.row_bins", "gpu.spgemm.v4_thread_counts", "", "cpu.spmm.auto",
                           "cpu.spmm.unrolled"}) {
    EXPECT_EQ(current_kernel_name(name), name);
  }
}

TEST(RenamedKernels, RecordsAreReadUnderTodaysNames) {
  const std::string path =
      ::testing::TempDir() + std::to_string(getpid()) + "_renamed_kernels.jsonl";
  std::ofstream file(path);
  for (const char* kernel : {"cpu.spmm.unrolled_32", "cpu.spmm.auto"}) {
    file << Json{{"schema", 2},
                 {"case", {{"kernel", kernel}, {"matrix_xxh3_128", "00ff"}}},
                 {"matrix", "m.csr"},
                 {"status", "failed"}}
         << '\n';
  }
  file.close();
  const std::vector<FiledRecord> records = read_records(path);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].record["case"]["kernel"], "cpu.spmm.unrolled:32");
  EXPECT_EQ(records[1].record["case"]["kernel"], "cpu.spmm.auto");
  std::remove(path.c_str());
}

TEST(RenamedKernels, ASettingFollowsTheNameAfterAColon) {
  const NamedKernel kernel = find_kernel_anywhere("cpu.unrolled:8", "--kernels");
  EXPECT_EQ(kernel.full_name(), "cpu.spmm.unrolled:8");
  EXPECT_EQ(kernel.variant, "8");
  EXPECT_EQ(find_kernel_anywhere("cpu.unrolled", "--kernels").variant, "");
  for (const char* name : {"cpu.row_loop:8", "cpu.unrolled:", "cpu.spgemm.auto:8"}) {
    EXPECT_THROW(find_kernel_anywhere(name, "--kernels"), UsageError) << name;
  }
}

}  // namespace
}  // namespace csrkit
