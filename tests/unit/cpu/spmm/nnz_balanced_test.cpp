#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/contract/takes_values.h"
#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "cpu/common/operator_plan.h"
#include "cpu/spmm/choose_settings.h"
#include "tests/unit/cpu/spmm/matrices.h"

namespace csrkit::cpu {
namespace {

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

TEST(NnzBalanced, ForecastsTheSumsOfCutRows) {
  const SpmmProblem problem = default_spmm_problem(long_row(5000), 1 << 20);
  PlanOptions options;
  options.memory_limit_bytes = 1 << 20;
  EXPECT_THROW(plan_of("nnz_balanced", problem, options), MemoryError);
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
    for (const std::string& variant : candidate_variants(problem)) {
      for (const int threads : {1, 3}) {
        const DenseMatrix found = product(variant, threads);
        EXPECT_EQ(std::memcmp(expected.view().data, found.view().data, found.size_bytes()), 0)
            << variant << " K=" << dense_cols << " threads=" << threads;
      }
    }
  }
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
    // But for copies of B, which some machines' caches ask for: there is no memory for them either.
    if (chosen_again->choice().find("no memory for copies of B") != std::string::npos) continue;
    std::string why;
    const Settings settings = default_settings(a, problem, 2, cache_sizes(), false, &why);
    EXPECT_NE(chosen_again->choice().find(text_of(settings)), std::string::npos)
        << chosen_again->choice();
  }
}

}  // namespace
}  // namespace csrkit::cpu
