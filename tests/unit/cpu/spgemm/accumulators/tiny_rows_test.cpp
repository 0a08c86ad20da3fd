// Rows of few products: what makes them must not show in their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <type_traits>
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

/// C's entries of one row, as they are defined with AVX-512: rows of at most 16 products from
/// several rows of B add up rounded products, in the order of A's row; others begin with 0 and
/// round once.
template <class Acc>
std::map<Index, Acc> expected_row(const CsrMatrix& a, const CsrMatrix& b, Index row) {
  Offset products = 0;
  int sources = 0;
  for (Offset i = a.row_offsets()[row]; i < a.row_offsets()[row + 1]; ++i) {
    const Index k = a.col_indices()[i];
    products += b.row_offsets()[k + 1] - b.row_offsets()[k];
    sources += b.row_offsets()[k + 1] > b.row_offsets()[k] ? 1 : 0;
  }
  std::map<Index, Acc> sums;
  for (Offset i = a.row_offsets()[row]; i < a.row_offsets()[row + 1]; ++i) {
    const Acc x = a.view<Acc>().values[i];
    const Index k = a.col_indices()[i];
    for (Offset at = b.row_offsets()[k]; at < b.row_offsets()[k + 1]; ++at) {
      const Acc y = b.view<Acc>().values[at];
      const auto found = sums.find(b.col_indices()[at]);
      if (sources > 1 && products <= 16) {
        const volatile Acc product = x * y;  // never fused
        if (found == sums.end()) {
          sums[b.col_indices()[at]] = product;
        } else {
          found->second += product;
        }
      } else {
        Acc& sum = sums[b.col_indices()[at]];
        sum = std::fma(x, y, sum);
      }
    }
  }
  return sums;
}

template <class Acc>
void expect_rows_as_defined(const SpgemmProblem& problem, const CsrMatrix& c) {
  for (Index row = 0; row < c.rows(); ++row) {
    const std::map<Index, Acc> wanted = expected_row<Acc>(problem.a, problem.b, row);
    std::map<Index, Acc> found;
    const Offset begin = c.row_offsets()[row], end = c.row_offsets()[row + 1];
    for (Offset at = begin; at < end; ++at) {
      if (problem.sorts_rows && at > begin) {
        ASSERT_LT(c.col_indices()[at - 1], c.col_indices()[at]) << "row " << row;
      }
      found[c.col_indices()[at]] = c.view<Acc>().values[at];
    }
    ASSERT_EQ(end - begin, static_cast<Offset>(wanted.size())) << "row " << row;
    for (const auto& [col, sum] : wanted) {
      ASSERT_EQ(found.count(col), 1u) << "row " << row << ", column " << col;
      const Acc one = found[col], other = static_cast<Acc>(problem.alpha) * sum;
      if (std::isnan(one) && std::isnan(other)) continue;
      ASSERT_EQ(std::memcmp(&one, &other, sizeof one), 0)
          << "row " << row << ", column " << col << ": " << one << ", " << other;
    }
  }
}

/// Rows of all lengths up to `longest`, some of them empty, of columns that `column` picks, which
/// may repeat.
template <class Column>
CsrMatrix rows_of(Index rows, Index cols, int longest, std::mt19937& random, const Column& column) {
  // Sums of these are inexact, 0, infinite or NaN; products are too small, and have a sign.
  const double values[] = {0.1, -0.3, 7.0 / 3, -1e3, 0.0, -0.0, 1e-300, -1e-300, 1.0, -1.0 / 7};
  const double rare[] = {std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()};
  std::vector<testing::Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    std::map<Index, double> row;
    const auto length = static_cast<int>(random() % static_cast<unsigned>(longest + 1));
    for (int n = 0; n < length; ++n) {
      row[column(i)] = random() % 97 == 0 ? rare[random() % 3] : values[random() % 10];
    }
    for (const auto& [col, value] : row) entries.push_back({i, col, value});
  }
  return testing::matrix_of(rows, cols, entries);
}

template <class Acc>
void check_all_ways(const CsrMatrix& a, const CsrMatrix& b) {
  const ValueKind kind = std::is_same_v<Acc, float> ? ValueKind::f32 : ValueKind::f64;
  SpgemmProblem problem = default_spgemm_problem(convert_values(a, kind), convert_values(b, kind));
  for (const double alpha : {1.0, -0.7}) {
    for (const bool sorts_rows : {true, false}) {
      for (const char* kernel : {"auto", "adaptive_rows"}) {
        for (const int threads : {1, 3}) {
          SCOPED_TRACE(std::string(kernel) + (sorts_rows ? "" : ", in any order"));
          problem.alpha = alpha;
          problem.sorts_rows = sorts_rows;
          std::string choice;
          const CsrMatrix c = testing::product_by(kernel, threads, problem, &choice);
          expect_rows_as_defined<Acc>(problem, c);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

class TinyRowsInRegisters : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::is_supported(Isa::avx512)) GTEST_SKIP() << "this machine has no AVX-512";
    unsetenv("CSRKIT_CPU_ISA");
  }
  std::mt19937 random_{11};
};

constexpr Index kFew = 200;

TEST_F(TinyRowsInRegisters, AreSummedInTheOrderOfTheirSources) {
  constexpr Index kMany = 3000;
  for (const int longest : {1, 2, 3, 4, 6}) {
    for (const Index spread : {Index{4}, Index{30}, kMany}) {
      SCOPED_TRACE(std::to_string(longest) + " entries, " + std::to_string(spread) + " columns");
      const CsrMatrix a = rows_of(kMany, kMany, longest, random_, [&](Index row) {
        return static_cast<Index>((row + random_() % static_cast<unsigned>(spread)) % kMany);
      });
      check_all_ways<double>(a, a);
      check_all_ways<float>(a, a);
      if (HasFatalFailure()) return;
    }
  }
}

/// Between rows of one and two entries, some have hundreds, most of them of empty rows of B, and
/// some meet a long row of B: neither fits a batch.
TEST_F(TinyRowsInRegisters, LeaveLongRowsToOthers) {
  constexpr Index kMany = 2000;
  std::vector<testing::Entry> a, b;
  for (Index i = 0; i < kMany; ++i) {
    const Index entries = i % 500 == 7 ? 400 : i % 5 % 3;
    for (Index n = 0; n < entries; ++n) {
      a.push_back({i, (3 * i + 4 * n) % (kMany - 1600) + (n % 2) * 1600, 1.0 / (1 + i + n)});
    }
    const Index of_b = i == 50 ? 17 : i == 51 ? 16 : i == 52 ? 300 : i % 10 == 1 ? 2 : 0;
    for (Index n = 0; n < of_b; ++n) b.push_back({i, (i + 5 * n) % kMany, 1.0 / (3 + i + n)});
  }
  const auto by_place = [](const testing::Entry& x, const testing::Entry& y) {
    return x.row != y.row ? x.row < y.row : x.col < y.col;
  };
  std::sort(a.begin(), a.end(), by_place);
  a.erase(
      std::unique(a.begin(), a.end(),
                  [](const auto& x, const auto& y) { return x.row == y.row && x.col == y.col; }),
      a.end());
  std::sort(b.begin(), b.end(), by_place);
  check_all_ways<double>(testing::matrix_of(kMany, kMany, a), testing::matrix_of(kMany, kMany, b));
}

/// C's arrays are null then.
TEST_F(TinyRowsInRegisters, MayHaveNoProducts) {
  const CsrMatrix none = testing::matrix_of(kFew, kFew, {});
  const CsrMatrix some = testing::matrix_of(kFew, kFew, {{3, 4, 1.0}, {9, 4, 2.0}});
  check_all_ways<double>(none, some);
  check_all_ways<float>(some, none);
  check_all_ways<double>(some, testing::matrix_of(kFew, kFew, {{3, 1, 1.0}}));
}

/// Columns leave four bits of a sorted key for an element's number, up to 2^28 of them.
TEST_F(TinyRowsInRegisters, MayHaveTheLargestColumns) {
  for (const Index cols : {(Index{1} << 28) - 1, Index{1} << 28, (Index{1} << 28) + 1,
                           std::numeric_limits<Index>::max()}) {
    SCOPED_TRACE(cols);
    const CsrMatrix a = rows_of(kFew, kFew, 4, random_,
                                [&](Index) { return static_cast<Index>(random_() % kFew); });
    const CsrMatrix b = rows_of(kFew, cols, 4, random_, [&](Index) {
      const auto step = static_cast<Index>(random_() % 5);
      return random_() % 2 == 0 ? cols - 1 - step : step * (cols / 5);
    });
    check_all_ways<double>(a, b);
    check_all_ways<float>(a, b);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace csrkit
