// Rows of few products: what makes them must not show in their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/common/instruction_set.h"
#include "tests/unit/cpu/spgemm/product_by.h"

namespace csrkit {
namespace {

using cpu::Isa;

constexpr Index kSize = 400;

/// Rows [first, last) of a matrix with three diagonals: a line of a grid, nine products a row of C,
/// of which up to three make one sum, and need rounding. Some values are 0, and some are negative:
/// no sum may be -0.
CsrMatrix three_diagonals(Index first, Index last) {
  std::vector<testing::Entry> entries;
  for (Index i = first; i < last; ++i) {
    for (Index j = std::max<Index>(i - 1, 0); j <= std::min<Index>(i + 1, kSize - 1); ++j) {
      const double value = (i + 3 * j) % 5 == 0 ? 0 : (i % 3 == 0 ? -1.0 : 1.0) / (3 + 7 * i + j);
      entries.push_back({i - first, j, value});
    }
  }
  return testing::matrix_of(last - first, kSize, entries);
}

/// With AVX2 and many rows, most are made after the pattern of the row before; with three, none is.
TEST(TinyRows, HaveTheBitsOfRowsThatFollowAPattern) {
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!cpu::is_supported(isa)) continue;
    ASSERT_EQ(setenv("CSRKIT_CPU_ISA", cpu::name_of(isa), 1), 0);
    const CsrMatrix b = three_diagonals(0, kSize);
    std::string choice;
    const CsrMatrix whole =
        testing::product_by("adaptive_rows", 1, default_spgemm_problem(b, b), &choice);
    for (Index first = 0; first + 3 <= kSize; first += 3) {
      const CsrMatrix few = testing::product_by(
          "adaptive_rows", 1, default_spgemm_problem(three_diagonals(first, first + 3), b),
          &choice);
      const Offset begin = whole.row_offsets()[first];
      ASSERT_EQ(few.nnz(), whole.row_offsets()[first + 3] - begin);
      for (Offset at = 0; at < few.nnz(); ++at) {
        ASSERT_EQ(few.col_indices()[at], whole.col_indices()[begin + at]);
        const double one = few.view<double>().values[at];
        const double other = whole.view<double>().values[begin + at];
        ASSERT_EQ(std::memcmp(&one, &other, sizeof one), 0)
            << cpu::name_of(isa) << ", row " << first << ": " << one << ", " << other;
      }
    }
  }
  unsetenv("CSRKIT_CPU_ISA");
}

}  // namespace
}  // namespace csrkit
