#include "tools/bench/options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tools/operation/operations/spgemm.h"
#include "tools/operation/operations/spmm.h"

namespace csrkit {
namespace {

BenchOptions parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "csr-bench");
  return parse_bench_options(static_cast<int>(words.size()), words.data());
}

TEST(BenchOptions, DefaultsAreAutoOnTheCpuWithWarmCaches) {
  const BenchOptions options = parsed({"a.csr", "b.csr"});
  EXPECT_EQ(options.matrices, (std::vector<std::string>{"a.csr", "b.csr"}));
  ASSERT_EQ(options.kernels.size(), 1u);
  EXPECT_EQ(options.kernels[0].named.full_name(), "cpu.spmm.auto");
  EXPECT_EQ(options.kernels[0].tune, "");
  EXPECT_EQ(options.caches_cold, std::vector<bool>{false});
  EXPECT_EQ(options.value_kinds, (std::vector<std::optional<ValueKind>>{std::nullopt}));
  EXPECT_EQ(options.shared.check, CheckKind::automatic);
  EXPECT_EQ(options.shared.stop.repeat, 10);
  EXPECT_FALSE(options.is_resumed);
}

TEST(BenchOptions, EveryOperationAmongTheKernelsHasItsRequests) {
  const BenchOptions options =
      parsed({"a.csr", "--kernels", "cpu.auto,cpu.spgemm.auto", "-k", "8,64"});
  ASSERT_EQ(options.requests.size(), 2u);
  const std::vector<Request>& products = options.requests.at(&spmm_operation());
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[1].dense_cols, 64);
  EXPECT_FALSE(options.requests.at(&spgemm_operation()).empty());
}

TEST(BenchOptions, KindsAndCachesMultiply) {
  const BenchOptions options =
      parsed({"a.csr", "--value-kind", "f32,f64", "--warm", "--cold", "--check=none"});
  EXPECT_EQ(options.value_kinds,
            (std::vector<std::optional<ValueKind>>{ValueKind::f32, ValueKind::f64}));
  EXPECT_EQ(options.caches_cold, (std::vector<bool>{false, true}));
  EXPECT_EQ(options.shared.check, CheckKind::none);
}

TEST(BenchOptions, TuningIsForAuto) {
  EXPECT_EQ(parsed({"a.csr", "--tune", "t.json"}).kernels[0].tune, "t.json");
  EXPECT_THROW(parsed({"a.csr", "--tune", "t.json", "--kernels", "cpu.row_loop"}), UsageError);
}

TEST(BenchOptions, TheMedianDecidesWhenToStop) {
  const StoppingRule rule =
      parsed({"a.csr", "--median-within", "2", "--max-repeat", "50"}).shared.stop;
  EXPECT_EQ(rule.uncertainty, 0.02);
  EXPECT_EQ(rule.max_repeat, 50);
  EXPECT_THROW(parsed({"a.csr", "--max-repeat", "50"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--median-within", "2", "--max-repeat", "5"}), UsageError);
  EXPECT_THROW(parsed({"a.csr", "--median-within", "0"}), UsageError);
}

TEST(BenchOptions, WhatWouldBeIgnoredIsRefused) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{},
                                             {"a.csr", "a.csr"},
                                             {"a.csr", "--kernels", "cpu.auto,cpu.auto"},
                                             {"a.csr", "--reuse"},
                                             {"a.csr", "--kernels", "cpu.spgemm.auto", "-k", "0"},
                                             {"a.csr", "--kernels", "cpu.spmv.auto", "-k", "8,x"},
                                             {"a.csr", "--against", "cpu.row_loop"},
                                             {"a.csr", "--resume"},
                                             {"a.csr", "--tolerance", "5"},
                                             {"--verify", "b.jsonl", "--kernels", "cpu.auto"},
                                             {"--verify", "b.jsonl", "-k", "8"},
                                             {"--verify", "b.jsonl", "--records", "b.jsonl"}}) {
    EXPECT_THROW(parsed(words), UsageError) << (words.empty() ? "nothing" : words.back());
  }
}

TEST(BenchOptions, VerifyTakesItsCasesFromTheBundle) {
  const BenchOptions options = parsed({"--verify", "b.jsonl", "--tolerance", "5"});
  EXPECT_EQ(options.verified, "b.jsonl");
  EXPECT_EQ(options.tolerance, 0.05);
  EXPECT_EQ(options.attempts, 3);
  EXPECT_TRUE(options.kernels.empty());
}

}  // namespace
}  // namespace csrkit
