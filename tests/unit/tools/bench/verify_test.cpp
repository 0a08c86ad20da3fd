#include "tools/bench/verify.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/operation/operations.h"
#include "tools/operation/operations/spgemm.h"
#include "tools/operation/operations/spmm.h"

namespace csrkit {
namespace {

Samples around(double seconds, double width, int count = 40) {
  Samples samples;
  for (int i = 0; i < count; ++i) {
    samples.seconds.push_back(seconds * (1 + width * (i % 5 - 2) / 2));
  }
  return samples;
}

TEST(BenchVerify, TheWholeIntervalDecides) {
  const Samples before = around(1e-3, 0.01);
  EXPECT_EQ(verdict_of(before, before, 0.05).word, "SAME");
  EXPECT_EQ(verdict_of(before, around(1.02e-3, 0.01), 0.05).word, "SAME");
  EXPECT_EQ(verdict_of(before, around(2e-3, 0.01), 0.05).word, "SLOW");
  EXPECT_EQ(verdict_of(before, around(0.5e-3, 0.01), 0.05).word, "FAST");
  // 5 % apart with a tolerance of 5 %: neither inside nor outside.
  EXPECT_EQ(verdict_of(before, around(1.05e-3, 0.02), 0.05).word, "AMBIGUOUS");
  // Samples that are all over the place say nothing, even where the medians agree.
  EXPECT_EQ(verdict_of(before, around(1e-3, 1.5), 0.05).word, "AMBIGUOUS");
  EXPECT_EQ(verdict_of(around(1e-3, 1.5), before, 0.05).word, "AMBIGUOUS");
}

TEST(BenchVerify, RatioAndItsInterval) {
  const Verdict verdict = verdict_of(around(1e-3, 0.02), around(2e-3, 0.02), 0.05);
  EXPECT_DOUBLE_EQ(verdict.ratio, 2);
  EXPECT_LE(verdict.interval.low, 2);
  EXPECT_GE(verdict.interval.high, 2);
  EXPECT_GT(verdict.interval.low, 1.9);
  EXPECT_LT(verdict.interval.high, 2.1);
}

TEST(BenchVerify, ClocksDoNotTellMicrosecondsApart) {
  EXPECT_EQ(verdict_of(around(2e-6, 0), around(2.8e-6, 0), 0.05).word, "SAME");
  EXPECT_EQ(verdict_of(around(2e-6, 0), around(4e-6, 0), 0.05).word, "SLOW");
}

TEST(BenchVerify, NothingIsNotSame) {
  EXPECT_EQ(verdict_of(Samples{}, around(1, 0), 0.05).word, "AMBIGUOUS");
  EXPECT_EQ(verdict_of(Samples{{0}}, Samples{{0}}, 0.05).word, "AMBIGUOUS");
}

TEST(BenchCase, ARecordedCaseIsTheCaseItWas) {
  Request request;
  request.is_cold = true;
  request.value_kind = ValueKind::f16;
  request.transpose = true;
  request.semiring = Semiring::max_times;
  request.plan.deterministic = false;
  request.plan.memory_limit_bytes = std::uint64_t{5} << 40;
  request.warmup = 7;
  request.stop = {4, 0.02, 99, 3};
  request.seed = ~std::uint64_t{0};
  const Json machine{{"threads", 3}, {"cpu", "a processor"}, {"gpu", {{"name", "a GPU"}}}};
  for (const Operation* operation : operations()) {
    if (operation == &spmm_operation()) request.dense_cols = 48;
    request.measures_reuse = operation == &spgemm_operation();
    const BenchKernel kernel{find_kernel(*operation, "cpu", "auto")};
    const Json identity = identity_of({"m.csr", 1, "00ff"}, kernel, request, machine);
    const Request again = request_of(JsonField(identity, "out.jsonl:1", ""));
    EXPECT_EQ(identity_of({"n.csr", 1, "00ff"}, kernel, again, machine).dump(), identity.dump());
    EXPECT_TRUE(identity["gpu"].is_null());  // a CPU kernel does not care which GPU there is
  }
}

TEST(BenchCase, TheOrderOfKeysMakesNoOtherCase) {
  const Json one{{"kernel", "cpu.spmm.auto"}, {"dense_cols", 8}};
  const Json other{{"dense_cols", 8}, {"kernel", "cpu.spmm.auto"}};
  EXPECT_EQ(key_of(one), key_of(other));
  EXPECT_NE(key_of(one), key_of({{"kernel", "cpu.spmm.auto"}, {"dense_cols", 9}}));
}

}  // namespace
}  // namespace csrkit
