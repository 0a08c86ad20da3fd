#include "core/matrix/csr_checks.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/error.h"

namespace csrkit {
namespace {

std::string refusal(const std::vector<Offset>& row_offsets, Offset nnz) {
  try {
    require_row_offsets(row_offsets.data(), static_cast<Index>(row_offsets.size()) - 1, nnz, "here",
                        "try again");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RowOffsets, BeginWithZeroNeverDecreaseAndEndWithTheEntries) {
  EXPECT_EQ(refusal({0}, 0), "accepted");
  EXPECT_EQ(refusal({0, 0, 2, 2, 5}, 5), "accepted");
  EXPECT_EQ(
      refusal({0, 2}, 3),
      "here: expected row offsets from 0 to the number of entries, 3, found them from 0 to 2; "
      "try again");
  EXPECT_NE(refusal({1, 2}, 2).find("found them from 1 to 2"), std::string::npos);
  EXPECT_EQ(
      refusal({0, 2, 1, 0, 3}, 3),
      "here: expected row offsets that never decrease, found 2 and then 1 at row 1; try again");
}

TEST(RowOffsets, TheFirstFaultOfManyRowsIsNamed) {
  std::vector<Offset> row_offsets(100001);
  for (std::size_t i = 0; i < row_offsets.size(); ++i) row_offsets[i] = static_cast<Offset>(i);
  row_offsets[70000] = row_offsets[90000] = 0;
  EXPECT_NE(refusal(row_offsets, 100000).find("at row 69999;"), std::string::npos);
}

TEST(Columns, AreRefusedByPlaceAndWithTheAdviceOfTheCaller) {
  const Offset row_offsets[] = {0, 1, 2};
  const Index col_indices[] = {2, 3};
  EXPECT_NO_THROW(require_columns(row_offsets, col_indices, 2, 4, "here", "try again"));
  try {
    require_columns(row_offsets, col_indices, 2, 3, "here", "try again");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "here: row 1, entry 1: column 3 is outside [0, 3); try again");
  }
}

}  // namespace
}  // namespace csrkit
