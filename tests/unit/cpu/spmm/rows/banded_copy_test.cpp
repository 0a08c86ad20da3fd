#include "cpu/spmm/rows/banded_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace csrkit::cpu {
namespace {

/// Rows of 0 to 16 entries, with numbers of their entries as values.
CsrMatrix some_rows() {
  constexpr Index kRows = 60, kCols = 50;
  Buffer<Offset> offsets(kRows + 1);
  std::vector<Index> cols;
  for (Index row = 0; row < kRows; ++row) {
    offsets[row] = static_cast<Offset>(cols.size());
    for (Index n = 0; n < row % 17; ++n) cols.push_back(n * 3 + row % 3);
  }
  const auto nnz = static_cast<Offset>(cols.size());
  offsets[kRows] = nnz;
  Buffer<Index> col_indices(nnz);
  std::copy(cols.begin(), cols.end(), col_indices.begin());
  Buffer<float> values(nnz);
  for (Offset at = 0; at < nnz; ++at) values[at] = static_cast<float>(at);
  return CsrMatrix(kRows, kCols, std::move(offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

/// Two blocks of rows around a stretch of a row, which is no block.
const std::vector<Task> kTasks = {{0, 21, -1}, {100, 110, 0}, {22, 60, -1}};

TEST(BandedCopy, HasEveryEntryOnceInTheOrderOfItsRow) {
  const CsrMatrix a = some_rows();
  for (const Index bands : {2, 5, 50}) {
    const BandedCopy copy(a, kTasks, bands, 2);
    EXPECT_LE(copy.size_bytes(), BandedCopy::most_bytes(a, bands));
    EXPECT_GT(copy.size_bytes(), static_cast<std::uint64_t>(a.nnz()) * 7) << "nearly all entries";
    const auto* const values = static_cast<const float*>(copy.values());
    for (const Offset block : {0, 2}) {
      const BandedRows rows = copy.rows(block);
      std::vector<Offset> next(a.row_offsets() + rows.first, a.row_offsets() + rows.last);
      Offset at = rows.first_entry;
      const Index* length = rows.lengths;
      for (Index band = 0; band < bands; ++band) {
        const Index behind = 50 * (band + 1) / bands;
        for (Index row = rows.first; row < rows.last; ++row) {
          Offset& entry = next[static_cast<std::size_t>(row - rows.first)];
          const Index count = *length++;
          if (band + 1 < bands) {
            EXPECT_EQ(count % kPieceStep, 0) << "row " << row << " band " << band;
          }
          for (Index n = 0; n < count; ++n, ++at, ++entry) {
            ASSERT_EQ(copy.col_indices()[at], a.col_indices()[entry]);
            ASSERT_EQ(values[at], static_cast<float>(entry));
          }
          if (band + 1 < bands && count > 0) {
            EXPECT_LT(copy.col_indices()[at - kPieceStep], behind) << "the piece ends too late";
          }
        }
      }
      for (Index row = rows.first; row < rows.last; ++row) {
        EXPECT_EQ(next[static_cast<std::size_t>(row - rows.first)], a.row_offsets()[row + 1]);
      }
    }
  }
}

TEST(BandedCopy, TakesNewValues) {
  const CsrMatrix a = some_rows();
  BandedCopy copy(a, kTasks, 4, 1);
  Buffer<float> values(a.nnz());
  for (Offset at = 0; at < a.nnz(); ++at) values[at] = static_cast<float>(-at);
  std::vector<float> expected;
  const auto* const seen = static_cast<const float*>(copy.values());
  const Offset entries = copy.rows(2).first_entry;
  for (Offset at = 0; at < entries; ++at) expected.push_back(-seen[at]);
  copy.take_values(CsrMatrix(a.rows(), a.cols(), a.row_offsets(), a.col_indices(), ValueKind::f32,
                             values.data(), nullptr));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), seen));
}

}  // namespace
}  // namespace csrkit::cpu
