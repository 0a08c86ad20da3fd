#include "tools/advise/advise.h"

#include <gtest/gtest.h>

#include <vector>

#include "preprocess/generate/generate.h"
#include "tools/advise/locality_report.h"

namespace csrkit {
namespace {

TEST(Recommended, TheCheapestOfTheBest) {
  const std::vector<MethodForecast> methods = {{"slow", "", 100, {0.80}},
                                               {"quick", "", 1, {0.81}},
                                               {"cheap but poor", "", 0.1, {0.93}},
                                               {"refused", "needs a square matrix", 0, {}}};
  EXPECT_EQ(recommended_method(methods, 0, 1, 0), 1);
  // What gains less than 3 % is not worth moving for.
  EXPECT_EQ(recommended_method(methods, 0, 0.82, 0), -1);
  EXPECT_EQ(recommended_method(methods, 0, 0.5, 0), -1);
  EXPECT_EQ(recommended_method({}, 0, 1, 0), -1);
}

TEST(Recommended, CountsItsCost) {
  const std::vector<MethodForecast> methods = {{"slow", "", 100, {0.5}}, {"quick", "", 1, {0.8}}};
  EXPECT_EQ(recommended_method(methods, 0, 1, 1), -1);
  EXPECT_EQ(recommended_method(methods, 0, 1, 30), 1);
  EXPECT_EQ(recommended_method(methods, 0, 1, 10000), 0);
}

MachineProfile made_up_machine() {
  DeviceProfile device;
  device.device = "cpu";
  device.private_cache_bytes = 1 << 16;
  device.memory_bytes = 1e9;
  device.copy_bytes_per_second = 1e9;
  device.gather = {
      {32, 1e-9, 1e-9, {1 << 16, 1 << 18, 1 << 20, 1 << 22}, {1e-9, 2e-9, 8e-9, 16e-9}}};
  return {"made up", {device}};
}

CsrMatrix communities(const char* n, const char* order) {
  GenerateOptions options;
  options.pattern = "communities";
  options.parameters = {{"n", n},          {"mean", "16"},         {"community", "100"},
                        {"inside", "0.9"}, {"inside_coarse", "0"}, {"coarse", "0"},
                        {"order", order}};
  return generate_matrix(options);
}

TEST(Advise, FindsHiddenCommunitiesFromASample) {
  AdviseRequest request;
  request.machine = made_up_machine();
  request.dense_cols = {32};
  const CsrMatrix a = communities("16000", "shuffled");
  const Advice whole = advise(a, request).devices[0];
  request.sample_entries = a.nnz() / 6;
  const AdviceReport sampled = advise(a, request);
  EXPECT_FALSE(sampled.is_whole);
  EXPECT_NEAR(sampled.sampled_share, 1.0 / 6, 0.04);
  const Advice& advice = sampled.devices[0];
  ASSERT_EQ(advice.methods.size(), whole.methods.size());
  for (std::size_t i = 0; i < advice.methods.size(); ++i) {
    SCOPED_TRACE(advice.methods[i].method);
    ASSERT_EQ(advice.methods[i].refused, "");
    // A small sample cuts communities, and so finds less in them than there is.
    const double ratio = advice.methods[i].seconds[0] / whole.methods[i].seconds[0];
    EXPECT_GT(ratio, 0.8);
    EXPECT_LT(ratio, 2);
  }
  EXPECT_EQ(advice.seconds_now[0], whole.seconds_now[0]);
  ASSERT_GE(advice.recommended[0], 0);
  const auto choice = static_cast<std::size_t>(advice.recommended[0]);
  EXPECT_LT(whole.methods[choice].seconds[0], 0.7 * whole.seconds_now[0]);
}

TEST(Advise, LeavesAloneWhatIsGood) {
  AdviseRequest request;
  request.machine = made_up_machine();
  request.dense_cols = {32, 64};
  const CsrMatrix planted = communities("12000", "planted");
  EXPECT_EQ(advise(planted, request).devices[0].recommended, (std::vector<int>{-1, -1}));
  EXPECT_EQ(advise(CsrMatrix(), request).devices[0].recommended, (std::vector<int>{-1, -1}));
}

}  // namespace
}  // namespace csrkit
