#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "core/matrix/row_parts.h"
#include "tests/unit/core/file/csr_file_samples.h"
#include "tests/unit/core/part_samples.h"

namespace csrkit {
namespace {

/// Own and halo matrix put together again.
void expect_part_of(const CsrMatrix& matrix, const RankPart& part) {
  const PartHead& head = part.lists.head;
  ASSERT_EQ(part.own.rows(), head.rows());
  ASSERT_EQ(part.halo.rows(), head.rows());
  EXPECT_EQ(part.own.cols(), head.own_cols());
  EXPECT_EQ(part.halo.cols(), head.halo_cols);
  EXPECT_EQ(part.own.value_kind(), matrix.value_kind());
  EXPECT_EQ(part.halo.value_kind(), matrix.value_kind());
  validate(part.own, "own");
  validate(part.halo, "halo");
  const CsrMatrix own = convert_values(part.own, ValueKind::f64);
  const CsrMatrix halo = convert_values(part.halo, ValueKind::f64);
  const CsrMatrix whole = convert_values(matrix, ValueKind::f64);
  for (Index row = 0; row < head.rows(); ++row) {
    std::map<Index, double> found, wanted;
    const auto add = [row](const CsrMatrix& from, std::map<Index, double>& to, Index in_row,
                           auto&& global) {
      (void)row;
      const auto view = from.view<double>();
      for (Offset e = view.row_offsets[in_row]; e < view.row_offsets[in_row + 1]; ++e) {
        to[global(view.col_indices[e])] = view.values[e];
      }
    };
    add(own, found, row, [&](Index col) { return col + head.col_begin; });
    add(halo, found, row, [&](Index col) { return part.lists.halo[col]; });
    add(whole, wanted, head.row_begin + row, [](Index col) { return col; });
    ASSERT_EQ(found.size(), wanted.size());
    for (const auto& [col, value] : wanted) {
      ASSERT_EQ(found.count(col), 1u);
      EXPECT_EQ(std::memcmp(&found[col], &value, sizeof value), 0);
    }
  }
}

PartRows rows_of_part(const CsrMatrix& matrix, const PartHead& head) {
  const Offset first = matrix.row_offsets()[head.row_begin];
  PartRows rows;
  rows.row_offsets = matrix.row_offsets() + head.row_begin;
  rows.col_indices = matrix.col_indices() + first;
  rows.kind = matrix.value_kind();
  if (rows.kind != ValueKind::none) {
    rows.values = static_cast<const char*>(matrix.values()) + first * size_of(rows.kind);
  }
  return rows;
}

TEST(SplitPart, PartsAreSplitIntoOwnAndHalo) {
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 2, 5, 16}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      const RankSections ranks = RankSections::of(matrix, {random_borders(matrix, parts, 3)});
      for (Index part = 0; part < parts; ++part) {
        for (const int threads : {1, 2}) {
          PartLists lists = ranks.lists(0, part);
          const PartRows rows = rows_of_part(matrix, lists.head);
          expect_part_of(matrix,
                         split_part(rows, std::move(lists), matrix.cols(), "here", threads));
        }
      }
    }
  }
}

/// With columns of the whole matrix its rows are as they stand there.
TEST(SplitPart, PartsMayKeepTheirRowsWhole) {
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 5}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      const RankSections ranks = RankSections::of(matrix, {random_borders(matrix, parts, 3)});
      for (Index number = 0; number < parts; ++number) {
        const RankPart part =
            part_of_matrix(matrix, ranks.lists(0, number), "here", 2, PartColumns::whole);
        const Index first = part.lists.head.row_begin;
        const auto size = static_cast<std::size_t>(size_of(matrix.value_kind()));
        EXPECT_EQ(part.first_col, 0);
        EXPECT_EQ(part.halo.nnz(), 0);
        ASSERT_EQ(part.own.rows(), part.lists.head.rows());
        ASSERT_EQ(part.own.cols(), matrix.cols());
        validate(part.own, "whole rows");
        for (Index row = 0; row < part.own.rows(); ++row) {
          const Offset found = part.own.row_offsets()[row];
          const Offset wanted = matrix.row_offsets()[first + row];
          const Index length = part.own.row_length(row);
          ASSERT_EQ(length, matrix.row_length(first + row));
          EXPECT_TRUE(std::equal(part.own.col_indices() + found,
                                 part.own.col_indices() + found + length,
                                 matrix.col_indices() + wanted));
          if (size == 0 || length == 0) continue;
          EXPECT_EQ(std::memcmp(static_cast<const char*>(part.own.values()) +
                                    static_cast<std::size_t>(found) * size,
                                static_cast<const char*>(matrix.values()) +
                                    static_cast<std::size_t>(wanted) * size,
                                static_cast<std::size_t>(length) * size),
                    0);
        }
      }
    }
  }
}

TEST(SplitPart, ListsThatAreNotTheRowsAreRefused) {
  const CsrMatrix matrix = random_csr(40, 40, 6, ValueKind::f32);
  const RankSections ranks = RankSections::of(matrix, plain_blocks(matrix, {4}));
  /// The same with columns of either kind.
  const auto refusal = [&](auto&& change) -> std::string {
    std::set<std::string> messages;
    for (const PartColumns columns : {PartColumns::local, PartColumns::whole}) {
      PartLists lists = ranks.lists(0, 1);
      const PartRows rows = rows_of_part(matrix, lists.head);
      change(lists);
      try {
        split_part(rows, std::move(lists), matrix.cols(), "here", 1, columns);
        messages.insert("not refused");
      } catch (const InputError& error) {
        messages.insert(error.what());
      }
    }
    EXPECT_EQ(messages.size(), 1u);
    return *messages.begin();
  };
  const auto absent = [&](const PartLists& lists) {  // a column of others without an entry
    const std::set<Index> halo(lists.halo.begin(), lists.halo.end());
    for (Index col = 0;; ++col) {
      if ((col < lists.head.col_begin || col >= lists.head.col_end) && halo.count(col) == 0) {
        return col;
      }
    }
  };
  const auto says = [](const std::string& message, const char* text) {
    EXPECT_EQ(message.find("here: "), 0u) << message;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  says(refusal([](PartLists& lists) { ++lists.head.own_entries; }), "of them in own columns");
  says(refusal([](PartLists& lists) { ++lists.head.entries; }), "of them in own columns");
  says(refusal([&](PartLists& lists) { lists.halo[0] = absent(lists); }),
       "expected the columns of the halo's list, found ");
  says(refusal([&](PartLists& lists) {
         Buffer<Index> longer(lists.halo.size() + 1);
         std::copy(lists.halo.begin(), lists.halo.end(), longer.begin());
         longer[lists.halo.size()] = absent(lists);
         std::sort(longer.begin(), longer.end());
         lists.halo = std::move(longer);
         ++lists.head.halo_cols;
       }),
       "found none in column ");
  // Columns out of range or order are found in the rows themselves.
  Buffer<Index> cols(2);
  Buffer<Offset> offsets(2);
  offsets[0] = 0;
  offsets[1] = 2;
  for (const auto& [first, second] : {std::pair{0, 9}, {-1, 0}, {1, 1}, {2, 0}}) {
    cols[0] = first;
    cols[1] = second;
    PartLists lists;
    lists.head.row_end = 1;
    lists.head.col_end = 9;
    lists.head.entries = lists.head.own_entries = 2;
    try {
      split_part({offsets.data(), cols.data(), ValueKind::none, nullptr}, std::move(lists), 9,
                 "here");
      FAIL() << first << " " << second;
    } catch (const InputError& error) {
      says(error.what(), "row 0: expected columns that ascend within [0, 9), found ");
    }
  }
}

}  // namespace
}  // namespace csrkit
