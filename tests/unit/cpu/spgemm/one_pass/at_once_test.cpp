#include "cpu/spgemm/one_pass/at_once.h"

#include <gtest/gtest.h>

#include <numeric>

#include "cpu/common/kernels.h"
#include "tests/property/spgemm/battery.h"
#include "tests/unit/cpu/spgemm/one_pass/fake_rows.h"
#include "tests/unit/cpu/spgemm/product_by.h"

namespace csrkit {
namespace {

using cpu::AtOnce;
using cpu::OutputRoom;
using testing::FakeRows;
using testing::product_by;

/// C of some fake rows, made again and again in the same memory.
class Product {
 public:
  explicit Product(std::vector<Index> nnz, int threads)
      : rows(nnz, 1, threads),
        nnz_(std::move(nnz)),
        threads_(threads),
        a_offsets_(nnz_.size() + 1),
        row_nnz_(nnz_.size()),
        row_offsets_(nnz_.size() + 1) {
    std::partial_sum(nnz_.begin(), nnz_.end(), a_offsets_.begin() + 1);
  }

  Offset make() {
    std::fill(row_nnz_.begin(), row_nnz_.end(), -1);
    std::fill(row_offsets_.begin(), row_offsets_.end(), -1);
    std::fill(cols_.begin(), cols_.end(), -1);
    return at_once_.make(rows, static_cast<Index>(nnz_.size()), a_offsets_.data(), threads_, room(),
                         [&](Offset entries) {
                           ++rooms_made;
                           cols_.assign(static_cast<std::size_t>(entries), -1);
                           values_.assign(static_cast<std::size_t>(entries), -1);
                           return room();
                         });
  }

  void expect_right(Offset made) const {
    ASSERT_EQ(made, std::accumulate(nnz_.begin(), nnz_.end(), Offset{0}));
    std::size_t at = 0;
    for (std::size_t row = 0; row < nnz_.size(); ++row) {
      ASSERT_EQ(row_nnz_[row], nnz_[row]);
      ASSERT_EQ(row_offsets_[row], static_cast<Offset>(at));
      for (Index n = 0; n < nnz_[row]; ++n, ++at) {
        ASSERT_EQ(cols_[at], static_cast<Index>(row)) << "entry " << at;
        ASSERT_EQ(values_[at], static_cast<double>(row) + rows.added) << "entry " << at;
      }
    }
    EXPECT_EQ(row_offsets_.back(), static_cast<Offset>(at));
  }

  void drop_room() {
    cols_.clear();
    values_.clear();
  }

  FakeRows rows;
  int rooms_made = 0;

 private:
  OutputRoom room() {
    OutputRoom room;
    room.entries = static_cast<Offset>(cols_.size());
    room.col_indices = cols_.data();
    room.values = values_.data();
    room.value_bytes = sizeof(double);
    room.row_nnz = row_nnz_.data();
    room.row_offsets = row_offsets_.data();
    return room;
  }

  std::vector<Index> nnz_;
  int threads_;
  AtOnce at_once_;
  std::vector<Offset> a_offsets_;
  std::vector<Index> row_nnz_;
  std::vector<Offset> row_offsets_;
  std::vector<Index> cols_;
  std::vector<double> values_;
};

std::vector<Index> rows_of_all_sizes() {
  std::vector<Index> nnz(3000);
  for (std::size_t row = 0; row < nnz.size(); ++row) nnz[row] = static_cast<Index>(row * 7 % 20);
  nnz[0] = nnz[1500] = nnz[2999] = 3000;
  return nnz;
}

TEST(AtOnce, PutsRowsInOrderWithoutGaps) {
  for (const int threads : {2, 5, 16}) {
    Product product(rows_of_all_sizes(), threads);
    for (int turn = 0; turn < 3; ++turn) product.expect_right(product.make());
    EXPECT_EQ(product.rooms_made, 1) << "room that is large enough is used again";
  }
}

TEST(AtOnce, LooksAtAllRowsFirstWhereThatIsWanted) {
  for (const int threads : {2, 5, 16}) {
    Product product(rows_of_all_sizes(), threads);
    product.rows.wants_looks = true;
    const Offset nnz = product.make();
    product.expect_right(nnz);
    EXPECT_TRUE(product.rows.saw_all);
    EXPECT_EQ(product.rows.seen_again, nnz);
  }
}

TEST(AtOnce, MayHaveFewerThreadsThanBefore) {
  Product product(rows_of_all_sizes(), 4);
  product.expect_right(product.make());
  product.drop_room();
  product.rows.added = 0.5;
  Offset nnz = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  nnz = product.make();  // regions within regions have one thread
  product.expect_right(nnz);
}

TEST(AtOnce, MakesNothingOfEmptyRows) {
  Product product(std::vector<Index>(100, 0), 3);
  product.expect_right(product.make());
}

TEST(AtOnce, MakesRoomForRowsOfManyProducts) {
  std::vector<Index> nnz = rows_of_all_sizes();
  nnz[700] = 200000;
  Product product(nnz, 4);
  for (int turn = 0; turn < 3; ++turn) product.expect_right(product.make());
}

TEST(AtOnce, ThrowsWhatARowThrows) {
  for (const Index row : {0, 1234, 2999}) {
    Product product(rows_of_all_sizes(), 4);
    product.rows.throws_at = row;
    EXPECT_THROW(product.make(), std::runtime_error) << row;
    product.rows.throws_at = -1;
    product.expect_right(product.make());
  }
}

TEST(AtOnce, IsForSmallProductsOfSeveralThreads) {
  EXPECT_FALSE(AtOnce::is_for(5000, 20000, 80000, 1));
  EXPECT_TRUE(AtOnce::is_for(5000, 20000, 80000, 4));
  EXPECT_FALSE(AtOnce::is_for(5000, 20000, 8000000, 4));
  EXPECT_FALSE(AtOnce::is_for(100, 200, 400, 4));
  EXPECT_FALSE(AtOnce::is_for(5000000, 20000000, 80000000, 4));
}

/// Few entries everywhere, in places of no order.
CsrMatrix scattered(Index rows, Index per_row) {
  std::vector<testing::Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    std::vector<Index> cols;
    for (Index k = 0; k < per_row; ++k) {
      cols.push_back(static_cast<Index>((random_value(7, i, k) + 1) * 1e6) % rows);
    }
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    for (const Index j : cols) entries.push_back({i, j, random_value(3, i, j)});
  }
  return testing::matrix_of(rows, rows, entries);
}

/// Nine points of a grid.
CsrMatrix grid(Index width, Index height) {
  std::vector<testing::Entry> entries;
  for (Index i = 0; i < width * height; ++i) {
    for (Index y = -1; y <= 1; ++y) {
      for (Index x = -1; x <= 1; ++x) {
        const Index column = i % width + x, line = i / width + y;
        if (column < 0 || column >= width || line < 0 || line >= height) continue;
        const Index j = line * width + column;
        entries.push_back({i, j, random_value(3, i, j)});
      }
    }
  }
  return testing::matrix_of(width * height, width * height, entries);
}

TEST(AtOnce, MakesAProductWithoutEntries) {
  // Edges that end where none begins, as in a graph of two kinds of nodes: there is no path of two.
  const CsrMatrix a = testing::matrix_where(
      1000, 1000, [](Index i, Index j) { return i < 500 && j >= 500 && (i + j) % 50 == 0; });
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  std::string choice;
  const CsrMatrix c = product_by("auto", 2, problem, &choice);
  EXPECT_NE(choice.find("all at once"), std::string::npos) << choice;
  EXPECT_TRUE(identical(product_by("adaptive_rows", 2, problem, &choice), c));
}

TEST(AtOnce, GivesTheBitsOfTwoPasses) {
  for (const CsrMatrix& a :
       {scattered(3000, 1), scattered(3000, 2), scattered(3000, 4), grid(50, 25)}) {
    const SpgemmProblem problem = default_spgemm_problem(a, a);
    std::string choice;
    const CsrMatrix two = product_by("adaptive_rows", 2, problem, &choice);
    for (const int threads : {2, 3, 8}) {
      EXPECT_TRUE(identical(two, product_by("auto", threads, problem, &choice))) << threads;
      EXPECT_NE(choice.find("all at once"), std::string::npos) << choice;
    }
    EXPECT_TRUE(identical(two, product_by("auto", 1, problem, &choice)));
    EXPECT_EQ(choice.find("all at once"), std::string::npos) << choice;
  }
}

TEST(AtOnce, TimedProductsLeaveThePlanAsItWas) {
  const CsrMatrix a = scattered(3000, 3);
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  PlanOptions options;
  options.where.threads = 3;
  const auto plan = find_kernel(cpu::spgemm_kernels(), "auto").make_plan(problem, options);
  const CsrMatrix before = testing::product_of(*plan, problem);
  for (int turn = 0; turn < 3; ++turn) EXPECT_GT(plan->time_multiply(), 0);
  EXPECT_GT(plan->time_numeric(), 0);
  EXPECT_TRUE(identical(before, testing::product_of(*plan, problem)));
  EXPECT_EQ(plan->phases().output_nnz, before.nnz());
}

}  // namespace
}  // namespace csrkit
