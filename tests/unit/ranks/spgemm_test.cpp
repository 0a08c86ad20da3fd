#include "ranks/spgemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "core/base/hash.h"
#include "core/file/rank_sections.h"
#include "cpu/common/kernels.h"
#include "ranks/thread_ranks.h"

namespace csrkit::ranks {
namespace {

CsrMatrix random_matrix(Index rows, Index cols, std::uint64_t seed, ValueKind kind) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> columns;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const std::uint64_t word =
          random_word(seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j));
      if (i % 5 != 2 && (i == rows / 3 || word % 9 == 0)) columns.push_back(j);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const auto count = static_cast<Offset>(columns.size());
  ValueArray values(ValueKind::f64, count);
  for (Offset at = 0; at < count; ++at) {
    values.as<double>()[at] = random_value(seed, static_cast<std::uint64_t>(at));
  }
  return convert_values(
      CsrMatrix(rows, cols, Buffer<Offset>::copy_of(offsets.data(), Offset{rows} + 1),
                Buffer<Index>::copy_of(columns.data(), count), std::move(values)),
      kind);
}

CsrMatrix rows_of(const CsrMatrix& matrix, Index begin, Index end) {
  const Offset first = matrix.row_offsets()[begin], last = matrix.row_offsets()[end];
  Buffer<Offset> offsets(Offset{end} - begin + 1);
  for (Index i = 0; i <= end - begin; ++i) offsets[i] = matrix.row_offsets()[begin + i] - first;
  ValueArray values(matrix.value_kind(), last - first);
  const Offset width = size_of(matrix.value_kind());
  if (width * (last - first) > 0) {
    std::memcpy(values.data(), static_cast<const char*>(matrix.values()) + first * width,
                static_cast<std::size_t>((last - first) * width));
  }
  return CsrMatrix(end - begin, matrix.cols(), std::move(offsets),
                   Buffer<Index>::copy_of(matrix.col_indices() + first, last - first),
                   std::move(values));
}

CsrMatrix product(const CsrMatrix& a, const CsrMatrix& b) {
  const SpgemmProblem problem = default_spgemm_problem(a, b);
  PlanOptions options;
  options.where.threads = 1;
  const auto plan = find_kernel(cpu::spgemm_kernels(), "auto").make_plan(problem, options);
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  plan->multiply(sink);
  return sink.finish();
}

std::vector<Index> even_borders(Index count, int ranks) {
  std::vector<Index> borders;
  for (int rank = 0; rank <= ranks; ++rank) {
    borders.push_back(static_cast<Index>(Offset{count} * rank / ranks));
  }
  return borders;
}

/// The same bits as one rank, whatever the borders of A and B.
void expect_product(const CsrMatrix& a, const CsrMatrix& b, int ranks) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  const CsrMatrix expected = product(a, b);
  run_as_threads(ranks, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::vector<Offset> products;
    const RowRange counted = rows_to_count(communicator, a.rows());
    for (Index row = counted.begin; row < counted.end; ++row) {
      Offset sum = 0;
      for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
        sum += b.row_length(a.col_indices()[at]);
      }
      products.push_back(sum);
    }
    const std::vector<Index> rows = borders_by_products(communicator, a.rows(), products);
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(ranks) + 1);
    EXPECT_EQ(rows.front(), 0);
    EXPECT_EQ(rows.back(), a.rows());
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    const std::vector<Index> owned = even_borders(b.rows(), ranks);
    const LocalOperands local =
        fetch_rows_of_b(communicator, rows_of(a, rows[rank], rows[rank + 1]),
                        rows_of(b, owned[rank], owned[rank + 1]), owned, b.row_offsets());
    for (std::size_t i = 0; i < local.rows_of_b.size(); ++i) {
      const auto here = static_cast<Index>(i);
      const Index there = local.rows_of_b[i];
      EXPECT_TRUE(identical(rows_of(local.b, here, here + 1), rows_of(b, there, there + 1)));
    }
    EXPECT_TRUE(
        identical(product(local.a, local.b), rows_of(expected, rows[rank], rows[rank + 1])));
    const EntryPlace place = place_of_entries(
        communicator, expected.row_offsets()[rows[rank + 1]] - expected.row_offsets()[rows[rank]]);
    EXPECT_EQ(place.first, expected.row_offsets()[rows[rank]]);
    EXPECT_EQ(place.total, expected.nnz());
  });
}

TEST(RanksSpgemm, AnyNumberOfRanksMakesTheSameBits) {
  const CsrMatrix a = random_matrix(120, 120, 1, ValueKind::f32);
  for (const int ranks : {1, 2, 3, 8, 32, 64}) expect_product(a, a, ranks);
}

TEST(RanksSpgemm, RectangularAndOtherKinds) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f64, ValueKind::bf16}) {
    expect_product(random_matrix(30, 70, 2, kind), random_matrix(70, 50, 3, kind), 5);
    expect_product(random_matrix(90, 20, 4, kind), random_matrix(20, 10, 5, kind), 4);
  }
}

TEST(RanksSpgemm, FewerRowsThanRanks) {
  const CsrMatrix a = random_matrix(4, 4, 6, ValueKind::f32);
  expect_product(a, a, 9);
}

/// Every rank puts its rows there, and finds all; the matrix lives as long as somebody has it.
TEST(RanksSpgemm, RanksOfOneHostShareAllOfB) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16}) {
    const CsrMatrix b = random_matrix(71, 40, 9, kind);
    for (const int ranks : {1, 2, 5, 80}) {
      const std::vector<Index> owned = even_borders(b.rows(), ranks);
      std::vector<CsrMatrix> kept(static_cast<std::size_t>(ranks));
      run_as_threads(ranks, [&](Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        std::string why_not = "unsaid";
        const std::optional<CsrMatrix> all =
            share_b(communicator, rows_of(b, owned[rank], owned[rank + 1]), owned,
                    Buffer<Offset>::copy_of(b.row_offsets(), Offset{b.rows()} + 1), &why_not);
        ASSERT_TRUE(all);
        EXPECT_EQ(why_not, "");
        kept[rank] = *all;
      });
      for (const CsrMatrix& all : kept) EXPECT_TRUE(identical(all, b));
      EXPECT_EQ(kept.front().col_indices(), kept.back().col_indices());  // once, not for each rank
    }
  }
}

TEST(RanksSpgemm, ListsOfTheFileFetchWhatAskingFetches) {
  const CsrMatrix a = random_matrix(90, 90, 7, ValueKind::f32);
  const CsrMatrix expected = product(a, a);
  for (const Index ranks : {2, 5}) {
    const std::vector<PartBorders> levels = plain_blocks(a, {ranks});
    const RankSections sections = RankSections::of(a, levels);
    run_as_threads(ranks, [&](Communicator& communicator) {
      const PartLists part = sections.lists(0, communicator.rank());
      const PartHead& head = part.head;
      const RowLists lists = lists_of(part, ranks);
      const CsrMatrix rows = rows_of(a, head.row_begin, head.row_end);
      const CsrMatrix own_b = rows_of(a, head.col_begin, head.col_end);
      const auto fetch = [&](const RowLists* known) {
        return fetch_rows_of_b(communicator, rows, own_b, levels[0].cols, a.row_offsets(), known);
      };
      const LocalOperands told = fetch(&lists), asked = fetch(nullptr);
      EXPECT_TRUE(identical(told.a, asked.a));
      EXPECT_TRUE(identical(told.b, asked.b));
      EXPECT_TRUE(
          identical(product(told.a, told.b), rows_of(expected, head.row_begin, head.row_end)));
      EXPECT_EQ(told.traffic.bytes_received, asked.traffic.bytes_received);
      EXPECT_EQ(told.traffic.bytes_sent, asked.traffic.bytes_sent);
      EXPECT_EQ(told.traffic.list_bytes_received, 0u);
      EXPECT_EQ(asked.traffic.list_bytes_received, sizeof(Index) * lists.sends.size());
      std::uint64_t entries = 0;
      for (const Index row : lists.halo) entries += static_cast<std::uint64_t>(a.row_length(row));
      EXPECT_EQ(told.traffic.bytes_received, entries * (sizeof(Index) + sizeof(float)));
      EXPECT_EQ(told.seconds.ask, 0);
    });
  }
}

TEST(RanksSpgemm, BlocksHaveAboutAsManyProducts) {
  run_as_threads(4, [](Communicator& communicator) {
    // One row with half of all products, in the first rank's rows.
    const RowRange counted = rows_to_count(communicator, 100);
    std::vector<Offset> products;
    for (Index row = counted.begin; row < counted.end; ++row) {
      products.push_back(row == 3 ? 960 : 9);
    }
    const std::vector<Index> borders = borders_by_products(communicator, 100, products);
    EXPECT_EQ(borders, (std::vector<Index>{0, 4, 4, 52, 100}));
  });
}

}  // namespace
}  // namespace csrkit::ranks
