// Every bin of adaptive_rows on small matrices: the battery once more, with limits divided and with
// whole families of bins left out.

#include "gpu/spgemm/adaptive_rows/adaptive_rows.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gpu/plan/kernels.h"
#include "gpu/spgemm/plan.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

namespace {

/// One kind for all, and an alpha where the semiring has one.
ProductCase case_of(ValueKind kind, Semiring semiring) {
  ProductCase item;
  item.kinds = {kind, kind, kind};
  item.semiring = semiring;
  if (semiring == Semiring::plus_times) item.alpha = -1.25;
  return item;
}

void sort_by_place(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.row, one.col) < std::tie(other.row, other.col);
  });
}

std::unique_ptr<gpu::GpuSpgemmPlan> plan_by(const gpu::BinRules& rules,
                                            const SpgemmProblem& problem,
                                            const PlanOptions& options = {}) {
  return std::make_unique<gpu::GpuSpgemmPlan>("adaptive_rows", kSpgemmEverything, problem, options,
                                              gpu::make_adaptive_rows(problem, rules));
}

/// C of that plan is right, and has the same bits a second time; the plan kept to its forecast.
CsrMatrix check_product(SpgemmPlan& plan, const SpgemmProblem& problem, const ProductCase& item) {
  CsrMatrix c = product_of(plan, problem);
  const CheckResult result = check_spgemm(problem, c, item.check);
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_TRUE(identical(c, product_of(plan, problem)));
  EXPECT_LE(plan.phases().peak_bytes, plan.forecast().peak_bytes);
  return c;
}

/// C by these rules is right and has the bits of `first`, which becomes C if it is unset; so has C
/// of new values that are made row by row. Returns how C's rows were made.
std::string check_bits(gpu::BinRules rules, const SpgemmProblem& problem, const ProductCase& item,
                       std::optional<CsrMatrix>& first) {
  rules.most_listed = rules.most_listed_of_few = 0;
  const auto plan = plan_by(rules, problem);
  plan->expect_new_values();
  const CsrMatrix c = check_product(*plan, problem, item);
  if (!first) first = c;
  EXPECT_TRUE(identical(*first, c));
  std::string choice = plan->choice();
  plan->set_values(problem.a, problem.b);
  EXPECT_TRUE(identical(c, product_of(*plan, problem)));
  return choice;
}

/// C is right in two passes, and `says` is part of how its rows are made.
void check_choice(const ProductOperands& operands, const char* says) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    const ProductCase item = case_of(kind, Semiring::plus_times);
    const SpgemmProblem problem = problem_of(operands, item);
    gpu::BinRules rules;
    rules.prefers_one_pass = false;
    const auto plan = plan_by(rules, problem);
    check_product(*plan, problem, item);
    EXPECT_NE(plan->choice().find(says), std::string::npos) << plan->choice();
  }
}

/// C has the same bits where its rows come in blocks, as memory is short by that share of C.
void check_row_blocks(const SpgemmProblem& problem, const gpu::BinRules& rules,
                      std::uint64_t share_of_c) {
  const auto whole = plan_by(rules, problem);
  const SpgemmForecast forecast = whole->forecast();
  PlanOptions options;
  options.memory_limit_bytes = forecast.whole_bytes - forecast.output_bytes_bound / share_of_c;
  const auto in_blocks = plan_by(rules, problem, options);
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  in_blocks->multiply(sink);
  EXPECT_GT(in_blocks->phases().row_blocks, 1);
  EXPECT_LE(in_blocks->phases().peak_bytes, in_blocks->forecast().peak_bytes);
  EXPECT_TRUE(identical(product_of(*whole, problem), sink.finish()));
}

struct Variant {
  const char* name;
  std::uint32_t shrink;
  bool prefers_merging, prefers_bit_ranges;
  std::uint32_t most_sorted;
  bool in_teams = true, is_early = true, with_hubs = false, in_threads = false;
};

// Without merging, short rows are sorted; without sorting, hashed; without bit ranges, all others
// are hashed. Shrunk, what one warp does is done by teams and blocks, and what fits a block is cut
// into parts. A hub is every row with more than three sources.
constexpr Variant kVariants[] = {
    {"all_limits", 1, true, true, 4096},
    {"no_merging", 1, false, true, 4096},
    {"no_sorting", 1, true, true, 0},
    {"no_merging_or_sorting", 1, false, true, 0},
    {"only_hashing", 1, false, false, 0},
    {"shrunk_4", 4, false, true, 0},
    {"hashing_shrunk_4", 4, false, false, 0},
    {"shrunk_32", 32, true, true, 4096},
    {"hashing_shrunk_32", 32, false, false, 0},
    {"parts_of_a_word", 8192, false, false, 0},
    {"no_teams", 32, true, true, 4096, false},
    {"nothing_early", 1, true, true, 4096, true, false},
    {"hubs", 1, true, true, 4096, true, true, true},
    {"tiny_in_threads", 1, false, true, 4096, true, false, false, true},
};

template <int kVariant>
std::unique_ptr<SpgemmPlan> make(const SpgemmProblem& problem, const PlanOptions& options) {
  gpu::BinRules rules;
  rules.shrink = kVariants[kVariant].shrink;
  rules.prefers_merging = kVariants[kVariant].prefers_merging;
  rules.fewest_merged_rows = 0;
  rules.prefers_bit_ranges = kVariants[kVariant].prefers_bit_ranges;
  rules.most_sorted_to_count = rules.most_sorted_to_make = kVariants[kVariant].most_sorted;
  if (!kVariants[kVariant].in_teams) rules.fewest_for_warps = 0;
  if (!kVariants[kVariant].is_early) rules.most_early = 0;
  if (kVariants[kVariant].in_threads) rules.fewest_tiny = 0;
  if (kVariants[kVariant].with_hubs) {
    rules.prefers_one_pass = false;
    rules.hub_sources = 3;
    rules.most_per_hub_source = INT32_MAX;
    rules.fewest_spread = 8;
  }
  return plan_by(rules, problem, options);
}

constexpr decltype(SpgemmKernel::make) kMakers[] = {make<0>,  make<1>,  make<2>,  make<3>, make<4>,
                                                    make<5>,  make<6>,  make<7>,  make<8>, make<9>,
                                                    make<10>, make<11>, make<12>, make<13>};
static_assert(std::size(kMakers) == std::size(kVariants));

std::string variant_name(const ::testing::TestParamInfo<int>& item) {
  return kVariants[item.param].name;
}

class SpgemmRowBins : public WithGpu<::testing::TestWithParam<int>> {
 protected:
  SpgemmKernel kernel() const {
    SpgemmKernel kernel = find_kernel(gpu::spgemm_kernels(), "adaptive_rows");
    kernel.make = kMakers[GetParam()];
    return kernel;
  }
};

}  // namespace

TEST_P(SpgemmRowBins, AreRightInEveryBin) {
  on_test_threads(spgemm_battery().size(),
                  [&](std::size_t i) { check_kernel_on(kernel(), spgemm_battery()[i]); });
}

namespace {

std::unique_ptr<SpgemmPlan> make_in_passes(const SpgemmProblem& problem, bool prefers_one_pass) {
  gpu::BinRules rules;
  rules.prefers_one_pass = prefers_one_pass;
  return plan_by(rules, problem);
}

/// One pass and two give the same bits; says whether one pass was enough.
bool check_one_pass(const ProductOperands& operands, const ProductCase& item) {
  const SpgemmProblem problem = problem_of(operands, item);
  const auto one = make_in_passes(problem, true), two = make_in_passes(problem, false);
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(identical(product_of(*one, problem), product_of(*two, problem))) << describe(item);
  }
  EXPECT_GE(one->time_multiply(), 0);
  EXPECT_LE(one->phases().peak_bytes, one->forecast().peak_bytes);
  return one->choice().find("one pass") != std::string::npos;
}

/// `rows` rows of A, each of which meets one row of B with `length` entries; B's others are empty.
ProductOperands of_one_row(Index rows, Index length) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) a.push_back({i, 0, random_value(21, i, 0)});
  for (Index j = 0; j < length; ++j) b.push_back({0, 3 * j, random_value(22, 0, j)});
  return {matrix_of(rows, 100, a), matrix_of(100, 3 * length, b)};
}

using SpgemmSmallProduct = GpuTest;
using SanitizerSpgemmSmallProduct = GpuTest;

}  // namespace

TEST_F(SpgemmSmallProduct, HasTheSameBitsAsInTwoPasses) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      on_test_threads(spgemm_battery().size(), [&](std::size_t i) {
        SCOPED_TRACE(spgemm_battery()[i].name);
        check_one_pass(spgemm_battery()[i].make(), item);
      });
    }
  }
}

// As many products in a row as there may be, and one more; as much room as there is, and one row
// more; as many rows, and one more.
TEST_F(SpgemmSmallProduct, EndsWhereRowsOrRoomEnd) {
  EXPECT_TRUE(check_one_pass(of_one_row(1, 16), {}));
  EXPECT_FALSE(check_one_pass(of_one_row(100, 17), {}));
  EXPECT_TRUE(check_one_pass(of_one_row(100, 16), {}));
  EXPECT_TRUE(check_one_pass(of_one_row(gpu::kMostRowsOfSmall, 2), {}));
  EXPECT_FALSE(check_one_pass(of_one_row(gpu::kMostRowsOfSmall + 1, 2), {}));
  for (const Index length : {31, 32, 33, 63, 64, 65, 128, 129, 255, 256, 257}) {
    SCOPED_TRACE(length);
    // Every row has `length` products: one of its sources has all, the other 40 none.
    std::vector<Entry> a, b;
    for (Index i = 0; i < 70; ++i) {
      for (Index k = 0; k < 41; ++k) a.push_back({i, 2 * k, random_value(23, i, k)});
    }
    for (Index j = 0; j < length; ++j) b.push_back({40, j, random_value(24, 40, j)});
    EXPECT_EQ(check_one_pass({matrix_of(70, 100, a), matrix_of(100, 300, b)}, {}), length <= 256);
  }
}

TEST_F(SanitizerSpgemmSmallProduct, RowsOfEveryShape) {
  check_one_pass(of_one_row(100, 17), {});
  on_test_threads(spgemm_battery().size(), [](std::size_t i) {
    for (const char* name : {"tridiagonal", "around_vector_and_table_sizes", "all_dense",
                             "only_empty_rows_are_met", "scattered_columns"}) {
      if (std::string(name) != spgemm_battery()[i].name) continue;
      SCOPED_TRACE(name);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        ProductCase item;
        item.kinds = {kind, kind, kind};
        check_one_pass(spgemm_battery()[i].make(), item);
      }
    }
  });
}

namespace {

/// 2,000 rows of every length up to 700 products, empty ones and ones with more between them; the
/// first 64 are those of a mesh, of 20 products each.
ProductOperands of_many_lengths() {
  constexpr Index kInner = 180;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 64; ++i) {
    for (Index k = 0; k < 4; ++k) a.push_back({i, i + k, random_value(41, i, k)});
  }
  for (Index i = 64; i < 2000; ++i) {
    const auto sources = static_cast<Index>(random_word(42, i, 0) % 17);
    const auto first = static_cast<Index>(random_word(43, i, 0) % 100);
    for (Index k = 0; k < sources; ++k) a.push_back({i, first + 5 * k, random_value(44, i, k)});
  }
  for (Index i = 0; i < kInner; ++i) {
    const auto some = static_cast<Index>(random_word(45, i, 0) % 45);
    const Index length = i < 70 ? 5 : i % 11 == 0 ? 300 : some;
    for (Index k = 0; k < length; ++k) {
      b.push_back({i, (i * 13) % 800 + 3 * k, random_value(46, i, k)});
    }
  }
  return {matrix_of(2000, kInner, a), matrix_of(kInner, 2000, b)};
}

/// The short rows of all lists in one launch are right, and have the same bits whether those of a
/// mesh come from lists of their own or not, and whether the host knows how many they are or not.
void check_short_rows() {
  const ProductOperands operands = of_many_lengths();
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      const SpgemmProblem problem = problem_of(operands, item);
      std::optional<CsrMatrix> first;
      for (const int way : {0, 1, 2}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.prefers_merging = way == 0;
        rules.fewest_merged_rows = 0;
        if (way == 2) rules.most_early = 0;
        const CsrMatrix c = check_product(*plan_by(rules, problem), problem, item);
        if (!first) first = c;
        EXPECT_TRUE(identical(*first, c)) << describe(item);
      }
    }
  }
}

using SpgemmShortRows = GpuTest;
using SanitizerSpgemmShortRows = GpuTest;

}  // namespace

TEST_F(SpgemmShortRows, OfEveryLengthInOneLaunch) { check_short_rows(); }
TEST_F(SanitizerSpgemmShortRows, OfEveryLengthInOneLaunch) { check_short_rows(); }

namespace {

constexpr Index kRowsOfAGrid = 640;

/// Rows of three grids, of four sources and 20 products, of five and 25, of six and 36; then rows
/// that are like no other.
ProductOperands of_grids() {
  constexpr Index kApart = 700, kReach[] = {0, 1, 2, 30, 31, 32};
  std::vector<Entry> a, b;
  for (Index grid = 0; grid < 3; ++grid) {
    for (Index i = 0; i < kRowsOfAGrid; ++i) {
      const Index row = grid * kRowsOfAGrid + i;
      for (Index k = 0; k < 4 + grid; ++k) {
        a.push_back({row, grid * kApart + i + kReach[k], random_value(91, row, k)});
      }
    }
    for (Index i = 0; i < kApart; ++i) {
      const Index row = grid * kApart + i;
      for (Index k = 0; k < (grid < 2 ? 5 : 6); ++k) {
        b.push_back({row, row + kReach[k], random_value(92, row, k)});
      }
    }
  }
  for (Index row = 3 * kRowsOfAGrid; row < 2000; ++row) {
    for (Index k = 0; k < row % 9; ++k) a.push_back({row, 200 * k, random_value(91, row, k)});
  }
  return {matrix_of(2000, 3 * kApart, a), matrix_of(3 * kApart, 3 * kApart + 40, b)};
}

/// Merged rows are right and have the bits of sorted ones. The first row of each grid but the first
/// is sorted, as it is not like the one before it; so are rows of 36 products in f64, when they are
/// made.
void check_merged_rows() {
  const ProductOperands operands = of_grids();
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      const SpgemmProblem problem = problem_of(operands, item);
      gpu::BinRules rules;
      rules.prefers_one_pass = false;
      rules.fewest_merged_rows = 0;
      std::optional<CsrMatrix> first;
      check_bits(rules, problem, item, first);
      const auto plan = plan_by(rules, problem);
      product_of(*plan, problem);
      const Index merged = kind == ValueKind::f32 ? 3 * kRowsOfAGrid - 2 : 2 * kRowsOfAGrid - 1;
      EXPECT_NE(plan->choice().find(std::to_string(merged) + " merged"), std::string::npos)
          << plan->choice();
      rules.prefers_merging = false;
      check_bits(rules, problem, item, first);
    }
  }
}

using SpgemmMergedRows = GpuTest;
using SanitizerSpgemmMergedRows = GpuTest;

}  // namespace

TEST_F(SpgemmMergedRows, HaveTheBitsOfSortedOnes) { check_merged_rows(); }
TEST_F(SanitizerSpgemmMergedRows, HaveTheBitsOfSortedOnes) { check_merged_rows(); }

namespace {

/// Rows of up to 24 products, most of at most 8; some sources are empty rows of B, and many columns
/// come twice. Columns are `apart`.
ProductOperands of_few_products(Index rows, Index apart) {
  constexpr Index kInner = 300;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    const auto sources = static_cast<Index>(random_word(81, i, 0) % (i % 3 == 0 ? 12 : 5));
    const auto first = static_cast<Index>(random_word(82, i, 0) % 200);
    for (Index k = 0; k < sources; ++k) a.push_back({i, first + 7 * k, random_value(83, i, k)});
  }
  for (Index i = 0; i < kInner; ++i) {
    const auto length = static_cast<Index>(random_word(84, i, 0) % 4);
    for (Index k = 0; k < length; ++k) {
      b.push_back({i, apart * (i % 5 + 2 * k), random_value(85, i, k)});
    }
  }
  return {matrix_of(rows, kInner, a), matrix_of(kInner, apart * 10 + 1, b)};
}

/// Rows of at most 16 products are right where threads sort them, also for new values, and have the
/// bits that they have from four lanes. Columns 900,000 apart do not fit keys from column 0 on.
void check_tiny_rows(Index rows, const std::vector<Semiring>& semirings) {
  for (const Index apart : {Index{1}, Index{900'000}}) {
    const ProductOperands operands = of_few_products(rows, apart);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const Semiring semiring : semirings) {
        const ProductCase item = case_of(kind, semiring);
        const SpgemmProblem problem = problem_of(operands, item);
        std::optional<CsrMatrix> first;
        for (const bool in_threads : {false, true}) {
          gpu::BinRules rules;
          rules.prefers_one_pass = false;
          rules.most_early = 0;
          rules.most_listed = rules.most_listed_of_few = 0;
          if (in_threads) rules.fewest_tiny = 0;
          const auto plan = plan_by(rules, problem);
          const CsrMatrix c = check_product(*plan, problem, item);
          if (!first) first = c;
          EXPECT_TRUE(identical(*first, c)) << describe(item);
          plan->expect_new_values();
          EXPECT_TRUE(identical(*first, product_of(*plan, problem))) << describe(item);
          plan->set_values(problem.a, problem.b);
          EXPECT_TRUE(identical(*first, product_of(*plan, problem))) << describe(item);
        }
      }
    }
  }
}

/// Points of a cube of `side` points a side in random order, each with the points around it: 27 or,
/// if it has several `unknowns`, 7. A point's rows have the same columns: they are twins.
ProductOperands of_shuffled_cube(Index side, Index unknowns) {
  const Index points = side * side * side;
  std::vector<Index> at(static_cast<std::size_t>(points));
  for (Index i = 0; i < points; ++i) at[static_cast<std::size_t>(i)] = i;
  std::shuffle(at.begin(), at.end(), std::mt19937(7));
  const auto place = [&](Index x, Index y, Index z) {
    return at[static_cast<std::size_t>((x * side + y) * side + z)];
  };
  const auto near = [side](Index x) {
    return std::pair(std::max(x - 1, 0), std::min(x + 2, side));
  };
  std::vector<Entry> entries;
  for (Index point = 0; point < points; ++point) {
    const Index x = point / (side * side), y = point / side % side, z = point % side;
    for (Index u = near(x).first; u < near(x).second; ++u) {
      for (Index v = near(y).first; v < near(y).second; ++v) {
        for (Index w = near(z).first; w < near(z).second; ++w) {
          if (unknowns > 1 && std::abs(u - x) + std::abs(v - y) + std::abs(w - z) > 1) continue;
          for (Index i = 0; i < unknowns; ++i) {
            for (Index j = 0; j < unknowns; ++j) {
              const Index row = place(x, y, z) * unknowns + i, col = place(u, v, w) * unknowns + j;
              entries.push_back({row, col, random_value(91, row, col)});
            }
          }
        }
      }
    }
  }
  sort_by_place(entries);
  const CsrMatrix a = matrix_of(points * unknowns, points * unknowns, entries);
  return {a, a};
}

/// Rows made while they are counted have the bits of rows made later, with room for all of them,
/// for some and for none; also where there are twins.
void check_staged_rows(Index side, Index unknowns) {
  const ProductOperands operands = of_shuffled_cube(side, unknowns);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      const SpgemmProblem problem = problem_of(operands, item);
      std::optional<CsrMatrix> first;
      Offset staged_before = 0;
      for (const Offset bytes : {Offset{0}, Offset{1} << 12, Offset{1} << 20, Offset{1} << 30}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.prefers_bit_ranges = false;
        rules.most_early = 0;
        rules.most_staged_bytes = bytes;
        const auto plan = plan_by(rules, problem);
        const CsrMatrix c = check_product(*plan, problem, item);
        if (!first) first = c;
        EXPECT_TRUE(identical(*first, c)) << describe(item);
        std::smatch found;
        const std::string choice = plan->choice();
        const bool stages =
            std::regex_search(choice, found, std::regex("\\((\\d+) while they were counted"));
        const Offset staged = stages ? std::stoll(found.str(1)) : 0;
        EXPECT_EQ(stages, bytes > 1 << 12) << choice;
        // which of several twins is counted differs from run to run
        if (unknowns == 1) {
          EXPECT_GE(staged, staged_before) << choice;
        }
        staged_before = staged;
      }
      EXPECT_GT(staged_before, side * side * side / 2);
    }
  }
}

using SpgemmStagedRows = GpuTest;
using SanitizerSpgemmStagedRows = GpuTest;
using SpgemmTinyRows = GpuTest;
using SanitizerSpgemmTinyRows = GpuTest;

}  // namespace

TEST_F(SpgemmStagedRows, HaveTheBitsOfRowsMadeLater) { check_staged_rows(24, 1); }
TEST_F(SpgemmStagedRows, OfTwins) { check_staged_rows(14, 2); }
TEST_F(SanitizerSpgemmStagedRows, HaveTheBitsOfRowsMadeLater) { check_staged_rows(8, 1); }
TEST_F(SanitizerSpgemmStagedRows, OfTwins) { check_staged_rows(6, 2); }

TEST_F(SpgemmTinyRows, HaveTheBitsOfFourLanes) {
  check_tiny_rows(
      5'000, {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and});
}
/// So many that a thread chooses the bins of four rows.
TEST_F(SpgemmTinyRows, OfManyRows) {
  constexpr Index kRows = 600'011;
  const ProductOperands few = of_few_products(700, 1);
  std::vector<Entry> a;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < i % 4; ++k)
      a.push_back({i, (i % 300 * 7 + 11 * k) % 300, random_value(86, i, k)});
  }
  const ProductOperands operands = {matrix_of(kRows, 300, a), few.b};
  const ProductCase item = case_of(ValueKind::f64, Semiring::plus_times);
  const SpgemmProblem problem = problem_of(operands, item);
  check_product(*plan_by({}, problem), problem, item);
}
TEST_F(SanitizerSpgemmTinyRows, HaveTheBitsOfFourLanes) {
  check_tiny_rows(700, {Semiring::plus_times});
}

namespace {

/// Rows of 600 and more products on `cols` columns, by rows of B of `length` entries, five of which
/// have 60 times as many; every fifth row meets all 2,500 rows of B.
ProductOperands of_long_rows(Index length, Index cols) {
  constexpr Index kInner = 2500;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 60; ++i) {
    const Index sources = i % 5 == 0 ? kInner : 600 / length + 1 + i * 3;
    const Index first = i % 5 == 0 ? 0 : i % 50;
    for (Index k = 0; k < sources && first + k < kInner; ++k) {
      a.push_back({i, first + k, random_value(51, i, k)});
    }
  }
  for (Index i = 0; i < kInner; ++i) {
    const Index entries = i % 500 == 3 ? std::min(cols, length * 60) : length;
    const Index step = cols / entries, shift = i * 37 % step;
    for (Index k = 0; k < entries; ++k) b.push_back({i, k * step + shift, random_value(52, i, k)});
  }
  return {matrix_of(60, kInner, a), matrix_of(kInner, cols, b)};
}

/// Long rows are right however many warps make one: in bit ranges, by short and by long rows of B,
/// and in parts of very wide rows, whose thousands of sources are looked up.
void check_long_rows(const std::vector<Index>& lengths) {
  for (const Index cols : {2'000, 8'000, 400'000}) {
    for (const Index length : lengths) {
      const ProductOperands operands = of_long_rows(length, cols);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        for (const Semiring semiring : {Semiring::plus_times, Semiring::max_times}) {
          const ProductCase item = case_of(kind, semiring);
          SCOPED_TRACE(describe(item) + ", " + std::to_string(cols) + " columns, rows of " +
                       std::to_string(length));
          const SpgemmProblem problem = problem_of(operands, item);
          for (const std::uint32_t fewest : {0u, UINT32_MAX}) {
            gpu::BinRules rules;
            rules.prefers_one_pass = false;
            rules.fewest_for_warps = fewest;
            check_product(*plan_by(rules, problem), problem, item);
          }
        }
      }
    }
  }
}

using SpgemmLongRows = GpuTest;
using SanitizerSpgemmLongRows = GpuTest;

}  // namespace

TEST_F(SpgemmLongRows, InTeamsAndInParts) { check_long_rows({7, 20, 70}); }
TEST_F(SanitizerSpgemmLongRows, InTeamsAndInParts) { check_long_rows({7}); }

/// Two columns that all sources of some rows meet, so that in each step of a block every warp has
/// products for them; the rows are made by blocks of both sizes.
TEST_F(SpgemmLongRows, WhereEverySourceMeetsTheSameColumns) {
  constexpr Index kInner = 2000, kCols = 30'000;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 4; ++i) {
    for (Index k = 0; k < 1500; ++k) a.push_back({i, k + 100 * i, random_value(53, i, k)});
  }
  for (Index k = 0; k < kInner; ++k) {
    for (Index col : {5, 20'000}) b.push_back({k, col, random_value(54, k, col)});
    for (Index n = 0; n < 8; ++n) {
      const Index col = 6 + 2'400 * n + (k * 37 + n * 11) % 2'300;
      b.push_back({k, col, random_value(54, k, col)});
    }
  }
  sort_by_place(b);
  const ProductOperands operands = {matrix_of(4, kInner, a), matrix_of(kInner, kCols, b)};
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      ProductCase item = case_of(kind, semiring);
      item.alpha = 1;
      const SpgemmProblem problem = problem_of(operands, item);
      for (const std::uint32_t most_sorted : {4096u, 0u}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.most_sorted_to_count = rules.most_sorted_to_make = most_sorted;
        check_product(*plan_by(rules, problem), problem, item);
      }
    }
  }
}

/// All of A has too many long rows for teams, its ranges of rows have not: they must not have teams
/// either, as the warps of a team add up in another order.
TEST_F(SpgemmLongRows, HaveTheSameBitsInBlocksOfRows) {
  const ProductOperands operands = of_long_rows(7, 8'000);
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  rules.fewest_for_warps = 40;
  check_row_blocks(problem_of(operands, {}), rules, 4);
}

/// Rows that half of the product would wait for, but not the whole: large teams add up in another
/// order, so neither makes them.
TEST_F(SpgemmLongRows, HaveTheSameTeamsInBlocksOfRows) {
  constexpr Index kRows = 120, kSources = 180, kLength = 25, kStep = 320;
  constexpr std::uint32_t kProducts = kSources * kLength;
  std::vector<Entry> a, b;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < kSources; ++k) a.push_back({i, i + k, random_value(89, i, k)});
  }
  for (Index i = 0; i < kRows + kSources; ++i) {
    for (Index k = 0; k < kLength; ++k) {
      const auto shift = static_cast<Index>(random_word(90, i, k) % kStep);
      b.push_back({i, k * kStep + shift, random_value(91, i, k)});
    }
  }
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  const gpu::BitRangeRows all = {kRows, kProducts, Offset{kRows} * kProducts};
  EXPECT_GT(rules.large_team_products(all), kProducts);
  EXPECT_LT(rules.large_team_products({kRows / 2, kProducts, all.products / 2}), kProducts);
  const ProductOperands operands = {matrix_of(kRows, kRows + kSources, a),
                                    matrix_of(kRows + kSources, kLength * kStep, b)};
  const ProductCase item = case_of(ValueKind::f64, Semiring::plus_times);
  check_row_blocks(problem_of(operands, item), rules, 4);
}

namespace {

/// A mesh of 90 nodes in a ring with 1 to 7 unknowns each, and six neighbours to either side: the
/// rows of a node have the same columns, but for every tenth node, which lacks an entry in one of
/// them. They stand side by side or `step` apart. B has `length` entries in a row, 3 `spread`
/// columns apart, but none in every 50th. If `alike` is not 0, only so many rows of B differ in
/// their columns.
ProductOperands of_twins(Index length, Index spread, Index alike, Index step) {
  constexpr Index kNodes = 90, kReach = 6;
  std::vector<Index> first(1, 0);
  for (Index node = 0; node < kNodes; ++node) first.push_back(first.back() + 1 + node * 5 % 7);
  const Index unknowns = first.back();
  std::vector<Entry> a, b;
  for (Index node = 0; node < kNodes; ++node) {
    for (Index of_node = first[node]; of_node < first[node + 1]; ++of_node) {
      const Index row = of_node * step % unknowns;
      for (Index other = node - kReach; other <= node + kReach; ++other) {
        const Index at = (other + kNodes) % kNodes;
        for (Index col = first[at]; col < first[at + 1]; ++col) {
          const bool is_missing = node % 10 == 3 && of_node == first[node] + 1 && col == first[at];
          if (!is_missing) a.push_back({row, col, random_value(61, row, col)});
        }
      }
    }
  }
  for (Index i = 0; i < unknowns; ++i) {
    for (Index k = 0; k < length && i % 50 != 0; ++k) {
      b.push_back({i, (alike > 0 ? i % alike : i) + k * 3 * spread, random_value(62, i, k)});
    }
  }
  return {matrix_of(unknowns, unknowns, a), matrix_of(unknowns, unknowns + length * 3 * spread, b)};
}

gpu::BinRules rules_for_twins(bool prefers_twins) {
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  rules.fewest_for_warps = 0;
  rules.most_listed = rules.most_listed_of_few = 0;
  rules.prefers_twins = rules.keeps_any_bits = prefers_twins;
  rules.fewest_counted_by_warps = 0;
  return rules;
}

/// As of_twins has it, and which rows of C are made together.
struct TwinShape {
  Index length, spread, alike;
  const char* twins;  // as in the choice; empty: none
};

/// Rows made together have the bits of rows made alone, whose columns are found a second time: as a
/// whole, with new values, and where B's rows are too short for it.
void check_twins(const std::vector<TwinShape>& shapes) {
  for (const auto& [length, spread, alike, twins] : shapes) {
    for (const Index step : {1, 7}) {
      const ProductOperands operands = of_twins(length, spread, alike, step);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
          const ProductCase item = case_of(kind, semiring);
          SCOPED_TRACE(describe(item) + ", rows of " + std::to_string(length) + " x " +
                       std::to_string(spread) + ", " + std::to_string(step) + " apart");
          const SpgemmProblem problem = problem_of(operands, item);
          std::optional<CsrMatrix> alone;
          for (const bool prefers_twins : {false, true}) {
            const auto plan = plan_by(rules_for_twins(prefers_twins), problem);
            plan->expect_new_values();
            const CsrMatrix c = product_of(*plan, problem);
            if (!alone) alone = c;
            EXPECT_TRUE(identical(*alone, c));
            std::smatch found;
            const std::string choice = plan->choice();
            const bool has_twins = std::regex_search(
                choice, found, std::regex("(sorted|ranges) \\(\\d+ of them twins"));
            EXPECT_EQ(has_twins ? found.str(1) : "", prefers_twins ? twins : "") << choice;
            plan->set_values(problem.a, problem.b);
            EXPECT_TRUE(identical(*alone, check_product(*plan, problem, item)));
          }
        }
      }
    }
  }
}

using SpgemmTwins = GpuTest;
using SanitizerSpgemmTwins = GpuTest;

}  // namespace

TEST_F(SpgemmTwins, HaveTheBitsOfRowsMadeAlone) {
  check_twins({{4, 1, 0, "sorted"},
               {8, 1500, 0, "sorted"},
               {15, 3000, 0, "sorted"},
               {31, 3000, 0, "sorted"},
               {60, 3000, 0, "sorted"},
               {31, 700, 0, "ranges"},  // counted there, and then sorted
               {11, 1, 0, ""},
               {15, 1, 0, "ranges"},
               {21, 1, 0, "ranges"},
               {70, 1, 0, "ranges"},
               {70, 300, 3, "ranges"}});
}
TEST_F(SanitizerSpgemmTwins, HaveTheBitsOfRowsMadeAlone) {
  check_twins({{4, 1, 0, "sorted"},
               {15, 3000, 0, "sorted"},
               {31, 700, 0, "ranges"},
               {21, 1, 0, "ranges"},
               {70, 300, 3, "ranges"}});
}

TEST_F(SpgemmTwins, HaveTheSameBitsInBlocksOfRows) {
  for (const auto& [length, spread, alike] : {std::array{30, 1, 0}, {8, 1500, 0}, {70, 300, 3}}) {
    const ProductOperands operands = of_twins(length, spread, alike, 7);
    check_row_blocks(problem_of(operands, {}), rules_for_twins(true), 2);
  }
}

namespace {

/// Triangles in a band, three unknowns each, joined to three others: 12 entries a row. Its row i
/// stands at i * step.
CsrMatrix of_triangles(Index triangles, Index step) {
  const Index rows = 3 * triangles;
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    for (const Index other : {0, 1, 9, triangles - 1}) {
      for (Index k = 0; k < 3; ++k) {
        const Index col = (i / 3 + other) % triangles * 3 + k;
        entries.push_back({i * step % rows, col, random_value(87, i, col)});
      }
    }
  }
  return matrix_of(rows, rows, entries);
}

/// Twins of short rows are found side by side, and only there; C's bits are the same.
void check_short_twins(Index triangles) {
  const CsrMatrix b = of_triangles(triangles, 1);
  for (const Index step : {1, 11}) {
    const ProductOperands operands = {of_triangles(triangles, step), b};
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      const ProductCase item = case_of(kind, Semiring::plus_times);
      const SpgemmProblem problem = problem_of(operands, item);
      const CsrMatrix alone = product_of(*plan_by(rules_for_twins(false), problem), problem);
      const auto plan = plan_by(rules_for_twins(true), problem);
      EXPECT_TRUE(identical(alone, check_product(*plan, problem, item)));
      EXPECT_EQ(plan->choice().find("of them twins") != std::string::npos, step == 1)
          << plan->choice();
      check_row_blocks(problem, rules_for_twins(true), 2);
    }
  }
}

}  // namespace

TEST_F(SpgemmTwins, OfShortRowsAreFoundSideBySide) { check_short_twins(700); }
TEST_F(SanitizerSpgemmTwins, OfShortRowsAreFoundSideBySide) { check_short_twins(100); }

/// Rows of 4,900 products on 6,500 words of columns come from bits of the whole row.
TEST_F(SpgemmLongRows, OnManyWordsAreNotCut) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 40; ++i) {
    for (Index k = 0; k < 70; ++k) a.push_back({i, (i + k) % 100, random_value(88, i, k)});
  }
  for (Index i = 0; i < 100; ++i) {
    for (Index k = 0; k < 70; ++k) b.push_back({i, 3'000 * k + 2 * i, random_value(89, i, k)});
  }
  const ProductOperands operands = {matrix_of(40, 100, a), matrix_of(100, 210'000, b)};
  check_choice(operands, "40 in bit ranges");
}

namespace {

/// 500 rows of 18 to 22 neighbouring sources, whose rows of B have 20 neighbouring columns: some
/// 400 products on 40 columns, which a warp might sort.
ProductOperands of_dense_rows() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 500; ++i) {
    for (Index k = 0; k < 18 + i % 5; ++k) {
      a.push_back({i, i % 90 + k, random_value(71, i, k)});
    }
  }
  for (Index i = 0; i < 120; ++i) {
    for (Index k = 0; k < 20; ++k) b.push_back({i, 11 * (i % 7) + i + k, random_value(72, i, k)});
  }
  return {matrix_of(500, 120, a), matrix_of(120, 300, b)};
}

/// They come from bits, and others sorted; both are right, and the same every time.
void check_dense_rows() {
  const ProductOperands operands = of_dense_rows();
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      SCOPED_TRACE(describe(item));
      const SpgemmProblem problem = problem_of(operands, item);
      for (const bool are_dense : {false, true}) {
        gpu::BinRules rules = rules_for_twins(true);
        if (!are_dense) rules.fewest_dense = 1000;
        const auto plan = plan_by(rules, problem);
        const CsrMatrix c = check_product(*plan, problem, item);
        EXPECT_EQ(plan->choice().find(" 0 in bit ranges") == std::string::npos, are_dense)
            << plan->choice();
        EXPECT_TRUE(identical(c, check_product(*plan_by(rules, problem), problem, item)));
      }
    }
  }
}

using SpgemmDenseRows = GpuTest;
using SanitizerSpgemmDenseRows = GpuTest;

}  // namespace

TEST_F(SpgemmDenseRows, ComeFromBits) { check_dense_rows(); }
TEST_F(SanitizerSpgemmDenseRows, ComeFromBits) { check_dense_rows(); }

namespace {

/// Rows of 576 products on the 96 columns of three places far from each other; those of every
/// tenth row are scattered instead, and every 45th is empty.
ProductOperands of_few_words(Index rows) {
  constexpr Index kSources = 24, kFar = 4'000;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    if (i % 45 == 44) continue;
    const Index first = i % 10 == 9 ? kFar : i % 3'000;
    for (Index k = 0; k < kSources; ++k) {
      a.push_back({i, first + k * (i % 10 == 9 ? 7 : 1), random_value(81, i, k)});
    }
  }
  for (Index i = 0; i < kFar + 7 * kSources; ++i) {
    for (Index k = 0; k < kSources; ++k) {
      const Index col = i < kFar ? i + k % 8 + 5'000 * (k / 8) : k * 700 + i * 61 % 700;
      b.push_back({i, col, random_value(82, i, k)});
    }
  }
  sort_by_place(b);
  return {matrix_of(rows, kFar + 7 * kSources, a), matrix_of(kFar + 7 * kSources, 17'000, b)};
}

/// Words that counting keeps with their numbers, or finds too many of, lead to the same bits as
/// columns that are looked for again: where a warp counts a row and where a block does.
void check_few_words(const std::vector<Index>& sizes) {
  for (const Index rows : sizes) {
    const ProductOperands operands = of_few_words(rows);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      const ProductCase item = case_of(kind, Semiring::plus_times);
      SCOPED_TRACE(describe(item) + ", " + std::to_string(rows) + " rows");
      const SpgemmProblem problem = problem_of(operands, item);
      for (const std::uint32_t fewest_for_warps : {0u, UINT32_MAX}) {
        std::optional<CsrMatrix> first;
        for (const bool keeps_pairs : {false, true}) {
          gpu::BinRules rules;
          rules.prefers_one_pass = false;
          rules.fewest_for_warps = fewest_for_warps;
          rules.keeps_pairs = keeps_pairs;
          rules.prefers_twins = false;
          if (rows < 1'000) rules.fewest_counted_by_warps = rows == 900 ? 900 : 100;
          const std::string choice = check_bits(rules, problem, item, first);
          EXPECT_NE(choice.find(std::to_string(rows - rows / 45) + " in bit ranges"),
                    std::string::npos)
              << choice;
        }
      }
    }
  }
}

using SpgemmFewWords = GpuTest;
using SanitizerSpgemmFewWords = GpuTest;

}  // namespace

TEST_F(SpgemmFewWords, AreKeptWithTheirNumbers) { check_few_words({120, 900, 18'000}); }
TEST_F(SanitizerSpgemmFewWords, AreKeptWithTheirNumbers) { check_few_words({120}); }

namespace {

/// 3,000 rows of 3 sources, and before them `count` rows of 1,570 sources of 38 entries, the first
/// two of which all sources have.
ProductOperands of_rows_to_wait_for(Index count) {
  constexpr Index kSources = 1'570, kLength = 38;
  std::vector<Entry> a, b;
  for (Index i = 0; i < count; ++i) {
    for (Index k = 0; k < kSources; ++k) a.push_back({i, k + i, random_value(83, i, k)});
  }
  for (Index i = count; i < count + 3'000; ++i) {
    for (Index k = 0; k < 3; ++k) a.push_back({i, i % 1'500 + 11 * k, random_value(83, i, k)});
  }
  for (Index i = 0; i < kSources + 50; ++i) {
    for (Index k = 0; k < kLength; ++k) {
      const Index col = k < 2 ? k * 9'000 : k * 550 + i * 37 % 550;
      b.push_back({i, col, random_value(84, i, k)});
    }
  }
  sort_by_place(b);
  b.erase(
      std::unique(b.begin(), b.end(),
                  [](const Entry& x, const Entry& y) { return x.row == y.row && x.col == y.col; }),
      b.end());
  return {matrix_of(count + 3'000, kSources + 50, a), matrix_of(kSources + 50, 21'000, b)};
}

/// A row that takes longer than all others is cut although a block could make it: by choice, and
/// where nothing else is asked for.
void check_rows_to_wait_for(Index count) {
  const ProductOperands operands = of_rows_to_wait_for(count);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      SCOPED_TRACE(describe(item));
      const SpgemmProblem problem = problem_of(operands, item);
      for (const unsigned long long most_alone : {0ull, 10'000ull, gpu::kNeverCut}) {
        std::optional<CsrMatrix> first;
        for (int run = 0; run < 2; ++run) {
          gpu::BinRules rules;
          rules.prefers_one_pass = false;
          rules.most_alone = most_alone;
          const std::string choice = check_bits(rules, problem, item, first);
          EXPECT_EQ(choice.find(" 0 in parts") == std::string::npos, most_alone != gpu::kNeverCut)
              << choice;
        }
      }
    }
  }
}

}  // namespace

TEST_F(SpgemmLongRows, AreCutWhereTheyWouldBeWaitedFor) {
  check_rows_to_wait_for(1);
  check_rows_to_wait_for(7);
}
TEST_F(SanitizerSpgemmLongRows, AreCutWhereTheyWouldBeWaitedFor) { check_rows_to_wait_for(1); }

/// The range of rows that has no long row is cut like the other.
TEST_F(SpgemmLongRows, AreCutAlikeInBlocksOfRows) {
  const ProductOperands operands = of_rows_to_wait_for(2);
  const SpgemmProblem problem = problem_of(operands, {});
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  check_row_blocks(problem, rules, 4);
  const auto plan = plan_by(rules, problem);
  product_of(*plan, problem);
  EXPECT_NE(plan->choice().find(" 2 in parts"), std::string::npos) << plan->choice();
}

/// Rows of 60 sources, 3,600 products and hardly a column twice: teams would have room for few.
TEST_F(SpgemmLongRows, AreSortedWhereColumnsHardlyComeTwice) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 40; ++i) {
    for (Index k = 0; k < 60; ++k) a.push_back({i, i + k, random_value(85, i, k)});
  }
  for (Index i = 0; i < 100; ++i) {
    for (Index k = 0; k < 60; ++k) {
      b.push_back({i, k * 1'600 + i * 397 % 1'600, random_value(86, i, k)});
    }
  }
  const ProductOperands operands = {matrix_of(40, 100, a), matrix_of(100, 96'000, b)};
  check_choice(operands, "40 sorted");
}

namespace {

/// Rows of 10 to 150 sources of some 80 entries on `cols` columns, so that teams share their sums
/// in most: of every column, or of C's alone. They are right, and the same every time, new values
/// too.
void check_shared_sums(Index rows) {
  for (const Index cols : {700, 7'000}) {
    std::vector<Entry> a, b;
    for (Index i = 0; i < rows; ++i) {
      const Index sources = i % 4 == 3 ? 150 : 10 + i;
      for (Index k = 0; k < sources; ++k) a.push_back({i, i + k, random_value(87, i, k)});
    }
    for (Index i = 0; i < rows + 150; ++i) {
      const Index entries = 75 + i % 11, step = cols / entries;
      for (Index k = 0; k < entries; ++k) {
        b.push_back({i, k * step + i * 5 % step, random_value(88, i, k)});
      }
    }
    const ProductOperands operands = {matrix_of(rows, rows + 150, a),
                                      matrix_of(rows + 150, cols, b)};
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const Semiring semiring : {Semiring::plus_times, Semiring::max_times}) {
        const ProductCase item = case_of(kind, semiring);
        SCOPED_TRACE(describe(item) + ", " + std::to_string(cols) + " columns");
        const SpgemmProblem problem = problem_of(operands, item);
        for (const bool keeps_bits : {false, true}) {
          std::optional<CsrMatrix> first;
          for (int run = 0; run < 2; ++run) {
            gpu::BinRules rules;
            rules.prefers_one_pass = false;
            rules.keeps_any_bits = keeps_bits;
            check_bits(rules, problem, item, first);
          }
        }
      }
    }
  }
}

using SpgemmSharedSums = GpuTest;
using SanitizerSpgemmSharedSums = GpuTest;

}  // namespace

TEST_F(SpgemmSharedSums, OfTeams) { check_shared_sums(60); }
TEST_F(SanitizerSpgemmSharedSums, OfTeams) { check_shared_sums(9); }

namespace {

/// Rows of C that a block makes, in turn of few repeats, of some, of some from short rows of B, and
/// of some on few of many words; the first entries of every row of B are columns that two, some or
/// all sources of a row have.
ProductOperands of_blocks(Index rows) {
  constexpr Index kZone = 200, kCols = 44'000;  // rows of B for each kind of row
  constexpr struct {
    Index sources, length, cols;
  } kKinds[] = {{64, 50, 30'000}, {64, 60, 3'000}, {128, 20, 1'000}, {100, 60, 3'060}};
  constexpr Index kCount = std::size(kKinds), kOnFewWords = 3;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    const Index kind = i % kCount, first = kind * kZone + i % 5 * 10;
    for (Index k = 0; k < kKinds[kind].sources; ++k) {
      a.push_back({i, first + k, random_value(91, i, k)});
    }
  }
  // Every fourth word, of which half have 4 columns and half have 14.
  const auto on_few_words = [](Index number) {
    const Index rest = number - 680;
    return number < 680 ? (3 + number / 4 * 4) * 32 + number % 4 * 7
                        : (683 + rest / 14 * 4) * 32 + rest % 14 * 2;
  };
  for (Index j = 0; j < kCount * kZone; ++j) {
    const auto [sources, length, cols] = kKinds[j / kZone];
    std::set<Index> of_row = {3, 10 + j / 2 % 100, 200 + j % 7};
    for (Index k = 0; k < length; ++k) {
      const auto random = static_cast<Index>(random_word(92, j, k) % cols);
      of_row.insert(j / kZone == kOnFewWords ? on_few_words(random) : std::max<Index>(random, 250));
    }
    for (const Index col : of_row) b.push_back({j, col, random_value(93, j, col)});
  }
  return {matrix_of(rows, kCount * kZone, a), matrix_of(kCount * kZone, kCols, b)};
}

/// How a block of kThreadsOfBlock adds up a row of C = A B.
gpu::BlockSums block_sums_of(const SpgemmProblem& problem, const CsrMatrix& c, Index row) {
  gpu::RowFacts facts;
  facts.sources = problem.a.row_length(row);
  for (Offset i = problem.a.row_offsets()[row]; i < problem.a.row_offsets()[row + 1]; ++i) {
    facts.products += static_cast<std::uint32_t>(problem.b.row_length(problem.a.col_indices()[i]));
  }
  facts.words = static_cast<std::uint32_t>(c.col_indices()[c.row_offsets()[row + 1] - 1] / 32 + 1);
  return gpu::block_sums(facts, static_cast<std::uint32_t>(c.row_length(row)), gpu::kThreadsOfBlock,
                         static_cast<std::uint32_t>(size_of(problem.c)),
                         static_cast<std::uint64_t>(gpu::BinRules().most_block_bytes));
}

/// Blocks' rows are right in each way, and the same every time, whatever counting has kept; new
/// values too. With `most_block_bytes` too few for some sums, which are in C then.
void check_block_sums(Index rows, int most_block_bytes) {
  const ProductOperands operands = of_blocks(rows);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      SCOPED_TRACE(describe(item));
      const SpgemmProblem problem = problem_of(operands, item);
      std::optional<CsrMatrix> first;
      for (const auto& [keeps_bits, keeps_pairs] :
           {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.fewest_for_warps = 0;  // no teams
        rules.most_of_a_warp = 512;
        rules.most_sorted_to_count = rules.most_sorted_to_make = 0;
        rules.keeps_any_bits = keeps_bits;
        rules.keeps_pairs = keeps_pairs;
        rules.fewest_counted_by_warps = 0;
        rules.most_block_bytes = most_block_bytes;
        check_bits(rules, problem, item, first);
      }
      EXPECT_EQ(block_sums_of(problem, *first, 0), gpu::BlockSums::claims);
      EXPECT_EQ(block_sums_of(problem, *first, 1), gpu::BlockSums::shares);
      EXPECT_EQ(block_sums_of(problem, *first, 2), gpu::BlockSums::turns);
      EXPECT_EQ(block_sums_of(problem, *first, 3), gpu::BlockSums::shares);
    }
  }
}

using SpgemmBlockSums = GpuTest;
using SanitizerSpgemmBlockSums = GpuTest;

}  // namespace

TEST_F(SpgemmBlockSums, AreRightInEveryWay) { check_block_sums(60, 102 * 1024); }
TEST_F(SpgemmBlockSums, AreRightInC) { check_block_sums(60, 24 * 1024); }
TEST_F(SanitizerSpgemmBlockSums, AreRightInEveryWay) { check_block_sums(4, 102 * 1024); }

/// Groups of three rows with the same 66 sources, whose rows of B have 64 entries; the last row has
/// half of them.
TEST_F(SpgemmTwins, AreMadeAgainForNewValues) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 90; ++i) {
    for (Index k = 0; k < (i == 89 ? 33 : 66); ++k) {
      a.push_back({i, i / 3 + k, random_value(73, i, k)});
    }
  }
  for (Index i = 0; i < 100; ++i) {
    for (Index k = 0; k < 64; ++k) b.push_back({i, i + k, random_value(74, i, k)});
  }
  const ProductOperands operands = {matrix_of(90, 100, a), matrix_of(100, 170, b)};
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    const ProductCase item = case_of(kind, Semiring::plus_times);
    const SpgemmProblem problem = problem_of(operands, item);
    for (const Offset fewest : {Offset{10}, Offset{1'000}}) {
      gpu::BinRules rules;
      rules.prefers_one_pass = false;
      rules.fewest_for_warps = 0;
      rules.most_listed = rules.most_listed_of_few = 1'000;
      rules.fewest_twin_warps = fewest;
      const auto plan = plan_by(rules, problem);
      plan->expect_new_values();
      product_of(*plan, problem);
      plan->set_values(problem.a, problem.b);
      const CheckResult result = check_spgemm(problem, product_of(*plan, problem), item.check);
      EXPECT_TRUE(result.passed) << result.failure;
      EXPECT_EQ(plan->choice().find("because most rows are twins") != std::string::npos,
                fewest == 10)
          << plan->choice();
      EXPECT_LE(plan->phases().reuse_peak_bytes, plan->forecast().reuse_bytes);
    }
  }
}

/// What a kernel may take of shared memory belongs to the kernel, not to a launch: threads that
/// launch it with more and with less of it at once must not take it from each other.
TEST_F(SpgemmLongRows, MayBeMadeByManyThreadsAtOnce) {
  std::vector<ProductOperands> operands;
  for (const Index cols : {2'000, 8'000, 20'000}) {
    for (const Index length : {7, 70}) operands.push_back(of_long_rows(length, cols));
  }
  const auto multiply = [](const ProductOperands& of) {
    const SpgemmProblem problem = problem_of(of, {});
    gpu::BinRules rules;
    rules.prefers_one_pass = false;
    return product_of(*plan_by(rules, problem), problem);
  };
  std::vector<CsrMatrix> alone;
  for (const ProductOperands& of : operands) alone.push_back(multiply(of));
  std::vector<std::string> failures(operands.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        for (int round = 0; round < 50 && failures[i].empty(); ++round) {
          if (!identical(multiply(operands[i]), alone[i])) failures[i] = "other bits";
        }
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

/// 20 rows of 400 products, on columns too far apart for a range of bits: where limits are divided
/// such rows are cut, and their parts sorted.
ProductOperands of_far_columns() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 20; ++i) {
    for (Index k = 0; k < 40; ++k) a.push_back({i, (i + k) % 50, random_value(25, i, k)});
  }
  for (Index i = 0; i < 50; ++i) {
    for (Index k = 0; k < 10; ++k) b.push_back({i, 40'000 * k + 7 * i, random_value(26, i, k)});
  }
  return {matrix_of(20, 50, a), matrix_of(50, 400'000, b)};
}

/// The bins that small products do not reach by themselves, for compute-sanitizer.
class SanitizerSpgemmRowBins : public SpgemmRowBins {};

TEST_P(SanitizerSpgemmRowBins, SmallAdversarialProducts) {
  for (const BatteryProduct& item : spgemm_battery()) {
    for (const char* name : {"around_vector_and_table_sizes", "scattered_columns", "tridiagonal"}) {
      if (std::string(name) == item.name) check_kernel_on(kernel(), item);
    }
  }
  check_kernel_on(kernel(), of_far_columns(), {});
}

INSTANTIATE_TEST_SUITE_P(, SanitizerSpgemmRowBins, ::testing::Values(0, 4, 7, 8, 12, 13),
                         variant_name);

INSTANTIATE_TEST_SUITE_P(Variants, SpgemmRowBins,
                         ::testing::Range(0, static_cast<int>(std::size(kVariants))), variant_name);

}  // namespace csrkit::testing
