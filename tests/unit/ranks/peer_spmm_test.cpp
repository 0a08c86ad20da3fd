// Ranks that read each other's rows of B give the products that ranks with messages give, and say
// the same bytes.
#include "ranks/peer_spmm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "cpu/common/kernels.h"
#include "tests/unit/ranks/integer_products.h"

namespace csrkit::ranks {
namespace {

using testing::integer_matrix;

/// For so many products; `rows` are those of B.
testing::MakeRank peers(Index rows, int products = 1) {
  return [rows, products](Communicator& communicator, const Grid& grid, RankPart part,
                          const SpmmProblem& problem) -> std::unique_ptr<SpmmRank> {
    std::string why_not;
    PeerArrays arrays = share_arrays(communicator, grid, rows, problem, products, &why_not);
    EXPECT_EQ(why_not, "");
    PlanOptions options;
    options.where.threads = 1;
    auto rank =
        std::make_unique<PeerSpmmRank>(communicator, grid, std::move(part), problem,
                                       find_kernel(cpu::spmm_kernels(), "auto"), options, arrays);
    const auto bytes =
        static_cast<std::size_t>(Offset{rows} * rank->columns().size() * size_of(problem.b));
    communicator.barrier();
    for (const auto& memory : {arrays.b, arrays.c}) {  // NaN: nobody may read what nobody wrote
      if (memory != nullptr && communicator.rank() < grid.groups) {
        std::memset(memory->data(), 255, bytes);
      }
    }
    communicator.barrier();
    return rank;
  };
}

void expect_peer_product(const CsrMatrix& a, const Grid& grid, Index dense_cols, int power = 1,
                         const std::optional<PartBorders>& borders = std::nullopt,
                         const std::vector<Index>& split = {}) {
  testing::expect_product(peers(a.cols(), power), a, grid, dense_cols, power, borders, split,
                          PartColumns::whole);
}

TEST(RanksPeerSpmm, GridsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 1);
  for (const int parts : {1, 2, 3, 4, 8, 16, 32, 64}) expect_peer_product(a, {parts, 1}, 5);
  for (const Grid& grid : {Grid{2, 2}, Grid{3, 4}, Grid{8, 2}}) {
    expect_peer_product(a, grid, 7);
    expect_peer_product(a, grid, 32);
  }
  for (const int parts : {2, 5, 16}) {
    expect_peer_product(integer_matrix(40, 170, 3), {parts, 1}, 4);
    expect_peer_product(integer_matrix(170, 40, 4), {parts, 2}, 4);
  }
}

TEST(RanksPeerSpmm, PartsMayBeEmpty) {
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_peer_product(integer_matrix(5, 5, 5), {5, 1}, 3, 1, borders);
  expect_peer_product(integer_matrix(5, 5, 5), {5, 2}, 3, 2, borders);
}

/// No rank may write a row that another one still reads, however late that one is.
TEST(RanksPeerSpmm, PowersKeepTheirOperandsInPlace) {
  for (const int power : {2, 3, 6}) {
    expect_peer_product(integer_matrix(30, 30, 6), {4, 1}, 3, power);
    expect_peer_product(integer_matrix(30, 30, 6), {2, 2}, 3, power);
    expect_peer_product(integer_matrix(30, 30, 6), {16, 1}, 1, power);
  }
}

TEST(RanksPeerSpmm, SplitRowsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 8);
  for (const std::vector<Index>& split :
       {std::vector<Index>{75}, {0, 74, 75, 76, 149}, {3, 10, 11, 12, 13, 75}}) {
    for (const Grid& grid : {Grid{2, 1}, Grid{3, 1}, Grid{4, 2}, Grid{64, 1}}) {
      expect_peer_product(a, grid, 5, 1, std::nullopt, split);
    }
    expect_peer_product(a, {4, 1}, 3, 2, std::nullopt, split);
  }
  std::vector<Index> all(40);
  std::iota(all.begin(), all.end(), 0);
  expect_peer_product(integer_matrix(40, 170, 3), {5, 1}, 4, 1, std::nullopt, all);
}

TEST(RanksPeerSpmm, EveryKindOfB) {
  for (const ValueKind b : {ValueKind::f16, ValueKind::bf16, ValueKind::f32}) {
    testing::expect_sums_of_the_kind_of_c(peers(60), ValueKind::f32, b, PartColumns::whole);
  }
  testing::expect_sums_of_the_kind_of_c(peers(60), ValueKind::f64, ValueKind::f64,
                                        PartColumns::whole);
}

TEST(RanksPeerSpmm, PowersNeedASharedC) {
  EXPECT_THROW(testing::expect_product(peers(30), integer_matrix(30, 30, 6), {2, 1}, 3, 2,
                                       std::nullopt, {}, PartColumns::whole),
               UsageError);
  EXPECT_THROW(expect_peer_product(integer_matrix(20, 30, 9), {2, 1}, 3, 2), UsageError);
}

}  // namespace
}  // namespace csrkit::ranks
