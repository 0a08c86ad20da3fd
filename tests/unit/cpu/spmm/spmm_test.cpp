#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/contract/takes_values.h"
#include "cpu/common/caches.h"
#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"
#include "cpu/spmm/reads_of_b.h"
#include "cpu/spmm/settings.h"

namespace csrkit::cpu {
namespace {

/// One row of `length` entries of value 1 between two rows of one entry.
CsrMatrix long_row(Index length) {
  Buffer<Offset> row_offsets(4);
  row_offsets[0] = 0;
  row_offsets[1] = 1;
  row_offsets[2] = 1 + length;
  row_offsets[3] = 2 + length;
  Buffer<Index> col_indices(row_offsets[3]);
  col_indices[0] = 0;
  for (Index j = 0; j < length; ++j) col_indices[1 + j] = j;
  col_indices[1 + length] = length - 1;
  return CsrMatrix(3, length, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, 0));
}

std::unique_ptr<SpmmPlan> plan_of(const char* kernel, const SpmmProblem& problem,
                                  const PlanOptions& options = {}) {
  return find_kernel(spmm_kernels(), kernel).make_plan(problem, options);
}

// Few sums are added up by one thread, many by the team.
TEST(NnzBalanced, CutsLongRowsAndAddsThemUpExactly) {
  const Index length = 5000;  // many stretches
  for (const Index dense_cols : {2, 600}) {
    SCOPED_TRACE(dense_cols);
    const SpmmProblem problem = default_spmm_problem(long_row(length), dense_cols);
    DenseMatrix b(length, dense_cols, ValueKind::f32), c(3, dense_cols, ValueKind::f32);
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < dense_cols; ++j) b.view().set(i, j, j == 0 ? i : 1);
    }
    const auto plan = plan_of("nnz_balanced", problem);
    EXPECT_NE(plan->choice().find("1 cut row,"), std::string::npos) << plan->choice();
    plan->bind(b.view(), c.view());
    plan->multiply();
    const ConstDenseView found = std::as_const(c).view();
    EXPECT_EQ(found.at(0, 0), 0);
    EXPECT_EQ(found.at(1, 0), 5000.0 * 4999 / 2);
    for (Index j = 1; j < dense_cols; ++j) ASSERT_EQ(found.at(1, j), 5000) << j;
    EXPECT_EQ(found.at(2, 0), 4999);
  }
}

TEST(ChunkedRows, CutsLongRowsAndAddsThemUpExactly) {
  const Index length = 20000;  // several stretches
  SpmmProblem problem = default_spmm_problem(long_row(length), 2);
  DenseMatrix b(length, 2, ValueKind::f32), c(3, 2, ValueKind::f32);
  for (Index i = 0; i < length; ++i) {
    b.view().set(i, 0, i % 100);
    b.view().set(i, 1, 1);
  }
  const auto plan = plan_of("chunked_rows", problem);
  EXPECT_NE(plan->choice().find("1 cut row"), std::string::npos) << plan->choice();
  plan->bind(b.view(), c.view());
  for (const double beta : {0.0, 1.0}) {
    plan->multiply(1, beta);
    const ConstDenseView found = std::as_const(c).view();
    const double times = beta + 1;
    EXPECT_EQ(found.at(0, 1), times);
    EXPECT_EQ(found.at(1, 0), times * 200 * (100 * 99 / 2));
    EXPECT_EQ(found.at(1, 1), times * length);
    EXPECT_EQ(found.at(2, 0), times * 99);
  }
}

/// Rows of `shortest` entries, one more, and so on.
CsrMatrix growing_rows(Index rows, Index shortest) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) row_offsets[i + 1] = row_offsets[i] + shortest + i;
  Buffer<Index> col_indices(row_offsets[rows]);
  Buffer<float> values(row_offsets[rows]);
  for (Index i = 0; i < rows; ++i) {
    for (Offset at = row_offsets[i]; at < row_offsets[i + 1]; ++at) {
      col_indices[at] = static_cast<Index>(at - row_offsets[i]);
      values[at] = static_cast<float>(1 + at % 3);
    }
  }
  return CsrMatrix(rows, shortest + rows, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

// Stretches are chunks as they lie: here of every rest, and all sums are whole numbers.
TEST(ChunkedRows, AddsUpStretchesOfEveryLength) {
  constexpr Index kRows = 70, kShortest = 3000;
  const CsrMatrix a = growing_rows(kRows, kShortest);
  const CsrView<float> view = a.view<float>();
  for (const Index dense_cols : {1, 3, 4, 8, 16, 21}) {
    DenseMatrix b(a.cols(), dense_cols, ValueKind::f32), c(kRows, dense_cols, ValueKind::f32);
    for (Index i = 0; i < a.cols(); ++i) {
      for (Index k = 0; k < dense_cols; ++k) b.view().set(i, k, (i + k) % 5);
    }
    fill_nan(c.view());
    const auto plan = plan_of("chunked_rows", default_spmm_problem(a, dense_cols));
    EXPECT_NE(plan->choice().find("70 cut rows"), std::string::npos) << plan->choice();
    plan->bind(b.view(), c.view());
    plan->multiply();
    for (Index i = 0; i < kRows; ++i) {
      for (Index k = 0; k < dense_cols; ++k) {
        double expected = 0;
        for (Offset at = a.row_offsets()[i]; at < a.row_offsets()[i + 1]; ++at) {
          expected += view.values[at] * static_cast<float>((view.col_indices[at] + k) % 5);
        }
        ASSERT_EQ(std::as_const(c).view().at(i, k), expected) << i << ", " << k;
      }
    }
  }
}

TEST(NnzBalanced, ForecastsTheSumsOfCutRows) {
  const SpmmProblem problem = default_spmm_problem(long_row(5000), 1 << 20);
  PlanOptions options;
  options.memory_limit_bytes = 1 << 20;
  EXPECT_THROW(plan_of("nnz_balanced", problem, options), MemoryError);
}

/// C += A B, as ranks add what their halo brings: a row of A without entries leaves its row of C as
/// it is, down to the sign of a zero, unless alpha makes something of an empty sum.
TEST(ByRows, RowsWithoutEntriesAreLeftAlone) {
  constexpr Index kRows = 90;
  Buffer<Offset> row_offsets(kRows + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < kRows; ++i) row_offsets[i + 1] = row_offsets[i] + (i % 3 == 1 ? i % 7 : 0);
  Buffer<Index> col_indices(row_offsets[kRows]);
  for (Index i = 0; i < kRows; ++i) {
    for (Offset at = row_offsets[i]; at < row_offsets[i + 1]; ++at) {
      col_indices[at] = static_cast<Index>(at - row_offsets[i]);
    }
  }
  const CsrMatrix a(kRows, 8, std::move(row_offsets), std::move(col_indices),
                    ValueArray(ValueKind::none, 0));
  for (const char* const kernel : {"nnz_balanced", "chunked_rows"})
    for (const Index dense_cols : {1, 3, 4, 5, 16, 33, 128, 300}) {
      DenseMatrix b(8, dense_cols, ValueKind::f32), c(kRows, dense_cols, ValueKind::f32);
      for (Index i = 0; i < 8; ++i) {
        for (Index k = 0; k < dense_cols; ++k) b.view().set(i, k, 1);
      }
      const auto plan = plan_of(kernel, default_spmm_problem(a, dense_cols));
      plan->bind(b.view(), c.view());
      for (const double alpha : {1.0, std::numeric_limits<double>::infinity()}) {
        for (Index i = 0; i < kRows; ++i) {
          for (Index k = 0; k < dense_cols; ++k) c.view().set(i, k, -0.0);
        }
        plan->multiply(alpha, 1);
        const ConstDenseView found = std::as_const(c).view();
        for (Index i = 0; i < kRows; ++i) {
          for (Index k = 0; k < dense_cols; ++k) {
            const double element = found.at(i, k);
            const double sum = static_cast<double>(a.row_length(i));
            if (sum > 0) {
              ASSERT_EQ(element, alpha * sum) << i << ", " << k;
            } else if (alpha == 1) {
              ASSERT_TRUE(element == 0 && std::signbit(element)) << i << ", " << k;
            } else {
              ASSERT_TRUE(std::isnan(element)) << i << ", " << k;
            }
          }
        }
      }
    }
}

/// Rows of every length from 0 to `rows` - 1, columns scattered.
CsrMatrix rows_of_all_lengths(Index rows) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  row_offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) row_offsets[i + 1] = row_offsets[i] + i;
  const Offset nnz = row_offsets[rows];
  Buffer<Index> col_indices(nnz);
  Buffer<float> values(nnz);
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < i; ++n) {
      col_indices[row_offsets[i] + n] = n * (rows / i) + (i + n) % (rows / i);
      values[row_offsets[i] + n] = 1.0f / static_cast<float>(i + 2 * n + 1);
    }
  }
  return CsrMatrix(rows, rows, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

/// Whether products of teams of 1 to 16 have the same bits.
void expect_same_bits_with_every_team(const CsrMatrix& a, Index dense_cols) {
  const SpmmProblem problem = default_spmm_problem(a, dense_cols);
  DenseMatrix b(a.cols(), dense_cols, ValueKind::f32);
  fill_random(b.view(), 3);
  const auto product = [&](int threads) {
    PlanOptions options;
    options.where.threads = threads;
    const auto plan = plan_of("chunked_rows", problem, options);
    DenseMatrix c(a.rows(), dense_cols, ValueKind::f32);
    fill_nan(c.view());
    plan->bind(b.view(), c.view());
    plan->multiply();
    return c;
  };
  const DenseMatrix expected = product(1);
  for (const int threads : {2, 3, 7, 16}) {
    const DenseMatrix found = product(threads);
    EXPECT_EQ(std::memcmp(expected.view().data, found.view().data, found.size_bytes()), 0)
        << dense_cols << " columns, " << threads << " threads";
  }
}

TEST(ChunkedRows, GivesTheSameBitsWithEveryTeam) {
  const CsrMatrix short_rows = rows_of_all_lengths(600), hubs = growing_rows(20, 4000);
  for (const Index dense_cols : {1, 2, 3, 4, 7, 8, 13, 16, 40}) {
    expect_same_bits_with_every_team(short_rows, dense_cols);
    expect_same_bits_with_every_team(hubs, dense_cols);
  }
}

TEST(NnzBalanced, GivesTheSameBitsWithEverySettingAndTeam) {
  const CsrMatrix a = rows_of_all_lengths(600);
  for (const Index dense_cols : {1, 2, 3, 16, 33, 48, 64, 100, 128, 300}) {
    const SpmmProblem problem = default_spmm_problem(a, dense_cols);
    DenseMatrix b(600, dense_cols, ValueKind::f32);
    fill_random(b.view(), 3);
    const auto product = [&](const std::string& variant, int threads) {
      PlanOptions options;
      options.variant = variant;
      options.where.threads = threads;
      const auto plan = plan_of("nnz_balanced", problem, options);
      DenseMatrix c(600, dense_cols, ValueKind::f32);
      fill_nan(c.view());
      plan->bind(b.view(), c.view());
      plan->multiply();
      return c;
    };
    const DenseMatrix expected = product("", 1);
    for (const std::string& variant : candidate_settings(problem)) {
      for (const int threads : {1, 3}) {
        const DenseMatrix found = product(variant, threads);
        EXPECT_EQ(std::memcmp(expected.view().data, found.view().data, found.size_bytes()), 0)
            << variant << " K=" << dense_cols << " threads=" << threads;
      }
    }
  }
}

/// Calls body(name) for every instruction set that the machine has, as the one that kernels take.
template <class Body>
void for_each_isa(const Body& body) {
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::portable}) {
    if (!is_supported(isa)) continue;
    setenv("CSRKIT_CPU_ISA", name_of(isa), 1);
    body(name_of(isa));
  }
  unsetenv("CSRKIT_CPU_ISA");
}

/// Past the caches C has the bits that it has through them, wherever its rows begin, and nothing
/// beside it is written.
void check_streams(const SpmmProblem& problem, Offset before, Offset gap) {
  DenseMatrix b(problem.a.cols(), problem.dense_cols, problem.b);
  fill_random(b.view(), 3);
  const Offset leading_dim = problem.dense_cols + gap;
  const Offset elements = before + problem.a.rows() * leading_dim + 40;
  const auto product = [&](const char* stores) {
    PlanOptions options;
    options.variant = std::string("tile=0,prefetch=0,stores=") + stores;
    options.where.threads = 2;
    const auto plan = plan_of("nnz_balanced", problem, options);
    ValueArray around(problem.c, elements);
    std::memset(around.data(), 0xab, static_cast<std::size_t>(elements * size_of(problem.c)));
    DenseView c{static_cast<char*>(around.data()) + before * size_of(problem.c),
                problem.c,
                problem.a.rows(),
                problem.dense_cols,
                leading_dim,
                MemorySpace::host};
    plan->bind(b.view(), c);
    plan->multiply(1.5);
    return around;
  };
  const ValueArray cached = product("cached");
  for (const char* stores : {"aligned", "stream"}) {
    EXPECT_EQ(std::memcmp(cached.data(), product(stores).data(),
                          static_cast<std::size_t>(elements * size_of(problem.c))),
              0)
        << stores << " K=" << problem.dense_cols << " begins " << before << " gap " << gap;
  }
}

TEST(NnzBalanced, StreamsWhereverRowsOfCBegin) {
  for_each_isa([&](const char* isa) {
    SCOPED_TRACE(isa);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16}) {
      const CsrMatrix a = convert_values(rows_of_all_lengths(90), kind);
      for (const Index dense_cols : {4, 5, 16, 41, 80, 100, 104, 128, 602, 1433, 2500, 5000}) {
        for (const ValueKind of_c : {kind, ValueKind::f32}) {
          if (of_c != kind && kind != ValueKind::f16) continue;
          SpmmProblem problem = default_spmm_problem(a, dense_cols);
          problem.c = of_c;
          check_streams(problem, 0, 0);
          check_streams(problem, 5, 0);
          check_streams(problem, 16, 3);
        }
      }
    }
  });
}

/// Runs of 1, 2, ... 9 rows with the same columns and values of their own, of 1 to 45 entries; the
/// last run is long.
CsrMatrix rows_alike(bool has_values) {
  constexpr Index kCols = 200;
  std::vector<Offset> offsets{0};
  std::vector<Index> cols;
  for (Index run = 0; run < 60; ++run) {
    const Index rows = run == 59 ? 40 : run % 9 + 1, length = 1 + run * 7 % 45;
    for (Index i = 0; i < rows; ++i) {
      for (Index n = 0; n < length; ++n) cols.push_back((run * 3 + n * n % 5 + n * 4) % kCols);
      std::sort(cols.end() - length, cols.end());
      cols.erase(std::unique(cols.end() - length, cols.end()), cols.end());
      offsets.push_back(static_cast<Offset>(cols.size()));
    }
  }
  const auto nnz = static_cast<Offset>(cols.size());
  Buffer<Offset> row_offsets(static_cast<Offset>(offsets.size()));
  std::copy(offsets.begin(), offsets.end(), row_offsets.begin());
  Buffer<Index> col_indices(nnz);
  std::copy(cols.begin(), cols.end(), col_indices.begin());
  Buffer<float> values(has_values ? nnz : 0);
  for (Offset at = 0; at < values.size(); ++at) values[at] = 1.0f / static_cast<float>(at % 97 + 3);
  return CsrMatrix(
      static_cast<Index>(offsets.size()) - 1, kCols, std::move(row_offsets), std::move(col_indices),
      has_values ? ValueArray::from(std::move(values)) : ValueArray(ValueKind::none, 0));
}

TEST(NnzBalanced, RowsAlikeGetTheBitsOfSingleRows) {
  for_each_isa([&](const char* isa) {
    for (const ValueKind kind :
         {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
      const CsrMatrix a =
          kind == ValueKind::none ? rows_alike(false) : convert_values(rows_alike(true), kind);
      for (const Index dense_cols :
           {2, 4, 7, 8, 13, 16, 17, 31, 33, 41, 48, 64, 65, 100, 130, 300}) {
        const SpmmProblem problem = default_spmm_problem(a, dense_cols);
        DenseMatrix b(a.cols(), dense_cols, problem.b);
        fill_random(b.view(), 5);
        b.view().set(3, 0, std::numeric_limits<double>::infinity());
        const auto product = [&](const std::string& variant, double alpha, double beta) {
          PlanOptions options;
          options.variant = variant;
          options.where.threads = 2;
          const auto plan = plan_of("nnz_balanced", problem, options);
          DenseMatrix c(a.rows(), dense_cols, problem.c);
          beta == 0 ? fill_nan(c.view()) : fill_random(c.view(), 6);
          plan->bind(b.view(), c.view());
          plan->multiply(alpha, beta);
          return c;
        };
        for (const double beta : {0.0, 0.5}) {
          for (const std::string how :
               {"tile=0,prefetch=0,stores=cached", "tile=0,prefetch=4096,stores=stream",
                "tile=32,prefetch=0,stores=cached,b=packed", "b=packed"}) {
            const DenseMatrix single = product(how, 1.5, beta),
                              joined = product(how + ",rows=joined", 1.5, beta);
            ASSERT_EQ(std::memcmp(single.view().data, joined.view().data, single.size_bytes()), 0)
                << isa << " K=" << dense_cols << " " << how << " beta " << beta;
          }
        }
      }
    }
  });
  PlanOptions options;
  const auto plan = plan_of("nnz_balanced", default_spmm_problem(rows_alike(true), 64), options);
  EXPECT_NE(plan->choice().find("rows=joined"), std::string::npos) << plan->choice();
}

// Chains go on from band to band, hubs are cut as they are without bands, and the rest of a row
// comes last.
TEST(NnzBalanced, BandsOfColumnsGiveTheBitsOfWholeRows) {
  const CsrMatrix all_lengths = rows_of_all_lengths(600);
  for_each_isa([&](const char* isa) {
    for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f64}) {
      const CsrMatrix a = convert_values(all_lengths, kind);
      for (const Index dense_cols : {32, 33, 41, 48, 64, 65, 100, 128, 130, 300}) {
        SpmmProblem problem = default_spmm_problem(a, dense_cols);
        DenseMatrix b(a.cols(), dense_cols, problem.b);
        fill_random(b.view(), 5);
        b.view().set(3, 0, std::numeric_limits<double>::infinity());
        const auto product = [&](const std::string& variant, int threads, double beta) {
          PlanOptions options;
          options.variant = variant;
          options.where.threads = threads;
          const auto plan = plan_of("nnz_balanced", problem, options);
          DenseMatrix c(a.rows(), dense_cols, problem.c);
          beta == 0 ? fill_nan(c.view()) : fill_random(c.view(), 6);
          plan->bind(b.view(), c.view());
          plan->multiply(1, beta);
          return c;
        };
        for (const double beta : {0.0, 1.0, 0.5}) {
          const DenseMatrix whole = product("tile=0,prefetch=0,stores=cached", 1, beta);
          for (const std::string how : {"tile=0,prefetch=0,stores=cached,bands=7",
                                        "tile=0,prefetch=0,stores=stream,bands=2",
                                        "tile=32,prefetch=0,stores=cached,b=packed,bands=90"}) {
            const DenseMatrix banded = product(how, 3, beta);
            ASSERT_EQ(std::memcmp(whole.view().data, banded.view().data, whole.size_bytes()), 0)
                << isa << " K=" << dense_cols << " " << how << " beta " << beta;
          }
        }
      }
    }
  });
}

TEST(NnzBalanced, BandsAreForSumsOfProductsBesideSomeColumns) {
  PlanOptions options;
  options.variant = "tile=0,prefetch=0,stores=cached,bands=4";
  const CsrMatrix a = rows_of_all_lengths(600);
  const auto says_bands = [&](SpmmProblem problem) {
    return plan_of("nnz_balanced", problem, options)->choice().find("bands=4") != std::string::npos;
  };
  EXPECT_TRUE(says_bands(default_spmm_problem(a, 32)));
  EXPECT_FALSE(says_bands(default_spmm_problem(a, 31)));
  SpmmProblem other = default_spmm_problem(a, 64);
  other.semiring = Semiring::min_plus;
  EXPECT_FALSE(says_bands(other));
  EXPECT_FALSE(says_bands(default_spmm_problem(convert_values(a, ValueKind::f16), 64)));
}

TEST(Settings, JoinNoRowsBesideFewColumnsNorShortOnes) {
  const CsrMatrix a = rows_alike(true);  // runs of 40 rows and of fewer, more than 12 entries each
  const AlikeRows alike = find_alike_rows(a, 1);
  EXPECT_FALSE(pays_joining(alike, a, default_spmm_problem(a, 31), false));
  EXPECT_TRUE(pays_joining(alike, a, default_spmm_problem(a, 32), false));
  AlikeRows twos = find_alike_rows(a, 1);
  twos.of_firsts = twos.entries / 2;
  EXPECT_FALSE(pays_joining(twos, a, default_spmm_problem(a, 127), false));
  EXPECT_TRUE(pays_joining(twos, a, default_spmm_problem(a, 128), false));
  EXPECT_FALSE(pays_joining(twos, a, default_spmm_problem(a, 128), true));
  EXPECT_TRUE(pays_joining(alike, a, default_spmm_problem(a, 128), true));
  const CsrMatrix of_short = long_row(9);
  EXPECT_FALSE(may_pay_joining(of_short, default_spmm_problem(of_short, 128)));
}

TEST(Settings, AreMeasuredOnceEach) {
  for (const CsrMatrix& a : {CsrMatrix(), long_row(100), rows_of_all_lengths(600)}) {
    const std::vector<std::string> candidates = candidate_settings(default_spmm_problem(a, 64));
    EXPECT_EQ(std::set<std::string>(candidates.begin(), candidates.end()).size(),
              candidates.size());
  }
}

TEST(Settings, AreReadAndWritten) {
  for (const char* text : {"tile=0,prefetch=0,stores=cached", "tile=128,prefetch=512,stores=stream",
                           "tile=64,prefetch=0,stores=aligned,b=packed",
                           "tile=0,prefetch=0,stores=cached,b=packed,rows=joined",
                           "tile=0,prefetch=0,stores=cached,bands=12"}) {
    EXPECT_EQ(text_of(parse_settings(text)), text);
  }
  EXPECT_EQ(text_of(parse_settings("tile=64")), "tile=64,prefetch=4096,stores=cached");
  for (const char* text : {"", "tile", "tile=1", "tile=-64", "tile=64,tile=64", "stores=twice",
                           "prefetch=4k", "speed=9", "tile=64,", "tile=48", "rows=both",
                           "tile=64,b=tight", "bands=0", "rows=joined,bands=2"}) {
    EXPECT_THROW(parse_settings(text), UsageError) << text;
  }
  PlanOptions options;
  options.variant = "tile=64";
  const SpmmProblem problem = default_spmm_problem(long_row(9), 4);
  EXPECT_THROW(plan_of("row_parallel", problem, options), UsageError) << "it has no variants";
  EXPECT_NE(plan_of("nnz_balanced", problem, options)->choice().find("as asked"),
            std::string::npos);
}

TEST(ReadsOfB, KnowWhereRowsShareColumns) {
  EXPECT_EQ(fresh_rows_of_b(CsrMatrix()), 0);
  EXPECT_NEAR(fresh_rows_of_b(long_row(3000)), 1, 0.1);
  EXPECT_LT(fresh_rows_of_b(rows_of_all_lengths(300)), 0.2);
}

/// Row i names column i and the one after, `rows` times over.
CsrMatrix two_diagonals(Index rows) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(Offset{2} * rows);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{2} * i;
  for (Index i = 0; i < rows; ++i) {
    col_indices[Offset{2} * i] = i;
    col_indices[Offset{2} * i + 1] = i + 1;
  }
  return {rows, rows + 1, std::move(row_offsets), std::move(col_indices),
          ValueArray(ValueKind::none, Offset{2} * rows)};
}

TEST(ReadsOfB, KnowWhereRowsOfBLieBesideEachOther) {
  EXPECT_EQ(rows_of_b_in_runs(CsrMatrix()), 0);
  EXPECT_GT(rows_of_b_in_runs(two_diagonals(50000)), 0.9);
  // Rows of one entry, far from those of the 256 rows before.
  constexpr Index kRows = 50021, kStep = 1117;
  Buffer<Offset> row_offsets(kRows + 1);
  Buffer<Index> col_indices(kRows);
  for (Index i = 0; i <= kRows; ++i) row_offsets[i] = i;
  for (Index i = 0; i < kRows; ++i) {
    col_indices[i] = static_cast<Index>(Offset{i} * kStep % kRows);
  }
  const CsrMatrix a(kRows, kRows, std::move(row_offsets), std::move(col_indices),
                    ValueArray(ValueKind::none, kRows));
  EXPECT_LT(rows_of_b_in_runs(a), 0.1);
}

TEST(ReadsOfB, KnowWhetherRowsAreAsLongAsTheOneBefore) {
  EXPECT_TRUE(foresees_row_ends(CsrMatrix()));
  EXPECT_TRUE(foresees_row_ends(two_diagonals(400)));
  EXPECT_FALSE(foresees_row_ends(rows_of_all_lengths(300)));
}

TEST(ReadsOfB, CountTheRowsOfBThatAThreadReads) {
  EXPECT_EQ(rows_of_b_per_thread(CsrMatrix(), 3), 0);
  const CsrMatrix a = two_diagonals(400);
  EXPECT_EQ(rows_of_b_per_thread(a, 1), 401);
  EXPECT_EQ(rows_of_b_per_thread(a, 4), 101);
}

TEST(Settings, AskForNoRowsOfBAheadThatStayWithAThread) {
  const Index rows = static_cast<Index>(cache_sizes().private_bytes / 64);
  const SpmmProblem problem = default_spmm_problem(two_diagonals(rows), 32);  // B: twice the cache
  PlanOptions options;
  options.where.threads = 1;
  EXPECT_EQ(plan_of("nnz_balanced", problem, options)->choice().find("prefetch=0"),
            std::string::npos);
  options.where.threads = 16;
  EXPECT_NE(plan_of("nnz_balanced", problem, options)->choice().find("prefetch=0"),
            std::string::npos);
}

/// Row i has columns from i on, and one from each of `far` ranges of as many columns as A has rows.
CsrMatrix band_and_far_columns(Index rows, Index near, Index far) {
  const Index length = near + far;
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < length; ++n) {
      col_indices[Offset{i} * length + n] = n < near ? i + n : (n - near + 1) * rows + near + i;
    }
  }
  return {rows, (far + 1) * rows + near, std::move(row_offsets), std::move(col_indices),
          ValueArray(ValueKind::none, Offset{rows} * length)};
}

TEST(Settings, AskForRowsOfBAheadWhereShortRowsShareFewColumns) {
  PlanOptions options;
  options.where.threads = 1;
  const auto asks = [&](Index dense_cols, Index near, Index far) {
    const auto b_bytes = static_cast<Index>(6 * cache_sizes().private_bytes);
    const Index rows = b_bytes / (4 * dense_cols) / (far + 1);
    const SpmmProblem problem =
        default_spmm_problem(band_and_far_columns(rows, near, far), dense_cols);
    const auto plan = plan_of("nnz_balanced", problem, options);
    return plan->choice().find("prefetch=0") == std::string::npos;
  };
  EXPECT_TRUE(asks(32, 4, 1));
  EXPECT_FALSE(asks(32, 8, 0)) << "neighbours have most columns";
  EXPECT_FALSE(asks(32, 8, 3)) << "rows are not short";
  EXPECT_FALSE(asks(16, 4, 1)) << "a row of B is one line";
}

/// Row i has `length` neighbouring columns; where A has as many columns as rows, those from i on.
CsrMatrix band(Index rows, Index cols, Index length) {
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < length; ++n) {
      col_indices[Offset{i} * length + n] = i % (cols - length + 1) + n;
    }
  }
  return {rows, cols, std::move(row_offsets), std::move(col_indices),
          ValueArray(ValueKind::none, Offset{rows} * length)};
}

/// The caches of the machines that the settings were fitted on.
constexpr std::uint64_t kMiB = 1 << 20;
const CacheSizes kXeon = {2 * kMiB, 300 * kMiB, 1};
const CacheSizes kEpyc = {kMiB, 32 * kMiB, 1};

Settings settings_for(const CsrMatrix& a, Index dense_cols, int threads, const CacheSizes& caches) {
  std::string why;
  return default_settings(a, default_spmm_problem(a, dense_cols), threads, caches, true, &why);
}

TEST(Settings, KeepCInTheCachesWhereNothingElseNeedsThem) {
  const auto streams = [&](double c_part, Index dense_cols, Index length, bool has_few_rows_of_b) {
    const auto rows = static_cast<Index>(c_part * 32 * kMiB / (4.0 * dense_cols));
    const CsrMatrix a = band(rows, has_few_rows_of_b ? 64 : rows, length);
    return settings_for(a, dense_cols, 16, kXeon).rows.streams_c;
  };
  EXPECT_FALSE(streams(0.3, 128, 3, false)) << "C takes little of the caches";
  EXPECT_TRUE(streams(1, 128, 3, false)) << "rows of B need the room";
  EXPECT_FALSE(streams(1, 128, 3, true)) << "and few rows do not";
  EXPECT_TRUE(streams(2.2, 128, 3, true)) << "C alone is too large";
  // Where rows are long, C is little of what moves.
  EXPECT_FALSE(streams(1.3, 512, 16, false));
  EXPECT_TRUE(streams(1.7, 512, 16, true));
}

TEST(Settings, KeepCInALastLevelThatIsNear) {
  const auto streams = [&](double c_mib, Index length, bool has_few_rows_of_b, int threads,
                           const CacheSizes& caches) {
    const auto rows = static_cast<Index>(c_mib * kMiB / 128);
    const CsrMatrix a = band(rows, has_few_rows_of_b ? 64 : rows, length);
    return settings_for(a, 32, threads, caches).rows.streams_c;
  };
  EXPECT_FALSE(streams(29, 1, true, 2, kEpyc)) << "C alone fits";
  EXPECT_TRUE(streams(40, 1, true, 2, kEpyc));
  EXPECT_TRUE(streams(29, 1, true, 1, kEpyc)) << "one thread has the way to memory for itself";
  EXPECT_FALSE(streams(15, 1, true, 1, kEpyc));
  EXPECT_FALSE(streams(8, 3, false, 2, kEpyc)) << "a third of its reads find a row of B";
  EXPECT_TRUE(streams(13, 3, false, 2, kEpyc));
  EXPECT_FALSE(streams(40, 1, true, 4, {kMiB, 32 * kMiB, 2})) << "two of them hold more";
  EXPECT_TRUE(streams(40, 1, true, 8, kEpyc)) << "not measured";
}

// C with rows that begin anywhere must be larger than one with rows on cache lines.
TEST(Settings, StreamOddRowsOfALargeC) {
  const auto streams = [&](double c_mib, Index dense_cols, int threads, const CacheSizes& caches) {
    const auto rows = static_cast<Index>(c_mib * kMiB / (4.0 * dense_cols));
    return settings_for(band(rows, rows, 3), dense_cols, threads, caches).rows.streams_c;
  };
  EXPECT_TRUE(streams(90, 128, 16, kXeon));
  EXPECT_FALSE(streams(90, 100, 16, kXeon));
  EXPECT_TRUE(streams(100, 100, 16, kXeon));
  EXPECT_TRUE(streams(100, 41, 16, kXeon));
  EXPECT_TRUE(streams(80, 100, 2, kEpyc));
  EXPECT_FALSE(streams(80, 41, 2, kEpyc)) << "rows are short for two cores";
  EXPECT_FALSE(streams(100, 5'001, 16, kXeon)) << "few rows fit the first cache";
  for_each_isa([&](const char* isa) {
    EXPECT_EQ(streams(30, 104, 2, kEpyc), isa != std::string("avx512"))
        << isa << ": rows begin on vectors of 32 bytes";
    EXPECT_FALSE(streams(30, 100, 2, kEpyc)) << isa;
    const CsrMatrix a = band(30 * kMiB / 224, 30 * kMiB / 224, 3);
    SpmmProblem narrow = default_spmm_problem(a, 112);
    narrow.b = narrow.c = ValueKind::f16;
    std::string why;
    EXPECT_FALSE(default_settings(a, narrow, 2, kEpyc, true, &why).rows.streams_c)
        << isa << ": what is rounded to 16 bits does not go from registers";
  });
}

// What is written says it, so that it can be asked for.
TEST(Settings, SayWhetherOddRowsOfCAreStreamed) {
  const auto written = [&](double c_mib, Index dense_cols) {
    const auto rows = static_cast<Index>(c_mib * kMiB / (4.0 * dense_cols));
    const Settings settings = settings_for(band(rows, rows, 3), dense_cols, 16, kXeon);
    const Settings read = parse_settings(text_of(settings));
    EXPECT_EQ(read.rows.streams_c, settings.rows.streams_c);
    EXPECT_EQ(read.rows.stages_c, settings.rows.stages_c);
    return text_of(settings);
  };
  EXPECT_NE(written(90, 128).find("stores=aligned"), std::string::npos);
  EXPECT_NE(written(100, 128).find("stores=stream"), std::string::npos);
}

/// Rows of `length` columns all over.
CsrMatrix rows_all_over(Index rows, Index length) {
  const Index step = rows / length;
  Buffer<Offset> row_offsets(rows + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  for (Index i = 0; i < rows; ++i) {
    for (Index n = 0; n < length; ++n) {
      col_indices[Offset{i} * length + n] = i * 7 % step + n * step;
    }
  }
  return CsrMatrix(rows, rows, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, Offset{rows} * length));
}

// A slice ends inside a cache line of C where rows do not begin on one.
TEST(Settings, StreamSlicesOnlyOnCacheLines) {
  const CsrMatrix a = rows_all_over(40'000, 20);
  for_each_isa([&](const char* isa) {
    const Settings on_vectors = settings_for(a, 600, 16, kXeon);
    const Settings on_lines = settings_for(a, 608, 16, kXeon);
    EXPECT_GT(on_vectors.tile_cols, 0) << isa;
    EXPECT_GT(on_lines.tile_cols, 0) << isa;
    EXPECT_FALSE(on_vectors.rows.streams_c) << isa;
    EXPECT_TRUE(on_lines.rows.streams_c) << isa;
  });
}

/// Every row has one column of each `length`-th part of them, anywhere in it.
CsrMatrix rows_of_a_few_columns(Index rows, Index cols, Index length) {
  const Index step = cols / length;
  Buffer<Offset> row_offsets(rows + 1);
  Buffer<Index> col_indices(Offset{rows} * length);
  for (Index i = 0; i <= rows; ++i) row_offsets[i] = Offset{i} * length;
  std::uint32_t random = 1;
  for (Offset at = 0; at < col_indices.size(); ++at) {
    random = random * 1664525u + 1013904223u;
    col_indices[at] =
        static_cast<Index>(at % length) * step + static_cast<Index>(random >> 8) % step;
  }
  return CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices),
                   ValueArray(ValueKind::none, Offset{rows} * length));
}

TEST(Settings, SliceBOnlyIfALargeCWithOddRowsIsLittle) {
  // C of 115 MB, B of 19, slices of 64 columns of two.
  const auto tile_cols = [&](Index dense_cols, Index length) {
    const CsrMatrix a = rows_of_a_few_columns(48'000, 8'000, length);
    return settings_for(a, dense_cols, 16, kXeon).tile_cols;
  };
  EXPECT_EQ(tile_cols(608, 12), 64);
  EXPECT_EQ(tile_cols(602, 12), 0) << "slices would tear C";
  EXPECT_EQ(tile_cols(602, 16), 64) << "A and B are most of what moves";
  // C of 8 MB, which one thread keeps in a last level of 300.
  const CsrMatrix small = rows_of_a_few_columns(3'500, 2'000, 12);
  EXPECT_EQ(settings_for(small, 602, 1, kXeon).tile_cols, 64);
  EXPECT_FALSE(settings_for(small, 602, 1, kXeon).rows.streams_c);
}

TEST(Settings, OtherSemiringsKeepCAndSlices) {
  SpmmProblem problem = default_spmm_problem(rows_of_a_few_columns(48'000, 8'000, 12), 602);
  problem.semiring = Semiring::min_plus;
  std::string why;
  const Settings settings = default_settings(problem.a, problem, 16, kXeon, true, &why);
  EXPECT_EQ(settings.tile_cols, 64);
  EXPECT_FALSE(settings.rows.streams_c) << "their loops write C through the caches";
}

// Rows of B that begin inside cache lines, and how often threads read them.
TEST(Settings, CopyBOntoCacheLinesWhereItIsReadOften) {
  const auto copies = [&](Index rows, Index cols, Index length, Index dense_cols, int threads) {
    const Settings settings =
        settings_for(rows_of_a_few_columns(rows, cols, length), dense_cols, threads, kXeon);
    return settings.packs_b && settings.tile_cols == 0;
  };
  EXPECT_TRUE(copies(9'000, 500, 16, 100, 16)) << "18 reads a thread";
  EXPECT_FALSE(copies(9'000, 500, 16, 96, 16)) << "rows begin on lines";
  EXPECT_FALSE(copies(9'000, 1'000, 16, 100, 16)) << "9 reads a thread";
  EXPECT_TRUE(copies(6'000, 500, 16, 100, 16)) << "12 reads a thread";
  EXPECT_FALSE(copies(12'000, 500, 8, 100, 16)) << "but C is a good part of what moves";
  EXPECT_FALSE(copies(3'000, 500, 16, 100, 2)) << "96 reads for a copy and a barrier";
  EXPECT_TRUE(copies(600, 500, 16, 100, 1)) << "19 reads, and no barrier";
  EXPECT_FALSE(copies(400, 500, 16, 100, 1)) << "13 reads";
  EXPECT_FALSE(copies(9'000, 500, 16, 1'433, 16)) << "the core's own cache holds no copy";
}

TEST(Settings, CutAIntoBandsWhereARowReadsMoreThanTheFirstCache) {
  for_each_isa([&](const char* isa) {
    const auto bands = [&](Index rows, Index cols, Index length, Index dense_cols, int threads) {
      const Settings settings =
          settings_for(rows_of_a_few_columns(rows, cols, length), dense_cols, threads, kXeon);
      EXPECT_TRUE(settings.bands == 1 ||
                  (settings.tile_cols == 0 && settings.rows.prefetch_bytes == 0 &&
                   !settings.rows.stages_c));
      return settings.bands;
    };
    // Rows of B of 512 bytes, in blocks of 256 or 192 where registers hold no more; 24 KiB a band.
    const Index found = bands(4'000, 2'000, 500, 128, 16);
    EXPECT_EQ(found, isa == std::string("avx512") ? 41 : isa == std::string("avx2") ? 20 : 15);
    EXPECT_EQ(bands(4'000, 2'000, 500, 128, 100), 1) << isa << ": 10 reads a thread";
    EXPECT_EQ(bands(4'000, 2'000, 60, 128, 4), 1) << isa << ": a row reads 30 KB";
    EXPECT_EQ(bands(9'000, 8'000, 500, 32, 30), 1) << isa << ": 19 reads beside few columns";
    EXPECT_EQ(bands(4'000, 2'000, 500, 31, 16), 1) << isa;
    EXPECT_EQ(bands(10'000, 100'000, 420, 32, 2), 1)
        << isa << ": bands of as few columns as fit half of L2 leave pieces of too few entries";
    SpmmProblem narrow = default_spmm_problem(rows_of_a_few_columns(4'000, 2'000, 500), 128);
    narrow.b = narrow.c = ValueKind::f16;
    std::string why;
    EXPECT_EQ(default_settings(narrow.a, narrow, 16, kXeon, true, &why).bands, 1)
        << isa << ": not measured in 16 bits";
  });
}

TEST(NnzBalanced, BandsTakeNewValues) {
  const CsrMatrix a = rows_of_all_lengths(300);
  PlanOptions options;
  options.variant = "tile=0,prefetch=0,stores=cached,bands=5";
  options.where.threads = 2;
  std::vector<float> values(static_cast<std::size_t>(a.nnz()));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n % 17) - 8;
  const CsrMatrix changed(a.rows(), a.cols(), a.row_offsets(), a.col_indices(), ValueKind::f32,
                          values.data(), nullptr);
  DenseMatrix b(300, 48, ValueKind::f32);
  fill_random(b.view(), 3);
  const auto product = [&](SpmmPlan& plan) {
    DenseMatrix c(300, 48, ValueKind::f32);
    fill_nan(c.view());
    plan.bind(b.view(), c.view());
    plan.multiply();
    return c;
  };
  const auto kept = plan_of("nnz_balanced", default_spmm_problem(a, 48), options);
  product(*kept);
  set_values(*kept, values.data());
  const auto fresh = plan_of("nnz_balanced", default_spmm_problem(changed, 48), options);
  const DenseMatrix found = product(*kept), expected = product(*fresh);
  EXPECT_EQ(std::memcmp(expected.view().data, found.view().data, found.size_bytes()), 0);
}

// Where rows are cut, their sums must have room first.
TEST(NnzBalanced, HasNoBandsWithoutMemoryForACopyOfA) {
  for (const CsrMatrix& a : {rows_of_a_few_columns(2'000, 2'000, 600), rows_all_over(6'000, 400),
                             growing_rows(70, 4'000)}) {
    const SpmmProblem problem = default_spmm_problem(a, 512);
    PlanOptions options;
    options.where.threads = 2;
    const auto banded = plan_of("nnz_balanced", problem, options);
    EXPECT_NE(banded->choice().find("bands="), std::string::npos) << banded->choice();
    const bool is_copied = a.row_length(0) < 2'000;  // longer rows are cut, and lie where they lay
    EXPECT_EQ(banded->stored_bytes() > a.size_bytes() / 2, is_copied);
    options.memory_limit_bytes = banded->phases().peak_bytes - 1;
    const auto whole = plan_of("nnz_balanced", problem, options);
    EXPECT_EQ(whole->choice().find("bands="), std::string::npos) << whole->choice();
    if (!is_copied) continue;
    // All other settings are then those of a product that never had bands.
    options.memory_limit_bytes = banded->phases().peak_bytes - banded->stored_bytes();
    const auto chosen_again = plan_of("nnz_balanced", problem, options);
    std::string why;
    const Settings settings = default_settings(a, problem, 2, cache_sizes(), false, &why);
    EXPECT_NE(chosen_again->choice().find(text_of(settings)), std::string::npos)
        << chosen_again->choice();
  }
}

TEST(Settings, SliceBForALastLevelThatIsFar) {
  // B of 12 MiB, slices of 64 columns of 6 MiB.
  const CsrMatrix a = rows_all_over(24'000, 16);
  EXPECT_EQ(settings_for(a, 128, 2, kXeon).tile_cols, 64);
  EXPECT_EQ(settings_for(a, 128, 2, kEpyc).tile_cols, 0);
}

TEST(Settings, PackSlicesThatAreReadOften) {
  // B of 12 MiB, slices of 64 columns of 0.75 MiB.
  const CsrMatrix a = rows_all_over(3000, 36);
  const SpmmProblem problem = default_spmm_problem(a, 1024);
  if (cache_sizes().private_bytes < (1u << 20) || cache_sizes().private_bytes > (12u << 20)) {
    GTEST_SKIP() << "other caches than the case is made for";
  }
  PlanOptions options;
  options.where.threads = 1;
  const auto packed = plan_of("nnz_balanced", problem, options);
  EXPECT_NE(packed->choice().find("b=packed"), std::string::npos) << packed->choice();
  // Without room for another B it stays where it is.
  options.memory_limit_bytes = packed->phases().peak_bytes - 1;
  const auto strided = plan_of("nnz_balanced", problem, options);
  EXPECT_EQ(strided->choice().find("b=packed"), std::string::npos) << strided->choice();
}

TEST(Auto, SaysWhatItChoseAndWhy) {
  const auto few = plan_of("auto", default_spmm_problem(long_row(9), 4));
  const bool has_vectors = chosen_isa() != Isa::portable;
  EXPECT_EQ(few->chosen_kernel(), has_vectors ? "chunked_rows" : "nnz_balanced") << few->choice();
  const bool has_wide_ones = chosen_isa_for_short_loads() == Isa::avx512;  // of 16 columns
  const auto some = plan_of("auto", default_spmm_problem(long_row(9), 12));
  EXPECT_EQ(some->chosen_kernel(), has_wide_ones ? "chunked_rows" : "nnz_balanced");
  const auto many = plan_of("auto", default_spmm_problem(long_row(9), 40));
  EXPECT_EQ(many->choice().rfind("nnz_balanced (because ", 0), 0u) << many->choice();
}

TEST(Auto, ChoosesTheSameForEveryTeamWithinEveryLimit) {
  SpmmProblem problem = default_spmm_problem(rows_of_all_lengths(600), 8);
  problem.transpose_a = true;
  DenseMatrix b(600, 8, ValueKind::f32);
  fill_random(b.view(), 3);
  const std::uint64_t bytes = problem.a.size_bytes();
  for (int sixteenths = 12; sixteenths < 40; ++sixteenths) {
    std::string kernel;
    DenseMatrix expected;
    for (const int threads : {1, 2, 16, 64}) {
      PlanOptions options;
      options.where.threads = threads;
      options.memory_limit_bytes = bytes * static_cast<std::uint64_t>(sixteenths) / 16;
      std::unique_ptr<SpmmPlan> plan;
      try {
        plan = plan_of("auto", problem, options);
      } catch (const MemoryError&) {
        continue;  // more threads may take more memory: then there are no bits
      }
      DenseMatrix c(600, 8, ValueKind::f32);
      plan->bind(b.view(), c.view());
      plan->multiply();
      if (kernel.empty()) {
        kernel = plan->chosen_kernel();
        expected = std::move(c);
        continue;
      }
      EXPECT_EQ(plan->chosen_kernel(), kernel) << sixteenths << ", " << threads << " threads";
      EXPECT_EQ(std::memcmp(expected.view().data, c.view().data, c.size_bytes()), 0)
          << sixteenths << ", " << threads << " threads";
    }
  }
}

TEST(Plan, RefusesNegativeThreadsAndChunks) {
  const SpmmProblem problem = default_spmm_problem(long_row(9), 4);
  PlanOptions options;
  options.where.threads = -1;
  EXPECT_THROW(plan_of("auto", problem, options), UsageError);
  options.where.threads = 0;
  options.where.chunk = -1;
  EXPECT_THROW(plan_of("row_parallel", problem, options), UsageError);
}

TEST(ScopedSchedule, RestoresWhatWasThere) {
  omp_set_schedule(omp_sched_guided, 5);
  {
    const ScopedSchedule scoped(Team{1, Schedule::dynamic, 3});
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    EXPECT_EQ(kind, omp_sched_dynamic);
    EXPECT_EQ(chunk, 3);
  }
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  EXPECT_EQ(kind, omp_sched_guided);
  EXPECT_EQ(chunk, 5);
}

}  // namespace
}  // namespace csrkit::cpu
