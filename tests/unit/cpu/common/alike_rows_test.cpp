#include "cpu/common/alike_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace csrkit::cpu {
namespace {

CsrMatrix matrix_of(const std::vector<std::vector<Index>>& rows) {
  Buffer<Offset> row_offsets(static_cast<Offset>(rows.size()) + 1);
  row_offsets[0] = 0;
  std::vector<Index> cols;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cols.insert(cols.end(), rows[i].begin(), rows[i].end());
    row_offsets[static_cast<Offset>(i) + 1] = static_cast<Offset>(cols.size());
  }
  const auto nnz = static_cast<Offset>(cols.size());
  Buffer<Index> col_indices(nnz);
  std::copy(cols.begin(), cols.end(), col_indices.begin());
  return CsrMatrix(static_cast<Index>(rows.size()), 10, std::move(row_offsets),
                   std::move(col_indices), ValueArray(ValueKind::none, 0));
}

TEST(AlikeRows, AreFoundByTheirColumns) {
  // The same length is not enough, nor the same columns in part; empty rows are alike to none.
  const CsrMatrix a = matrix_of({{1, 2}, {1, 2}, {1, 2}, {1, 3}, {}, {}, {4}, {4, 5}, {4, 5}});
  for (const int threads : {1, 3}) {
    const AlikeRows found = find_alike_rows(a, threads);
    const std::vector<std::uint8_t> expected{1, 1, 0, 0, 0, 0, 0, 1, 0};
    EXPECT_EQ(std::vector<std::uint8_t>(found.next_is_alike.begin(), found.next_is_alike.end()),
              expected);
    EXPECT_EQ(found.entries, 10);
    EXPECT_EQ(found.of_firsts, 4);
    EXPECT_TRUE(are_worth_joining(found, a));
  }
}

TEST(AlikeRows, AreNotWorthAWordWhereFew) {
  std::vector<std::vector<Index>> rows(40);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {static_cast<Index>(i % 10)};
  rows[1] = rows[0];
  const CsrMatrix a = matrix_of(rows);
  EXPECT_EQ(find_alike_rows(a, 2).entries, 2);
  EXPECT_FALSE(are_worth_joining(find_alike_rows(a, 2), a));
  EXPECT_FALSE(are_worth_joining(find_alike_rows(CsrMatrix(), 1), CsrMatrix()));
}

}  // namespace
}  // namespace csrkit::cpu
