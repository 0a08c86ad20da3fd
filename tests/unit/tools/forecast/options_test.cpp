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
  EXPECT_EQ(options.kernel.full_name(), "cpu.spmm.auto");
  EXPECT_FALSE(options.is_gpu());
  EXPECT_FALSE(options.machine.has_value());
}

TEST(ForecastOptions, SpgemmTakesASecondMatrixAndALimit) {
  const ForecastToolOptions options =
      parsed({"a.csr", "b.csr", "--operation", "spgemm", "--bound", "--memory-limit", "2M"});
  EXPECT_EQ(options.kernel.full_name(), "cpu.spgemm.auto");
  EXPECT_EQ(options.matrices, (std::vector<std::string>{"a.csr", "b.csr"}));
  EXPECT_TRUE(options.options.flag("bound"));
  EXPECT_EQ(options.options.bytes("memory-limit"), std::uint64_t{2} << 20);
}

TEST(ForecastOptions, RefusesWhatBelongsToTheOtherOperation) {
  EXPECT_THROW(parsed({"a.csr", "b.csr"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--bound"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--memory-limit", "1G"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--operation", "spgemm", "-k", "8"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--operation", "addition"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--kernel", "nobodys_kernel"}), UsageError);
  if (gpu_room() == nullptr) {
    EXPECT_THROW(parsed({"a.csr", "--device", "gpu"}), NoDeviceError);
  }
  EXPECT_THROW(parsed({"a.csr", "--machine", "m.json", "--transpose"}), UsageError);
}

}  // namespace
}  // namespace csrkit
