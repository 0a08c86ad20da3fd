// How products are cut for a device that cannot hold them. Needs no GPU.
#include "gpu/spmm/out_of_core/cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace csrkit::testing {
namespace {

using gpu::BlockLayout;
using gpu::choose_cut;
using gpu::Cut;
using gpu::OutOfCoreProduct;
using gpu::SpmmSizes;

class OutOfCoreCut : public ::testing::Test {
 protected:
  /// `lengths` of the rows; a workspace of 16 bytes a row and one byte an entry.
  OutOfCoreProduct product(const std::vector<Offset>& lengths, Index cols, Index dense_cols) {
    offsets_.assign(1, 0);
    for (const Offset length : lengths) offsets_.push_back(offsets_.back() + length);
    OutOfCoreProduct product;
    product.rows = static_cast<Index>(lengths.size());
    product.cols = cols;
    product.row_offsets = offsets_.data();
    product.dense_cols = dense_cols;
    product.value_bytes = 4;
    product.workspace_bytes = [](const SpmmSizes& sizes) {
      return 16 * static_cast<std::uint64_t>(sizes.rows) + static_cast<std::uint64_t>(sizes.nnz);
    };
    return product;
  }

  /// Every row is in one block, blocks begin at multiples of four rows and of eight entries, panels
  /// have every column once and a multiple of 16 bytes but for the last, buffers hold what goes
  /// into them, and all of it is within the limit.
  static void check(const OutOfCoreProduct& product, const Cut& cut, std::uint64_t limit) {
    ASSERT_GE(cut.panels, 1);
    EXPECT_EQ((product.dense_cols - 1) / cut.panel_cols + 1, cut.panels);
    if (cut.panels > 1) {
      EXPECT_EQ(cut.panel_cols * std::min(product.b_bytes, product.c_bytes) % 16, 0);
    }
    Index cols = 0;
    for (Index panel = 0; panel < cut.panels; ++panel)
      cols += cut.cols_of(panel, product.dense_cols);
    EXPECT_EQ(cols, product.dense_cols);
    Index row = 0;
    std::uint64_t a_bytes = 0;
    for (const BlockLayout& block : cut.blocks) {
      EXPECT_EQ(block.first_row, row);
      EXPECT_EQ(block.first_row % 4, 0);
      row += block.rows;
      const Offset begin = product.row_offsets[block.first_row];
      EXPECT_EQ(block.first_entry % 8, 0);
      EXPECT_EQ(block.first_entry + block.skipped, begin);
      EXPECT_LT(block.skipped, 8);
      EXPECT_EQ(block.first_entry + block.entries, product.row_offsets[row]);
      EXPECT_GE(block.cols_at, 4u * (static_cast<unsigned>(block.rows) + 1));
      EXPECT_GE(block.values_at, block.cols_at + 4 * static_cast<std::uint64_t>(block.entries));
      EXPECT_GE(block.workspace_at,
                block.values_at + 4 * static_cast<std::uint64_t>(block.entries));
      EXPECT_GE(block.bytes,
                block.workspace_at + product.workspace_bytes(block.sizes(product, cut.panel_cols)));
      EXPECT_EQ(block.bytes % 256, 0u);
      a_bytes += block.bytes;
      if (!cut.keeps_a) {
        EXPECT_LE(block.bytes, cut.a_buffer_bytes);
      }
      EXPECT_LE(static_cast<std::uint64_t>(block.rows) *
                    static_cast<std::uint64_t>(cut.panel_cols) *
                    static_cast<std::uint64_t>(product.c_bytes),
                cut.c_buffer_bytes);
      const SpmmSizes sizes = block.sizes(product, cut.panel_cols);
      EXPECT_EQ(sizes.nnz_of_whole(), product.nnz());
      EXPECT_EQ(sizes.dense_cols_of_whole(), product.dense_cols);
    }
    EXPECT_EQ(row, product.rows);
    EXPECT_GE(cut.b_buffer_bytes, static_cast<std::uint64_t>(product.cols) *
                                      static_cast<std::uint64_t>(cut.panel_cols) *
                                      static_cast<std::uint64_t>(product.b_bytes));
    EXPECT_EQ(cut.b_buffers, std::min(cut.panels, 2));
    EXPECT_EQ(cut.c_buffers, std::min(cut.steps(), 2));
    if (!cut.keeps_a) a_bytes = static_cast<std::uint64_t>(cut.a_buffers) * cut.a_buffer_bytes;
    EXPECT_EQ(cut.device_bytes, a_bytes +
                                    static_cast<std::uint64_t>(cut.b_buffers) * cut.b_buffer_bytes +
                                    static_cast<std::uint64_t>(cut.c_buffers) * cut.c_buffer_bytes);
    EXPECT_LE(cut.device_bytes, limit);
    EXPECT_GT(cut.seconds, 0);
  }

  std::vector<Offset> offsets_;
};

TEST_F(OutOfCoreCut, KeepsTheLimitWhateverItIsAndSaysWhereThereIsNone) {
  std::vector<Offset> uneven(10001, 3);
  for (std::size_t i = 0; i < uneven.size(); i += 97) uneven[i] = static_cast<Offset>(i % 400);
  std::vector<Offset> dense_row(999, 0);
  dense_row[500] = 5000;
  for (const std::vector<Offset>& lengths : {uneven, dense_row, std::vector<Offset>(3, 1)}) {
    for (const Index dense_cols : {1, 3, 17, 32, 100, 257}) {
      for (const OutOfCore how : {OutOfCore::automatic, OutOfCore::columns, OutOfCore::rows}) {
        const OutOfCoreProduct problem = product(lengths, 5000, dense_cols);
        int fitting = 0, refused = 0;
        for (std::uint64_t limit = std::uint64_t{1} << 12; limit < std::uint64_t{1} << 26;
             limit = limit * 3 / 2) {
          try {
            const Cut cut = choose_cut(problem, limit, how);
            check(problem, cut, limit);
            if (how != OutOfCore::automatic) {
              EXPECT_EQ(cut.keeps_a, how == OutOfCore::columns);
            }
            ++fitting;
          } catch (const MemoryError& error) {
            EXPECT_EQ(fitting, 0) << "a smaller limit was enough";
            EXPECT_NE(std::string(error.what()).find("--memory-limit"), std::string::npos);
            ++refused;
          }
        }
        EXPECT_GT(fitting, 0);
        EXPECT_GT(refused, 0);
      }
    }
  }
}

TEST_F(OutOfCoreCut, CountsTheBytesOfBothWays) {
  const OutOfCoreProduct problem = product(std::vector<Offset>(4000, 8), 3000, 128);
  const std::uint64_t b = 3000ull * 128 * 4, c = 4000ull * 128 * 4;
  const Cut columns = choose_cut(problem, 4u << 20, OutOfCore::columns);
  EXPECT_EQ(columns.bytes_in, b);
  EXPECT_EQ(columns.bytes_out, c);
  const Cut rows = choose_cut(problem, 2u << 20, OutOfCore::rows);
  std::uint64_t a = 0;
  for (const BlockLayout& block : rows.blocks) {
    a += 4 * (static_cast<std::uint64_t>(block.rows) + 1) +
         8 * static_cast<std::uint64_t>(block.entries);
  }
  EXPECT_EQ(rows.bytes_in, b + static_cast<std::uint64_t>(rows.panels) * a);
  EXPECT_EQ(rows.bytes_out, c);
}

TEST_F(OutOfCoreCut, PrefersWhatMovesLess) {
  // A is small: it stays. A is most of it and B little: B stays, and A comes once.
  const OutOfCoreProduct wide = product(std::vector<Offset>(20000, 4), 20000, 512);
  const Cut kept = choose_cut(wide, 24u << 20, OutOfCore::automatic);
  EXPECT_TRUE(kept.keeps_a);
  EXPECT_GT(kept.panels, 2);
  const OutOfCoreProduct long_rows = product(std::vector<Offset>(20000, 300), 1000, 32);
  const Cut streamed = choose_cut(long_rows, 16u << 20, OutOfCore::automatic);
  EXPECT_FALSE(streamed.keeps_a);
  EXPECT_EQ(streamed.panels, 1);
}

TEST_F(OutOfCoreCut, TakesNoWiderPanelThanItMay) {
  const OutOfCoreProduct problem = product(std::vector<Offset>(4000, 8), 3000, 130);
  for (const Index most : {1, 4, 6, 32, 64, 200}) {
    const Cut cut = choose_cut(problem, 64u << 20, OutOfCore::columns, most);
    check(problem, cut, 64u << 20);
    EXPECT_LE(cut.panel_cols, std::max(most, 4));
  }
}

TEST_F(OutOfCoreCut, CutsMatricesOfNothing) {
  const std::uint64_t limit = 1u << 20;
  check(product({}, 5, 3), choose_cut(product({}, 5, 3), limit, OutOfCore::automatic), limit);
  check(product({0, 0, 0}, 1, 3), choose_cut(product({0, 0, 0}, 1, 3), limit, OutOfCore::rows),
        limit);
}

}  // namespace
}  // namespace csrkit::testing
