// Rows of few products that are far apart: lists of columns, where there are vectors for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cpu/common/instruction_set.h"
#include "cpu/spgemm/rows/row_products.h"
#include "tests/unit/cpu/spgemm/product_by.h"

namespace csrkit {
namespace {

using cpu::Isa;

constexpr Index kSpread = 40'009;  // columns between neighbours: more than a list asks for

using Entries = std::vector<std::pair<Index, double>>;

/// Rows of so many products, around the vectors of 8 and of 16 columns and the longest lists.
constexpr Index kProducts[] = {17, 24, 25, 31, 32, 33, 48, 56, 57, 63, 64, 65, 112, 127, 128, 129};

/// Row i of A needs rows of B of 1, 7, 8, 9 and 16 entries, of kProducts[i] in all. Their columns
/// differ, or every other row of B has those of the row before it, as far as that goes. Values are
/// small integers, so that sums are exact.
std::pair<CsrMatrix, CsrMatrix> operands(bool repeats) {
  constexpr Index kLengths[] = {1, 7, 8, 9, 16};
  std::vector<testing::Entry> of_a, of_b;
  Index row_of_b = 0, rows = 0, column = 0;
  for (const Index products : kProducts) {
    Index last_begin = 0;
    for (Index made = 0; made < products; ++row_of_b) {
      const Index length = std::min(kLengths[row_of_b % 5], products - made);
      const bool is_repeat = repeats && row_of_b % 2 == 1;
      if (!is_repeat) last_begin = column;
      const Index begin = last_begin;
      for (Index at = 0; at < length; ++at) {
        of_b.push_back({row_of_b, (begin + at) * kSpread, 1.0 + (row_of_b + at) % 5});
      }
      column = std::max(column, begin + length);
      of_a.push_back({rows, row_of_b, 1.0 + row_of_b % 3});
      made += length;
    }
    ++rows;
  }
  return {testing::matrix_of(rows, row_of_b, of_a),
          testing::matrix_of(row_of_b, column * kSpread + 1, of_b)};
}

/// The entries of a row of C, in the order in which their columns are met.
Entries row_of(const CsrMatrix& a, const CsrMatrix& b, Index row) {
  Entries entries;
  std::map<Index, std::size_t> places;
  const auto of_a = a.view<double>(), of_b = b.view<double>();
  for (Offset i = of_a.row_offsets[row]; i < of_a.row_offsets[row + 1]; ++i) {
    const Index k = of_a.col_indices[i];
    for (Offset at = of_b.row_offsets[k]; at < of_b.row_offsets[k + 1]; ++at) {
      const auto [found, is_new] = places.emplace(of_b.col_indices[at], entries.size());
      if (is_new) entries.emplace_back(of_b.col_indices[at], 0);
      entries[found->second].second += of_a.values[i] * of_b.values[at];
    }
  }
  return entries;
}

/// Products of the longest row that is a list; 0 where no row is.
Index longest_list(Isa isa, bool sorts_rows) {
  if (isa == Isa::avx512) return 128;
  return isa == Isa::avx2 && sorts_rows ? 64 : 0;
}

void check(Isa isa, bool repeats, bool sorts_rows) {
  const auto [a, b] = operands(repeats);
  SpgemmProblem problem = default_spgemm_problem(a, b);
  problem.sorts_rows = sorts_rows;
  std::string choice;
  const CsrMatrix c = testing::product_by("adaptive_rows", 1, problem, &choice);
  const auto made = c.view<double>();
  const Index range = cpu::range_sizes(sizeof(double)).sums;
  for (Index row = 0; row < a.rows(); ++row) {
    SCOPED_TRACE(std::string(cpu::name_of(isa)) + ", " + std::to_string(kProducts[row]) +
                 " products");
    Entries wanted = row_of(a, b, row), found;
    for (Offset at = made.row_offsets[row]; at < made.row_offsets[row + 1]; ++at) {
      found.emplace_back(made.col_indices[at], made.values[at]);
    }
    const Offset sources = a.row_offsets()[row + 1] - a.row_offsets()[row];
    const Offset width = Offset{kSpread} * (static_cast<Offset>(wanted.size()) - 1) + 1;
    const Index longest = longest_list(isa, sorts_rows);
    const bool is_list = kProducts[row] <= longest;
    if (is_list) {
      EXPECT_EQ(cpu::accumulator_for(sources, kProducts[row], width, range, longest),
                cpu::Accumulator::list);
      EXPECT_GT(width, range);  // in a range, rows in any order are made as they are met
    }
    if (sorts_rows || !is_list) std::sort(wanted.begin(), wanted.end());
    if (!sorts_rows && !is_list) std::sort(found.begin(), found.end());
    EXPECT_EQ(found, wanted);
  }
}

TEST(ColumnList, HasEveryColumnOnceAtItsPlace) {
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!cpu::is_supported(isa)) continue;
    ASSERT_EQ(setenv("CSRKIT_CPU_ISA", cpu::name_of(isa), 1), 0);
    for (const bool repeats : {false, true}) {
      for (const bool sorts_rows : {true, false}) check(isa, repeats, sorts_rows);
    }
  }
  unsetenv("CSRKIT_CPU_ISA");
}

}  // namespace
}  // namespace csrkit
