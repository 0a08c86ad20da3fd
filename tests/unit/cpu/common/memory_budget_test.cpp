#include "cpu/common/memory_budget.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit::cpu {
namespace {

TEST(MemoryBudget, AddsUpAndRefusesWithTheNumbers) {
  MemoryBudget budget(100, 10, "do less");
  budget.reserve(60, "the first thing");
  budget.release(20);
  budget.reserve(50, "the second thing");
  EXPECT_EQ(budget.peak_bytes(), 100u);
  try {
    budget.reserve(1, "the third thing");
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_STREQ(error.what(),
                 "no room for the third thing (1 byte, 101 with what the plan holds already): the "
                 "limit is 100 bytes; do less");
  }
}

TEST(MemoryBudget, WithoutALimitThereIsWhatTheSystemHasBesideTheOperands) {
  const std::uint64_t operands = std::uint64_t{1} << 62;
  MemoryBudget budget(0, operands, "do less");
  budget.reserve(1, "a byte");
  EXPECT_EQ(budget.peak_bytes(), operands + 1);
}

TEST(MemoryBudget, HoldsATransposeAndNotTheWorkspaceOfMakingIt) {
  Buffer<Offset> row_offsets(3);
  Buffer<Index> cols(3);
  for (Index row = 0; row < 3; ++row) row_offsets[row] = row;
  for (Index at = 0; at < 2; ++at) cols[at] = 1 - at;
  cols.truncate(2);
  const CsrMatrix matrix(2, 5, std::move(row_offsets), std::move(cols),
                         ValueArray(ValueKind::none, 2));
  MemoryBudget budget(1 << 20, 0, "do less");
  const CsrMatrix transposed = transpose_within(budget, matrix, "A", 3);
  EXPECT_TRUE(identical(transposed, transpose(matrix)));
  EXPECT_EQ(budget.held_bytes(), transposed.size_bytes());
  EXPECT_EQ(budget.peak_bytes(), transpose_bytes(matrix));
  MemoryBudget small(transpose_bytes(matrix) - 1, 0, "do less");
  EXPECT_THROW(transpose_within(small, matrix, "A", 3), MemoryError);
}

}  // namespace
}  // namespace csrkit::cpu
