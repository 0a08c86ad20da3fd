#include "cpu/spgemm/one_pass/output_estimate.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "tests/unit/cpu/spgemm/one_pass/fake_rows.h"

namespace csrkit {
namespace {

using testing::FakeRows;

TEST(OutputEstimate, ComesFromASample) {
  std::vector<Index> nnz(20000);
  for (std::size_t row = 0; row < nnz.size(); ++row) {
    nnz[row] = 10 + static_cast<Index>(row * 7919 % 50);
  }
  const Offset all = std::accumulate(nnz.begin(), nnz.end(), Offset{0});
  FakeRows rows(nnz, 3, 2);
  const cpu::OutputEstimate estimate = cpu::estimate_output(rows, rows.sums.data(), 2);
  EXPECT_NEAR(static_cast<double>(estimate.nnz), static_cast<double>(all),
              0.02 * static_cast<double>(all));
  EXPECT_GE(estimate.at_most, all);
  EXPECT_LE(estimate.at_most, all + all / 5);
  // Heavy pieces are not looked into.
  nnz[100] = 200000;
  FakeRows uneven(nnz, 3, 2);
  EXPECT_GE(cpu::estimate_output(uneven, uneven.sums.data(), 2).at_most, all + 200000);
}

TEST(OutputEstimate, ThrowsWhatASampledRowThrows) {
  struct NoRow : FakeRows {
    using FakeRows::FakeRows;
    void count_rows(int, Index, Index, Index*) override { throw std::runtime_error("no row"); }
  };
  NoRow rows(std::vector<Index>(20000, 30), 3, 2);
  EXPECT_THROW(cpu::estimate_output(rows, rows.sums.data(), 2), std::runtime_error);
}

TEST(OutputEstimate, IsNothingOfNothing) {
  FakeRows none({}, 1, 2);
  EXPECT_EQ(cpu::estimate_output(none, none.sums.data(), 2).at_most, 0);
}

}  // namespace
}  // namespace csrkit
