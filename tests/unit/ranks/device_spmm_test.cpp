// The half of ranks on GPUs that is on the host: lists, matrices, who drives whom. The devices here
// are arrays in memory that do what they are told, by reading each other's rows or by messages.
#include "ranks/device_spmm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

#include "tests/unit/ranks/integer_products.h"

namespace csrkit::ranks {
namespace {

using testing::integer_matrix;

class FakeRank : public DeviceRank {
 public:
  explicit FakeRank(const DeviceShare& brought) : share(brought) {
    const Index cols = share.kinds.dense_cols;
    arrays[0] = DenseMatrix(share.own.cols(), cols, share.kinds.b);
    arrays[1] = DenseMatrix(share.own.rows(), cols, share.kinds.c);
    halo = DenseMatrix(share.halo.cols(), cols, share.kinds.b);
    sums = DenseMatrix(share.pieces.rows(), cols, share.kinds.c);
    fill_nan(arrays[1].view());
    fill_nan(halo.view());
    fill_nan(sums.view());
  }
  void upload_b(const ConstDenseView& b) override { copy(arrays[from = 0].view(), b); }
  void download(const DenseView& b, const DenseView& c, const DenseView& received) override {
    copy(b, arrays[from].view());
    copy(c, arrays[1 - from].view());
    copy(received, halo.view());
  }
  std::string choice() const override { return "fake"; }
  std::string memory() const override { return "the memory of a fake"; }

  float* row(DenseMatrix& of, Index number) const {
    return of.view().as<float>() + Offset{number} * share.kinds.dense_cols;
  }
  static void clear(DenseMatrix& rows) {
    std::fill_n(rows.view().as<float>(), Offset{rows.rows()} * rows.cols(), 0.0F);
  }
  void add(const CsrMatrix& a, DenseMatrix& b, const std::vector<Index>& rows, DenseMatrix& to) {
    if (a.rows() == 0) return;  // of no kind
    const Index cols = share.kinds.dense_cols;
    const auto view = a.view<float>();
    for (Index i = 0; i < a.rows(); ++i) {
      float* const c = row(to, rows.empty() ? i : rows[static_cast<std::size_t>(i)]);
      for (Offset at = view.row_offsets[i]; at < view.row_offsets[i + 1]; ++at) {
        for (Index j = 0; j < cols; ++j) {
          c[j] += view.values[at] * row(b, view.col_indices[at])[j];
        }
      }
    }
  }

  DeviceShare share;
  DenseMatrix arrays[2], halo, sums;
  int from = 0;

 private:
  static void copy(const DenseView& to, const ConstDenseView& other) {
    if (to.rows == 0) return;
    std::memcpy(to.data, other.data,
                static_cast<std::size_t>(Offset{to.rows} * to.cols) * sizeof(float));
  }
};

class FakeRanks : public DeviceRanks {
 public:
  FakeRanks(const std::vector<DeviceRank*>& list, HaloWay way) : way_(way), moved_(list.size()) {
    for (DeviceRank* const rank : list) ranks_.push_back(dynamic_cast<FakeRank*>(rank));
  }
  void multiply(int products) override {
    for (int product = 0; product < products; ++product) {
      for (FakeRank* const rank : ranks_) rank->from = product % 2;
      std::fill(moved_.begin(), moved_.end(), std::pair<std::uint64_t, std::uint64_t>());
      way_ == HaloWay::peer ? read() : send();
      for (FakeRank* const rank : ranks_) {
        DenseMatrix& b = rank->arrays[rank->from];
        DenseMatrix& c = rank->arrays[1 - rank->from];
        FakeRank::clear(c);
        rank->add(rank->share.own, b, {}, c);
        rank->add(rank->share.halo, rank->halo, rank->share.halo_rows, c);
        FakeRank::clear(rank->sums);
        rank->add(rank->share.pieces, b, {}, rank->sums);
      }
      for (FakeRank* const rank : ranks_) add_sums(*rank);
    }
  }
  SpmmSeconds seconds(std::size_t) const override { return {}; }
  std::uint64_t bytes_sent(std::size_t place) const override { return moved_[place].first; }
  std::uint64_t bytes_received(std::size_t place) const override { return moved_[place].second; }

 private:
  std::size_t count_row(const FakeRank& to, int sender) {
    const std::size_t bytes = static_cast<std::size_t>(to.share.kinds.dense_cols) * sizeof(float);
    if (sender == to.share.rank) return bytes;
    moved_[static_cast<std::size_t>(sender)].first += bytes;
    moved_[static_cast<std::size_t>(to.share.rank)].second += bytes;
    return bytes;
  }
  void move(const float* from, FakeRank& to, Index row, int sender) {
    std::memcpy(to.row(to.halo, row), from, count_row(to, sender));
  }
  /// Each run of a rank is the one that its maker has for it; within one, no row comes twice.
  void add_sums(FakeRank& rank) {
    const std::vector<Index>& rows = rank.share.sum_rows;
    for (const RowRun& run : rank.share.sum_runs) {
      FakeRank& maker = *ranks_[static_cast<std::size_t>(run.rank)];
      const std::vector<RowRun>& made = maker.share.piece_runs;
      const auto from = std::find_if(made.begin(), made.end(), [&](const RowRun& other) {
        return other.rank == rank.share.rank;
      });
      ASSERT_TRUE(from != made.end() && from->count == run.count);
      const auto first = rows.begin() + run.first;
      ASSERT_EQ(std::adjacent_find(first, first + run.count, std::greater_equal<>()),
                first + run.count);
      for (Index i = 0; i < run.count; ++i) {
        float* const c = rank.row(rank.arrays[1 - rank.from], first[i]);
        const float* const sum = maker.row(maker.sums, from->first + i);
        for (Index j = 0; j < rank.share.kinds.dense_cols; ++j) c[j] += sum[j];
        count_row(rank, run.rank);
      }
    }
  }
  void read() {
    for (FakeRank* const rank : ranks_) {
      for (const RowRun& run : rank->share.read_runs) {
        FakeRank& owner = *ranks_[static_cast<std::size_t>(run.rank)];
        for (Index i = run.first; i < run.first + run.count; ++i) {
          const Index number = rank->share.reads[static_cast<std::size_t>(i)];
          move(owner.row(owner.arrays[owner.from], number), *rank, i, run.rank);
        }
      }
    }
  }
  void send() {
    std::map<std::pair<int, int>, std::vector<Index>> messages;  // rows of the sender's B
    for (FakeRank* const rank : ranks_) {
      for (const RowRun& run : rank->share.send_runs) {
        const auto first = rank->share.sends.begin() + run.first;
        messages[{rank->share.rank, run.rank}].assign(first, first + run.count);
      }
    }
    for (FakeRank* const rank : ranks_) {
      for (const RowRun& run : rank->share.read_runs) {
        const std::vector<Index>& rows = messages[{run.rank, rank->share.rank}];
        ASSERT_EQ(rows.size(), static_cast<std::size_t>(run.count));
        FakeRank& owner = *ranks_[static_cast<std::size_t>(run.rank)];
        for (Index i = 0; i < run.count; ++i) {
          const Index number = rows[static_cast<std::size_t>(i)];
          move(owner.row(owner.arrays[owner.from], number), *rank, run.first + i, run.rank);
        }
      }
    }
  }

  std::vector<FakeRank*> ranks_;
  HaloWay way_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> moved_;  // sent, received
};

const DeviceRankMakers kFakes = {
    [](const DeviceShare& share, const std::string&, const PlanOptions&)
        -> std::unique_ptr<DeviceRank> { return std::make_unique<FakeRank>(share); },
    [](const std::vector<DeviceRank*>& ranks, int all, HaloWay way,
       const std::vector<std::string>& told) -> std::unique_ptr<DeviceRanks> {
      EXPECT_EQ(ranks.size(), static_cast<std::size_t>(all));
      const std::vector<std::string> id = {"the id"};
      EXPECT_EQ(told, way == HaloWay::nccl ? id : decltype(id){});
      return std::make_unique<FakeRanks>(ranks, way);
    },
    []() -> std::string { return "the id"; },
    []() -> std::vector<std::string> { return {"a GPU"}; },
    [](const std::vector<int>&) -> std::string { return ""; },
    [](int) -> std::string { return "some memory"; },
    [](int, const std::string&) -> std::string { return ""; },
    []() -> std::string { return ""; },
    nullptr};

void expect_device_product(const CsrMatrix& a, const Grid& grid, Index dense_cols, int power = 1,
                           const std::optional<PartBorders>& borders = std::nullopt,
                           const std::vector<Index>& split = {}) {
  for (const HaloWay way : {HaloWay::peer, HaloWay::nccl}) {
    SCOPED_TRACE(name_of(way));
    testing::expect_product(
        [&](Communicator& communicator, const Grid& of, RankPart part,
            const SpmmProblem& problem) -> std::unique_ptr<SpmmRank> {
          return std::make_unique<DeviceSpmmRank>(communicator, of, std::move(part), problem,
                                                  DeviceSetup{kFakes, "auto", {}, way});
        },
        a, grid, dense_cols, power, borders, split);
  }
}

TEST(RanksDeviceSpmm, GridsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 1);
  for (const Grid& grid :
       {Grid{1, 1}, Grid{1, 3}, Grid{2, 1}, Grid{3, 2}, Grid{8, 1}, Grid{32, 2}}) {
    expect_device_product(a, grid, 5);
  }
  expect_device_product(integer_matrix(40, 170, 3), {5, 1}, 4);
  expect_device_product(integer_matrix(170, 40, 4), {5, 2}, 4);
}

TEST(RanksDeviceSpmm, PartsMayBeEmpty) {
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_device_product(integer_matrix(5, 5, 5), {5, 2}, 3, 2, borders);
}

TEST(RanksDeviceSpmm, PowersKeepTheirOperandsInPlace) {
  expect_device_product(integer_matrix(30, 30, 6), {4, 1}, 3, 2);
  expect_device_product(integer_matrix(30, 30, 6), {2, 2}, 3, 3);
}

TEST(RanksDeviceSpmm, SplitRowsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 8);
  for (const std::vector<Index>& split :
       {std::vector<Index>{75}, {0, 74, 75, 76, 149}, {3, 10, 11, 12, 13, 75}}) {
    for (const Grid& grid : {Grid{2, 1}, Grid{3, 1}, Grid{4, 2}, Grid{32, 1}}) {
      expect_device_product(a, grid, 5, 1, std::nullopt, split);
    }
    expect_device_product(a, {4, 1}, 3, 2, std::nullopt, split);
  }
  std::vector<Index> all(40);
  std::iota(all.begin(), all.end(), 0);
  expect_device_product(integer_matrix(40, 170, 3), {5, 1}, 4, 1, std::nullopt, all);
  expect_device_product(integer_matrix(170, 40, 4), {5, 2}, 4, 1, std::nullopt, all);
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_device_product(integer_matrix(5, 5, 5), {5, 1}, 3, 1, borders, {1, 2, 4});
}

TEST(RanksDeviceSpmm, PowersOfAMatrixThatIsNotSquareAreRefused) {
  EXPECT_THROW(expect_device_product(integer_matrix(20, 30, 9), {2, 1}, 3, 2), UsageError);
}

TEST(RanksDeviceSpmm, AnAllGatherGivesTheExactProduct) {
  for (const HaloWay way : {HaloWay::peer, HaloWay::nccl}) {
    const auto make = [&](Communicator& communicator, const Grid& of, RankPart part,
                          const SpmmProblem& problem) -> std::unique_ptr<SpmmRank> {
      return std::make_unique<DeviceSpmmRank>(communicator, of, std::move(part), problem,
                                              DeviceSetup{kFakes, "auto", {}, way, true, true});
    };
    testing::expect_all_gather_product(make, integer_matrix(70, 70, 12), {4, 2}, 5);
    testing::expect_all_gather_product(make, integer_matrix(30, 80, 13), {3, 1}, 2);
  }
}

/// Ranks of a launcher: each drives itself alone, and has the id of rank 0, or what all tell of
/// their memory where rows travel between them.
TEST(RanksDeviceSpmm, RanksOfOtherProcessesAreTold) {
  const CsrMatrix a = integer_matrix(60, 60, 14);
  for (const Grid& grid : {Grid{3, 2}, Grid{1, 6}}) {
    for (const HaloWay way : {HaloWay::nccl, HaloWay::peer}) {
      static std::vector<std::string> expected;
      expected = way == HaloWay::nccl ? std::vector<std::string>{"the id"}
                 : grid.parts > 1     ? std::vector<std::string>(6, "the memory of a fake")
                                      : std::vector<std::string>{};
      DeviceRankMakers makers = kFakes;
      makers.join = [](const std::vector<DeviceRank*>& ranks, int all, HaloWay by,
                       const std::vector<std::string>& told) -> std::unique_ptr<DeviceRanks> {
        EXPECT_EQ(ranks.size(), 1u);
        EXPECT_EQ(all, 6);
        EXPECT_EQ(told, expected);
        return std::make_unique<FakeRanks>(ranks, by);
      };
      const RankSections sections =
          RankSections::of(a, plain_blocks(a, std::vector<Index>{grid.parts}));
      run_as_threads(grid.size(), [&](Communicator& communicator) {
        DeviceSpmmRank rank(
            communicator, grid, testing::part_of(a, sections, grid.part_of(communicator.rank())),
            default_spmm_problem(a, 4), DeviceSetup{makers, "auto", {}, way, false});
        rank.connect();
        EXPECT_EQ(rank.choice(), "fake");
        EXPECT_EQ(rank.bytes_sent(), 0u);  // asked of the rank's own, which is the first there
        rank.disconnect();
      });
    }
  }
}

/// A tridiagonal matrix: the halo of a block is in its first and last row.
CsrMatrix tridiagonal(Index rows) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> columns;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = std::max(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) columns.push_back(j);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const auto count = static_cast<Offset>(columns.size());
  std::vector<float> numbers;
  for (Offset at = 0; at < count; ++at) numbers.push_back(static_cast<float>(at % 5 + 1));
  return CsrMatrix(rows, rows, Buffer<Offset>::copy_of(offsets.data(), Offset{rows} + 1),
                   Buffer<Index>::copy_of(columns.data(), count),
                   ValueArray::from(Buffer<float>::copy_of(numbers.data(), count)));
}

TEST(RanksDeviceSpmm, RowsWithoutAHaloAreLeftAlone) {
  const CsrMatrix a = tridiagonal(40);
  expect_device_product(a, {4, 1}, 3, 3);
  const RankSections sections = RankSections::of(a, plain_blocks(a, std::vector<Index>{4}));
  const RankPart part = testing::part_of(a, sections, 1);
  std::vector<Index> rows;
  const CsrMatrix few = rows_with_entries(part.halo, &rows);
  EXPECT_EQ(rows, (std::vector<Index>{0, part.halo.rows() - 1}));
  EXPECT_EQ(few.rows(), 2);
  EXPECT_EQ(few.nnz(), part.halo.nnz());
  validate(few, "rows with entries");

  // Half of all rows: it is cheaper to touch all.
  EXPECT_TRUE(identical(rows_with_entries(a, &rows), a));
  EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace csrkit::ranks
