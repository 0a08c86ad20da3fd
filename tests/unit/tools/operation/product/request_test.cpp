#include "tools/operation/product/request.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

constexpr CommonOptions kOnCpu = {false, true, true, true};
constexpr CommonOptions kOnGpu = {true, true, false, false};

Request parsed(const CommonOptions& which, std::vector<const char*> words) {
  words.insert(words.begin(), "csr-test");
  Options options("csr-test", "", 0, 0, "");
  declare_common_options(options, which);
  options.parse(static_cast<int>(words.size()), words.data());
  return read_common_options(options, which);
}

TEST(CommonOptions, HaveDefaults) {
  const Request request = parsed(kOnCpu, {});
  EXPECT_EQ(request.stop.repeat, 10);
  EXPECT_EQ(request.warmup, 2);
  EXPECT_EQ(request.check, CheckKind::none);
  EXPECT_EQ(request.semiring, Semiring::plus_times);
  EXPECT_FALSE(request.value_kind.has_value());
  EXPECT_FALSE(request.is_cold);
  EXPECT_TRUE(request.plan.deterministic);
  EXPECT_EQ(request.plan.where.threads, 0);
  EXPECT_EQ(request.plan.where.schedule, Schedule::automatic);
}

TEST(CommonOptions, AreAllObeyed) {
  const Request request =
      parsed(kOnCpu, {"--repeat", "3", "--warmup", "0", "--cold", "--check=full", "--semiring",
                      "min-plus", "--value-kind", "f16", "--nondeterministic", "--threads", "5",
                      "--schedule", "dynamic", "--chunk", "64"});
  EXPECT_EQ(request.stop.repeat, 3);
  EXPECT_EQ(request.warmup, 0);
  EXPECT_TRUE(request.is_cold);
  EXPECT_EQ(request.check, CheckKind::full);
  EXPECT_EQ(request.semiring, Semiring::min_plus);
  EXPECT_EQ(request.value_kind, ValueKind::f16);
  EXPECT_FALSE(request.plan.deterministic);
  EXPECT_EQ(request.plan.where.threads, 5);
  EXPECT_EQ(request.plan.where.schedule, Schedule::dynamic);
  EXPECT_EQ(request.plan.where.chunk, 64);
  EXPECT_EQ(parsed(kOnGpu, {"--device", "2"}).plan.where.device, 2);
}

TEST(CommonOptions, OfAnotherRoomOrOutOfRangeAreRefused) {
  EXPECT_THROW(parsed(kOnGpu, {"--threads", "2"}), UsageError);
  EXPECT_THROW(parsed(kOnGpu, {"--schedule", "static"}), UsageError);
  EXPECT_THROW(parsed(kOnCpu, {"--device", "0"}), UsageError);
  EXPECT_THROW(parsed(kOnCpu, {"--repeat", "0"}), UsageError);
  EXPECT_THROW(parsed(kOnCpu, {"--threads", "4097"}), UsageError);
  EXPECT_THROW(parsed(kOnCpu, {"--check=most"}), UsageError);
  EXPECT_THROW(parsed(kOnCpu, {"--value-kind", "f8"}), UsageError);
}

TEST(Check, OfEveryKindAsksForAsMuch) {
  EXPECT_EQ(parsed(kOnCpu, {"--check"}).check, CheckKind::automatic);
  EXPECT_EQ(parsed(kOnCpu, {"--check=none"}).check, CheckKind::none);
  EXPECT_EQ(check_options(CheckKind::full).work_limit, 0);
  EXPECT_FALSE(check_options(CheckKind::full).always_samples);
  EXPECT_TRUE(check_options(CheckKind::sampled).always_samples);
  EXPECT_EQ(check_options(CheckKind::automatic).work_limit, CheckOptions().work_limit);
}

TEST(Converted, MatricesOfTheRightKindAreNotCopied) {
  const Offset offsets[] = {0, 1};
  const Index cols[] = {0};
  const float values[] = {0.5};
  const CsrMatrix matrix(1, 1, Buffer<Offset>::copy_of(offsets, 2), Buffer<Index>::copy_of(cols, 1),
                         ValueArray::from(Buffer<float>::copy_of(values, 1)));
  Request request;
  EXPECT_EQ(converted(matrix, request, "a.csr").values(), matrix.values());
  request.value_kind = ValueKind::f32;
  EXPECT_EQ(converted(matrix, request, "a.csr").values(), matrix.values());
  request.value_kind = ValueKind::f64;
  EXPECT_EQ(converted(matrix, request, "a.csr").value_kind(), ValueKind::f64);
  EXPECT_EQ(*static_cast<const double*>(converted(matrix, request, "a.csr").values()), 0.5);
}

}  // namespace
}  // namespace csrkit
