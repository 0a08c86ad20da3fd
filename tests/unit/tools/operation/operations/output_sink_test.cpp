#include "tools/operation/operations/output_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "core/judge/reference.h"
#include "tests/property/matrices.h"

namespace csrkit {
namespace {

using testing::Entry;
using testing::matrix_of;

/// A * A for a random A, and its rows as they come from a plan.
struct Product {
  CsrMatrix a = testing::random_matrix(60, 60, 0.1);
  SpgemmProblem problem = default_spgemm_problem(a, a);
  CsrMatrix c;

  explicit Product(bool transpose_b = false) {
    problem.transpose_b = transpose_b;
    std::vector<Entry> entries;
    ReferenceSpgemm reference(problem, transpose_b ? transpose(a) : a);
    std::vector<ReferenceProductEntry> row;
    for (Index i = 0; i < a.rows(); ++i) {
      reference.row(i, row);
      for (const auto& entry : row) entries.push_back({i, entry.col, entry.value});
    }
    c = matrix_of(60, 60, entries, problem.c);
  }

  void give(OutputSink& sink, const std::vector<Index>& bounds) const {
    for (std::size_t i = 1; i < bounds.size(); ++i) {
      sink.append_rows(row_block(c, bounds[i - 1], bounds[i]));
    }
  }
};

const std::vector<Index> kWhole = {0, 60}, kBlocks = {0, 7, 8, 40, 60};

std::string scratch_path() {
  return ::testing::TempDir() + "csrkit_sink_" + std::to_string(::getpid()) + ".csr";
}

TEST(OutputSink, WritesTheSameMatrixWholeAndInBlocks) {
  for (const bool transpose_b : {false, true}) {
    const Product product(transpose_b);
    for (const auto& bounds : {kWhole, kBlocks}) {
      OutputSink sink(product.problem, scratch_path(), CheckOptions{});
      product.give(sink, bounds);
      sink.finish({});
      ASSERT_TRUE(sink.check().has_value());
      EXPECT_TRUE(sink.check()->passed) << sink.check()->failure;
      EXPECT_EQ(sink.check()->rows_checked, 60);
      EXPECT_TRUE(identical(read_csr_file(scratch_path()).matrix, product.c));
      std::remove(scratch_path().c_str());
    }
  }
}

TEST(OutputSink, WritesNothingIfABlockIsWrong) {
  Product product;
  std::vector<Entry> entries;
  product.c.visit([&](auto view) {
    for (Index row = 0; row < view.rows; ++row) {
      for (Offset at = view.row_offsets[row]; at < view.row_offsets[row + 1]; ++at) {
        entries.push_back({row, view.col_indices[at], view.template value_as<double>(at)});
      }
    }
  });
  entries[entries.size() / 2].value += 1;
  const Index wrong_row = entries[entries.size() / 2].row;
  product.c = matrix_of(60, 60, entries, product.problem.c);
  for (const auto& bounds : {kWhole, kBlocks}) {
    OutputSink sink(product.problem, scratch_path(), CheckOptions{});
    product.give(sink, bounds);
    sink.finish({});
    EXPECT_FALSE(sink.check()->passed);
    EXPECT_FALSE(std::filesystem::exists(scratch_path()));
  }
  OutputSink sink(product.problem, "", CheckOptions{});
  product.give(sink, kBlocks);
  const std::string place = "row " + std::to_string(wrong_row - (wrong_row < 40 ? 8 : 40));
  EXPECT_NE(sink.check()->failure.find(place), std::string::npos) << sink.check()->failure;
}

TEST(OutputSink, JudgesTheMaskOfABlock) {
  Product product;
  product.problem.mask = product.a;
  OutputSink sink(product.problem, "", CheckOptions{});
  product.give(sink, kBlocks);  // the entries outside of the mask are too many
  sink.finish({});
  EXPECT_FALSE(sink.check()->passed);
}

TEST(OutputSink, JudgesNothingUnasked) {
  const Product product;
  OutputSink sink(product.problem, "");
  product.give(sink, kBlocks);
  sink.finish({});
  EXPECT_FALSE(sink.check().has_value());
}

TEST(RowBlock, HoldsTheRowsOfAnyKind) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f64}) {
    const CsrMatrix matrix = convert_values(testing::random_matrix(20, 9, 0.3), kind);
    const CsrMatrix block = row_block(matrix, 5, 12);
    ASSERT_EQ(block.rows(), 7);
    validate(block, "block");
    for (Index row = 0; row < 7; ++row)
      EXPECT_EQ(block.row_length(row), matrix.row_length(row + 5));
    EXPECT_EQ(row_block(matrix, 3, 3).nnz(), 0);
    EXPECT_TRUE(identical(row_block(matrix, 0, 20), matrix));
  }
}

}  // namespace
}  // namespace csrkit
