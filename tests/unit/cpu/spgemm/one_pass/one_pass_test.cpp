#include "cpu/spgemm/one_pass/one_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "cpu/common/kernels.h"
#include "tests/property/spgemm/battery.h"
#include "tests/unit/cpu/spgemm/one_pass/fake_rows.h"
#include "tests/unit/cpu/spgemm/product_by.h"

namespace csrkit {
namespace {

using cpu::OutputRoom;
using cpu::RowPieces;
using testing::FakeRows;
using testing::product_by;
using testing::uneven_rows;

struct Result {
  Buffer<Index> cols, row_nnz;
  Buffer<Offset> row_offsets;
  Buffer<double> values;
  std::optional<Offset> nnz;
};

Result make(FakeRows& rows, std::size_t count, Offset entries, int threads, bool is_streamed) {
  Result result{Buffer<Index>(entries),
                Buffer<Index>(static_cast<Offset>(count)),
                Buffer<Offset>(static_cast<Offset>(count) + 1),
                Buffer<double>(entries),
                {}};
  OutputRoom room;
  room.entries = entries;
  room.col_indices = result.cols.data();
  room.values = result.values.data();
  room.value_bytes = sizeof(double);
  room.row_nnz = result.row_nnz.data();
  room.row_offsets = result.row_offsets.data();
  room.is_streamed = is_streamed;
  cpu::WaitingRoom waiting;
  result.nnz = cpu::make_in_one_pass(rows, threads, room, waiting);
  return result;
}

TEST(OnePass, PutsRowsInOrderWithoutGaps) {
  const std::vector<Index> nnz = uneven_rows();
  const Offset all = std::accumulate(nnz.begin(), nnz.end(), Offset{0});
  for (const int threads : {1, 2, 9, 40}) {  // 40 share them out
    FakeRows rows(nnz, 1, threads);
    std::size_t heavy = 0;
    for (std::size_t p = 0; p < rows.pieces().count(); ++p) heavy += rows.pieces().is_heavy(p);
    EXPECT_GE(heavy, 3u) << "the test needs some";
    const Result c = make(rows, nnz.size(), all, threads, threads == 2);
    ASSERT_EQ(c.nnz, all);
    Offset at = 0;
    for (std::size_t row = 0; row < nnz.size(); ++row) {
      ASSERT_EQ(c.row_nnz[static_cast<Offset>(row)], nnz[row]);
      ASSERT_EQ(c.row_offsets[static_cast<Offset>(row)], at);
      for (Index n = 0; n < nnz[row]; ++n, ++at) {
        ASSERT_EQ(c.cols[at], static_cast<Index>(row)) << "entry " << at;
        ASSERT_EQ(c.values[at], static_cast<double>(row)) << "entry " << at;
      }
    }
    EXPECT_EQ(c.row_offsets[static_cast<Offset>(nnz.size())], all);
  }
}

TEST(OnePass, GivesUpWhereTheRoomIsTooSmall) {
  const std::vector<Index> nnz = uneven_rows();
  const Offset all = std::accumulate(nnz.begin(), nnz.end(), Offset{0});
  for (const Offset entries : {all - 1, all / 2, Offset{1}}) {
    for (const int threads : {4, 40}) {
      FakeRows rows(nnz, 1, threads);
      EXPECT_FALSE(make(rows, nnz.size(), entries, threads, false).nnz) << entries;
    }
  }
}

TEST(OnePass, ThrowsWhatAPieceThrows) {
  const std::vector<Index> nnz = uneven_rows();
  const Offset all = std::accumulate(nnz.begin(), nnz.end(), Offset{0});
  for (const Index row : {0, 1234, 2501, 4999}) {
    for (const int threads : {4, 40}) {
      FakeRows rows(nnz, 1, threads);
      rows.throws_at = row;
      EXPECT_THROW(make(rows, nnz.size(), all, threads, false), std::runtime_error) << row;
    }
  }
}

TEST(OnePass, MakesNothingOfNothing) {
  FakeRows none({}, 1, 2);
  EXPECT_EQ(make(none, 0, 0, 2, false).nnz, 0);
  FakeRows empty(std::vector<Index>(10, 0), 1, 2);
  EXPECT_EQ(make(empty, 10, 0, 2, false).nnz, 0);
}

/// Big enough for many pieces, of a few very long rows and many short ones.
CsrMatrix power_law() {
  std::vector<testing::Entry> entries;
  for (Index i = 0; i < 4000; ++i) {
    const Index length = std::min<Index>(1500, 2 + 6000 / (i + 1));
    for (Index k = 0; k < length; ++k) {
      const auto j = static_cast<Index>((Offset{k} * 389 + Offset{i} * 31) % 4001);
      entries.push_back({i, j < 4000 ? j : 0, random_value(3, i, k)});
    }
  }
  std::sort(entries.begin(), entries.end(), [](const auto& x, const auto& y) {
    return std::pair(x.row, x.col) < std::pair(y.row, y.col);
  });
  entries.erase(
      std::unique(entries.begin(), entries.end(),
                  [](const auto& x, const auto& y) { return x.row == y.row && x.col == y.col; }),
      entries.end());
  return testing::matrix_of(4000, 4000, entries);
}

TEST(OnePass, GivesTheBitsOfTwoPasses) {
  const CsrMatrix a = power_law();
  SpgemmProblem plain = default_spgemm_problem(a, a);
  SpgemmProblem masked = plain;
  masked.mask = a;
  SpgemmProblem dropping = plain;
  dropping.drop_below = 0.5;
  for (const SpgemmProblem& problem : {plain, masked, dropping}) {
    std::string choice;
    const CsrMatrix two = product_by("adaptive_rows", 2, problem, &choice);
    EXPECT_EQ(choice.find("pass"), std::string::npos) << choice;
    for (const int threads : {1, 3, 8}) {
      EXPECT_TRUE(identical(two, product_by("one_pass_rows", threads, problem, &choice)))
          << threads;
      EXPECT_NE(choice.find("one pass"), std::string::npos) << choice;
      EXPECT_TRUE(identical(two, product_by("auto", threads, problem, &choice))) << threads;
    }
  }
}

TEST(OnePass, TakesTwoPassesWhereOneDoesNotFit) {
  const CsrMatrix a = power_law();
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  PlanOptions options;
  options.where.threads = 2;
  const SpgemmKernel& two = find_kernel(cpu::spgemm_kernels(), "adaptive_rows");
  const auto counted = two.make_plan(problem, options);
  const CsrMatrix c = testing::product_of(*counted, problem);
  options.memory_limit_bytes = counted->phases().peak_bytes;
  const auto plan = find_kernel(cpu::spgemm_kernels(), "one_pass_rows").make_plan(problem, options);
  EXPECT_TRUE(identical(c, testing::product_of(*plan, problem)));
  EXPECT_NE(plan->choice().find("two passes: one does not fit"), std::string::npos)
      << plan->choice();
  EXPECT_LE(plan->phases().peak_bytes, options.memory_limit_bytes);
}

TEST(OnePass, TakesTwoPassesWhereTheSampleMisled) {
  // Every second hundredth row, and those are the ones that are looked at, has a quarter of the
  // others' entries.
  constexpr Index kRows = 102400, kSources = 4, kLength = 16;
  Buffer<Offset> a_offsets(kRows + 1), b_offsets(2 * kSources + 1);
  Buffer<Index> a_cols(Offset{kRows} * kSources), b_cols(Offset{2} * kSources * kLength);
  for (Index i = 0; i <= kRows; ++i) a_offsets[i] = Offset{i} * kSources;
  for (Index i = 0; i < kRows; ++i) {
    const Index first = i % 200 == 100 ? 0 : kSources;
    for (Index n = 0; n < kSources; ++n) a_cols[Offset{i} * kSources + n] = first + n;
  }
  for (Index k = 0; k <= 2 * kSources; ++k) b_offsets[k] = Offset{k} * kLength;
  for (Index k = 0; k < 2 * kSources; ++k) {
    for (Index n = 0; n < kLength; ++n) {
      b_cols[Offset{k} * kLength + n] = n + (k < kSources ? 0 : (k - kSources) * kLength);
    }
  }
  const CsrMatrix a(kRows, 2 * kSources, std::move(a_offsets), std::move(a_cols),
                    ValueArray(ValueKind::none, Offset{kRows} * kSources));
  const CsrMatrix b(2 * kSources, kSources * kLength, std::move(b_offsets), std::move(b_cols),
                    ValueArray(ValueKind::none, Offset{2} * kSources * kLength));
  const SpgemmProblem problem = default_spgemm_problem(a, b);
  PlanOptions options;
  options.where.threads = 3;
  const auto plan = find_kernel(cpu::spgemm_kernels(), "auto").make_plan(problem, options);
  EXPECT_NE(plan->choice().find("one pass"), std::string::npos) << plan->choice();
  const CsrMatrix c = testing::product_of(*plan, problem);
  EXPECT_NE(plan->choice().find("two passes: C had more"), std::string::npos) << plan->choice();
  EXPECT_LE(plan->phases().peak_bytes, plan->forecast().peak_bytes);
  const auto two = find_kernel(cpu::spgemm_kernels(), "adaptive_rows").make_plan(problem, options);
  EXPECT_TRUE(identical(testing::product_of(*two, problem), c));
}

TEST(RowPieces, HoldEveryRowOnceAndCostWhatTheirRowsCost) {
  for (const int threads : {1, 3, 16}) {
    const FakeRows rows(uneven_rows(), 3, threads);
    const RowPieces& pieces = rows.pieces();
    Offset cost = 0, heaviest_of_light = 0;
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      ASSERT_LT(pieces.first_row(piece), pieces.first_row(piece + 1));
      const Index last = pieces.first_row(piece + 1) - 1;
      cost += pieces.cost(piece);
      EXPECT_EQ(cost, rows.sums[static_cast<std::size_t>(last)]);
      if (!pieces.is_heavy(piece)) {
        heaviest_of_light = std::max(heaviest_of_light, pieces.cost(piece));
      }
    }
    EXPECT_EQ(pieces.first_row(0), 0);
    EXPECT_EQ(pieces.first_row(pieces.count()), 5000);
    const auto first_begun = static_cast<std::size_t>(pieces.order()[0]);
    EXPECT_TRUE(pieces.is_heavy(first_begun));
    EXPECT_LE(heaviest_of_light, Offset{1} << 16);
  }
}

}  // namespace
}  // namespace csrkit
