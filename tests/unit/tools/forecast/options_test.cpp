#include "tools/forecast/options.h"

#include <gtest/gtest.h>

#include "api/rooms.h"
#include "core/base/error.h"

namespace csrkit {
namespace {

ForecastToolOptions parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "csr-forecast");
  return parse_forecast_options(static_cast<int>(words.size()), words.data());
}

TEST(ForecastOptions, DefaultsAreSpmmOnTheCpu) {
  const ForecastToolOptions options = parsed({"a.csr"});
  EXPECT_EQ(options.matrices, std::vector<std::string>{"a.csr"});
  EXPECT_EQ(options.options.integers("dense-cols", 1, kMaxIndex),
            (std::vector<std::int64_t>{32, 256}));
  EXPECT_EQ(options.kernel().full_name(), "cpu.spmm.auto");
  EXPECT_FALSE(options.is_gpu());
  EXPECT_FALSE(options.machine.has_value());
}

TEST(ForecastOptions, SpgemmTakesASecondMatrixAndALimit) {
  const ForecastToolOptions options =
      parsed({"a.csr", "b.csr", "--operation", "spgemm", "--bound", "--memory-limit", "2M"});
  EXPECT_EQ(options.kernel().full_name(), "cpu.spgemm.auto");
  EXPECT_EQ(options.matrices, (std::vector<std::string>{"a.csr", "b.csr"}));
  EXPECT_TRUE(options.options.flag("bound"));
  EXPECT_EQ(options.options.bytes("memory-limit"), std::uint64_t{2} << 20);
}

TEST(ForecastOptions, RefusesWhatBelongsToTheOtherOperation) {
  EXPECT_THROW(parsed({"a.csr", "b.csr"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--bound"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--operation", "sddmm", "--memory-limit", "1G"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--operation", "spgemm", "-k", "8"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--operation", "addition"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--kernel", "nobodys_kernel"}), UsageError);
  if (gpu_room() == nullptr) {
    EXPECT_THROW(parsed({"a.csr", "--device", "gpu"}), NoDeviceError);
  }
  EXPECT_THROW(parsed({"a.csr", "--machine", "m.json", "--transpose"}), UsageError);
}

TEST(ForecastOptions, EachToolHasItsOwn) {
  const ForecastToolOptions bench =
      parsed({"a.csr", "--tool", "csr-bench", "--kernels", "cpu.auto,cpu.spgemm.auto", "--cold"});
  EXPECT_EQ(bench.of, ForecastOf::bench);
  ASSERT_EQ(bench.kernels.size(), 2u);
  EXPECT_EQ(bench.kernels[1].full_name(), "cpu.spgemm.auto");
  EXPECT_TRUE(bench.is_cold);
  // Widths as csr-bench takes them, also with kernels that have none.
  EXPECT_NO_THROW(
      parsed({"a.csr", "--tool", "csr-bench", "--kernels", "cpu.spmv.auto", "-k", "8"}));
  EXPECT_THROW(parsed({"a.csr", "--tool", "csr-bench", "--kernels", "cpu.auto", "--bound"}),
               UsageError);

  const ForecastToolOptions import =
      parsed({"--tool", "csr-import", "--sizes", "10,20,30", "--value-kind", "f64"});
  ASSERT_TRUE(import.sizes.has_value());
  EXPECT_EQ(import.sizes->rows, 10);
  EXPECT_EQ(import.sizes->cols, 20);
  EXPECT_EQ(import.sizes->nnz, 30);
  EXPECT_EQ(import.sizes->kind, ValueKind::f64);

  const ForecastToolOptions reorder =
      parsed({"--tool", "csr-reorder", "--method", "degree", "--sizes", "1,1,1"});
  EXPECT_EQ(reorder.method, "degree");
}

TEST(ForecastOptions, RefusesWhatIsOfAnotherTool) {
  EXPECT_THROW(parsed({}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--kernels", "cpu.auto"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--sizes", "1,1,1"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--tool", "csr-bench", "--kernel", "auto"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "b.csr", "--tool", "csr-bench"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--tool", "csr-bench", "--bound"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--tool", "csr-report", "--sizes", "1,1,1"}), UsageError);
  EXPECT_THROW(parsed({"--tool", "csr-report", "--sizes", "1,1"}), UsageError);
  EXPECT_THROW(parsed({"--tool", "csr-report", "--sizes", "1,-1,1"}), UsageError);
  EXPECT_THROW(parsed({"--tool", "csr-reorder", "--sizes", "1,1,1", "--method", "no"}), UsageError);
  EXPECT_THROW(parsed({"--tool", "csr-reorder", "--sizes", "1,1,1", "-k", "8"}), UsageError);
}

}  // namespace
}  // namespace csrkit
