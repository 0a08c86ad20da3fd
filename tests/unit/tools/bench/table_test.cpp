#include "tools/bench/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

Json record_of(const std::string& kernel, double seconds) {
  return {{"matrix", "karate.csr"},
          {"status", "done"},
          {"case",
           {{"kernel", kernel},
            {"dense_cols", 8},
            {"caches", "warm"},
            {"value_kind", "f32"},
            {"gpu", nullptr}}},
          {"median_seconds", seconds},
          {"median_interval_seconds", {0.9 * seconds, 1.1 * seconds}},
          {"min_seconds", seconds},
          {"spread", 0.05},
          {"samples_seconds", {seconds, seconds}},
          {"gflops", 2.5},
          {"gather_gb_per_second", 10},
          {"check", {{"sampled", false}}}};
}

TEST(BenchTable, HasARowPerRecordAndRatios) {
  EXPECT_EQ(bench_table({record_of("cpu.spmm.auto", 0.001), record_of("cpu.spmm.row_loop", 0.004)},
                        "cpu.spmm.row_loop"),
            "matrix      kernel             K  caches  median ms  +- %  min ms  spread %  runs  "
            "GFLOP/s  GB/s gather  check  speed against cpu.spmm.row_loop    interval\n"
            "karate.csr  cpu.spmm.auto      8  warm        1.000  10.0   1.000       5.0     2     "
            "2.50        10.00  ok                                4.00  4.00..4.00\n"
            "karate.csr  cpu.spmm.row_loop  8  warm        4.000  10.0   4.000       5.0     2     "
            "2.50        10.00  ok                                1.00           -\n");
}

TEST(BenchTable, AGainThatNoiseExplainsIsLevel) {
  Json noisy = record_of("cpu.spmm.auto", 0.001);
  noisy["samples_seconds"] = {0.001, 0.005};
  const std::string table =
      bench_table({noisy, record_of("cpu.spmm.row_loop", 0.004)}, "cpu.spmm.row_loop");
  EXPECT_NE(table.find(" level\n"), std::string::npos) << table;
}

TEST(BenchTable, ComparesOnlyWhatIsTheSameCase) {
  Json other = record_of("cpu.spmm.auto", 0.001);
  other["case"]["caches"] = "cold";
  const std::string table =
      bench_table({record_of("cpu.spmm.row_loop", 0.004), other}, "cpu.spmm.row_loop");
  EXPECT_EQ(table.substr(table.rfind(' ')), " -\n");
}

TEST(BenchTable, ShowsKindsWhereTheyDifferAndFailuresAsWords) {
  Json failed = record_of("cpu.spmm.auto", 0.001);
  failed["status"] = "failed";
  failed["case"]["value_kind"] = "f64";
  failed["case"]["dense_cols"] = nullptr;
  const std::string table = bench_table({record_of("cpu.spmm.auto", 0.001), failed}, "");
  EXPECT_NE(table.find("values"), std::string::npos);
  EXPECT_NE(table.find("failed"), std::string::npos);
  EXPECT_EQ(bench_table({failed}, "").find("values"), std::string::npos);
}

TEST(BenchTable, AMarkIsNoProduct) {
  Json mark = record_of("cpu.spmm.gather_mark", 0.001);
  mark["role"] = "mark";
  mark["check"] = nullptr;
  EXPECT_NE(bench_table({mark}, "").find("mark"), std::string::npos);
  mark["role"] = "production";
  EXPECT_NE(bench_table({mark}, "").find("none"), std::string::npos);
}

TEST(DenseColsCell, IsADashWithoutDenseOperands) {
  EXPECT_EQ(dense_cols_cell({{"dense_cols", 32}}), "32");
  EXPECT_EQ(dense_cols_cell({{"dense_cols", nullptr}}), "-");
}

}  // namespace
}  // namespace csrkit
