#include "cpu/common/row_chunks.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace csrkit::cpu {
namespace {

/// Row i has `lengths[i]` entries, of columns 0, 1, ... and values 100 i + column.
CsrMatrix rows_of(const std::vector<Index>& lengths) {
  const auto rows = static_cast<Index>(lengths.size());
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) {
    row_offsets[i + 1] = row_offsets[i] + lengths[static_cast<std::size_t>(i)];
  }
  Buffer<Index> col_indices(row_offsets[rows]);
  Buffer<float> values(row_offsets[rows]);
  for (Index i = 0; i < rows; ++i) {
    for (Offset at = row_offsets[i]; at < row_offsets[i + 1]; ++at) {
      col_indices[at] = static_cast<Index>(at - row_offsets[i]);
      values[at] = static_cast<float>(100 * i + col_indices[at]);
    }
  }
  return CsrMatrix(rows, 100, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

TEST(RowChunks, HaveEveryEntryOfTheirBatchOnce) {
  const CsrMatrix a = rows_of({0, 1, 7, 8, 9, 32, 33, 75, 8});
  const std::vector<Index> ends{4, 4, 9};  // the batch between is not counted: it stays empty
  RowChunks<float> chunks(3);
  chunks.count(a, 0, 0, 4);
  chunks.count(a, 2, 4, 9);
  chunks.place();
  EXPECT_EQ(chunks.entries(), a.nnz());
  EXPECT_EQ(chunks.chunks(), 9 + 1 + 1 + 1 + 1 + 2 + 1 + 1);
  chunks.allocate();
  chunks.fill(a.view<float>(), 0, 0, 4);
  chunks.fill(a.view<float>(), 2, 4, 9);
  Index first = 0;
  for (const Offset batch : {0, 1, 2}) {
    const Index last = ends[static_cast<std::size_t>(batch)];
    const ChunkedRows<float> found = chunks.of(batch);
    std::map<Index, std::vector<float>> values;
    std::map<Index, int> firsts;
    const std::uint16_t* row = found.rows;
    Offset at = 0;
    for (int kind = 0; kind < kChunkKinds; ++kind) {
      const int length = kChunkLengths[static_cast<std::size_t>(kind)];
      for (int n = 0; n < found.counts[kind]; ++n, ++row) {
        if (length <= kMostOfFirstChunk) ++firsts[*row];
        for (int k = 0; k < length; ++k, ++at) {
          EXPECT_EQ(found.values[at], static_cast<float>(100 * (first + *row) + found.cols[at]));
          values[*row].push_back(found.values[at]);
        }
      }
    }
    for (Index i = first; i < last; ++i) {
      EXPECT_EQ(static_cast<Offset>(values[i - first].size()), a.row_length(i)) << i;
      EXPECT_EQ(firsts[i - first], 1) << i;
    }
    first = last;
  }
}

}  // namespace
}  // namespace csrkit::cpu
