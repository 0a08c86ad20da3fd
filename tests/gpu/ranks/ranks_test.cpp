// Products on ranks with GPUs: as many ranks as wanted share those that are there. Lists and grids
// are tested without any GPU in tests/unit/ranks/device_spmm_test.cpp.
#include "gpu/ranks/ranks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

#include "gpu/device/device_csr.h"
#include "gpu/ranks/far_memory.h"
#include "gpu/ranks/links.h"
#include "gpu/ranks/meeting.h"
#include "gpu/ranks/rank.h"
#include "gpu/ranks/rows.h"
#include "ranks/device_spmm.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/ranks/fake_nccl.h"
#include "tests/unit/ranks/integer_products.h"

namespace csrkit::testing {

namespace {

using ranks::Communicator;
using ranks::DeviceSetup;
using ranks::DeviceSpmmRank;
using ranks::Grid;
using ranks::SpmmRank;
using ranks::testing::integer_matrix;

const DeviceRankMakers kWithFakeNccl = {
    gpu::make_device_rank,
    [](const std::vector<DeviceRank*>& ranks, int all, HaloWay way,
       const std::vector<std::string>& told) {
      return gpu::join_device_ranks(ranks, all, way, told, &fake_nccl());
    },
    []() -> std::string { return std::string(sizeof(gpu::NcclId), 'x'); },
    gpu::device_addresses,
    gpu::why_no_peers,
    gpu::sample_memory,
    gpu::why_not_read,
    gpu::why_no_nccl,
    gpu::make_device_links};

int number_of_gpus() {
  int count = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  return count;
}

/// Ranks take the GPUs in turn.
std::unique_ptr<SpmmRank> gpu_rank(Communicator& communicator, const Grid& grid, RankPart part,
                                   const SpmmProblem& problem, DeviceSetup setup) {
  setup.options.where.device = communicator.rank() % number_of_gpus();
  setup.options.deterministic = !setup.gathers_all;  // the vendor's kernel promises no bits
  setup.options.where.threads = 1;
  return std::make_unique<DeviceSpmmRank>(communicator, grid, std::move(part), problem,
                                          std::move(setup));
}

void expect_gpu_product(const CsrMatrix& a, const Grid& grid, Index dense_cols, int power = 1,
                        const std::optional<PartBorders>& borders = std::nullopt,
                        const std::string& kernel = "auto", const std::vector<Index>& split = {}) {
  for (const HaloWay way : {HaloWay::peer, HaloWay::nccl}) {
    SCOPED_TRACE(name_of(way));
    ranks::testing::expect_product(
        [&](Communicator& communicator, const Grid& of, RankPart part, const SpmmProblem& problem) {
          return gpu_rank(communicator, of, std::move(part), problem,
                          {kWithFakeNccl, kernel, {}, way});
        },
        a, grid, dense_cols, power, borders, split);
  }
}

using GpuRanks = GpuTest;

TEST_F(GpuRanks, GridsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 1);
  for (const Grid& grid : {Grid{1, 1}, Grid{1, 3}, Grid{2, 1}, Grid{4, 1}, Grid{2, 2}}) {
    for (const Index dense_cols : {5, 32, 128}) expect_gpu_product(a, grid, dense_cols);
  }
  expect_gpu_product(integer_matrix(40, 170, 3), {4, 1}, 4);
  expect_gpu_product(integer_matrix(170, 40, 4), {4, 2}, 7);
}

TEST_F(GpuRanks, PartsMayBeEmpty) {
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_gpu_product(integer_matrix(5, 5, 5), {5, 1}, 3, 2, borders);
}

TEST_F(GpuRanks, PowersKeepTheirOperandsInPlace) {
  for (const int power : {2, 3, 4}) expect_gpu_product(integer_matrix(30, 30, 6), {4, 1}, 3, power);
}

/// One that cannot be captured is queued again each time.
TEST_F(GpuRanks, KernelsWithoutGraphsToo) {
  expect_gpu_product(integer_matrix(90, 90, 7), {3, 1}, 16, 2, std::nullopt,
                     "v0_thread_per_element");
  expect_gpu_product(integer_matrix(90, 90, 7), {3, 1}, 16, 2, std::nullopt,
                     "v0_thread_per_element", {45});
}

/// The full row gets a sum of every other rank.
TEST_F(GpuRanks, SplitRowsGiveTheExactProduct) {
  const auto expect = [](const CsrMatrix& a, const Grid& grid, Index dense_cols, int power,
                         const std::vector<Index>& split,
                         const std::optional<PartBorders>& borders = std::nullopt) {
    expect_gpu_product(a, grid, dense_cols, power, borders, "auto", split);
  };
  const CsrMatrix a = integer_matrix(150, 150, 8);
  for (const std::vector<Index>& split :
       {std::vector<Index>{75}, {0, 74, 75, 76, 149}, {3, 10, 11, 12, 13, 75}}) {
    for (const Grid& grid : {Grid{2, 1}, Grid{3, 1}, Grid{4, 2}, Grid{8, 1}}) {
      for (const Index dense_cols : {5, 32, 300}) expect(a, grid, dense_cols, 1, split);
    }
    for (const int power : {2, 3}) expect(a, {4, 1}, 3, power, split);
  }
  std::vector<Index> all(40);
  std::iota(all.begin(), all.end(), 0);
  expect(integer_matrix(40, 170, 3), {5, 1}, 4, 1, all);
  expect(integer_matrix(170, 40, 4), {4, 2}, 7, 1, all);
  expect(integer_matrix(5, 5, 5), {5, 1}, 3, 1, {1, 2, 4},
         PartBorders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}});
}

TEST_F(GpuRanks, SumsOfSplitRowsHaveTheKindOfC) {
  for (const HaloWay way : {HaloWay::peer, HaloWay::nccl}) {
    SCOPED_TRACE(name_of(way));
    const auto make = [&](Communicator& communicator, const Grid& of, RankPart part,
                          const SpmmProblem& problem) {
      return gpu_rank(communicator, of, std::move(part), problem, {kWithFakeNccl, "auto", {}, way});
    };
    for (const ValueKind b : {ValueKind::f16, ValueKind::bf16}) {
      ranks::testing::expect_sums_of_the_kind_of_c(make, b, b);
    }
    ranks::testing::expect_sums_of_the_kind_of_c(make, ValueKind::f64, ValueKind::f64);
  }
}

/// `use` gets every rank, connected, with B in place.
void with_gpu_ranks(const CsrMatrix& a, const Grid& grid, Index dense_cols, HaloWay way,
                    const std::function<void(SpmmRank&, Communicator&)>& use,
                    const std::vector<Index>& split = {}) {
  const RankSections sections =
      RankSections::of(a, plain_blocks(a, std::vector<Index>{grid.parts}, split), 0, {}, split);
  ranks::run_as_threads(grid.size(), [&](Communicator& communicator) {
    const auto rank = gpu_rank(
        communicator, grid, ranks::testing::part_of(a, sections, grid.part_of(communicator.rank())),
        default_spmm_problem(a, dense_cols), {kWithFakeNccl, "auto", {}, way});
    rank->connect();
    ranks::testing::fill_b(*rank);
    use(*rank, communicator);
    communicator.barrier();
  });
}

/// The graph runs again and again: the same bits each time, whichever way rows travel.
void expect_the_same_bits(const CsrMatrix& a, const Grid& grid, const std::vector<Index>& split) {
  std::vector<std::vector<unsigned char>> first(static_cast<std::size_t>(grid.size()));
  for (const HaloWay way : {HaloWay::peer, HaloWay::nccl}) {
    const auto use = [&](SpmmRank& rank, Communicator& communicator) {
      std::vector<unsigned char>& expected = first[static_cast<std::size_t>(communicator.rank())];
      for (int run = 0; run < 4; ++run) {
        rank.multiply(1);
        rank.fetch();
        const ConstDenseView c = rank.c();
        const auto* const bytes = c.as<unsigned char>();
        std::vector<unsigned char> now(bytes,
                                       bytes + Offset{c.rows} * c.cols * Offset{size_of(c.kind)});
        if (expected.empty()) expected = now;
        ASSERT_EQ(now, expected) << name_of(way) << ", run " << run;
      }
      const CheckResult check =
          ranks::check_sampled_rows(rank, ranks::testing::true_row(rank),
                                    [&](Index row) { return ranks::testing::row_of(a, row); });
      EXPECT_TRUE(check.passed) << check.failure;
    };
    with_gpu_ranks(a, grid, 33, way, use, split);
  }
}

TEST_F(GpuRanks, RepeatedProductsHaveTheSameBits) {
  const CsrMatrix& a = battery_matrix("power_law");
  expect_the_same_bits(a, {3, 1}, {});
  std::vector<Index> long_rows;
  for (Index row = 0; row < a.rows(); ++row) {
    if (a.row_length(row) > 4 * a.nnz() / a.rows()) long_rows.push_back(row);
  }
  ASSERT_GT(long_rows.size(), 2u);
  expect_the_same_bits(a, {4, 2}, long_rows);
}

/// Counted by the library that is called, apart from the program: of one product, as queued.
void expect_promised_bytes(const CsrMatrix& a, const std::vector<Index>& split) {
  std::uint64_t promised = 0;
  take_fake_bytes();
  const auto use = [&](SpmmRank& rank, Communicator& communicator) {
    rank.multiply(1);
    if (communicator.rank() > 0) return;
    const RankSections sections =
        RankSections::of(a, plain_blocks(a, std::vector<Index>{4}, split), 0, {}, split);
    Index sums = 0;
    for (Index part = 0; part < 4; ++part) {
      const PartHead head = sections.lists(0, part).head;
      sums += head.sums_received;
      promised += static_cast<std::uint64_t>(head.halo_cols + head.sums_received) * 6 * 4;
    }
    EXPECT_EQ(sums > 0, !split.empty());
    EXPECT_EQ(take_fake_bytes(), 3 * promised);  // two products to warm up, one recorded
  };
  with_gpu_ranks(a, {4, 2}, 6, HaloWay::nccl, use, split);
  EXPECT_GT(promised, 0u);
}

TEST_F(GpuRanks, MessagesCarryTheBytesThatTheListsPromise) {
  const CsrMatrix a = integer_matrix(120, 120, 8);
  expect_promised_bytes(a, {});
  expect_promised_bytes(a, {60});
}

TEST_F(GpuRanks, PhasesAndTotalsAreThere) {
  with_gpu_ranks(integer_matrix(150, 150, 9), {2, 1}, 64, HaloWay::nccl,
                 [](SpmmRank& rank, Communicator&) {
                   const SpmmSeconds seconds = rank.multiply(1);
                   EXPECT_GT(seconds.total, 0);
                   EXPECT_GT(seconds.pack, 0);
                   EXPECT_GT(seconds.own, 0);
                   EXPECT_GE(seconds.exchange, 0);
                   EXPECT_GT(seconds.halo, 0);
                   EXPECT_LT(seconds.own, 1);
                 });
}

/// An exchange that fails on the way ends in an error that names the rank, and nobody waits on.
TEST_F(GpuRanks, AFailedExchangeEndsAllRanks) {
  take_fake_aborts();
  break_fake_nccl(true);
  std::string message;
  try {
    with_gpu_ranks(integer_matrix(90, 90, 10), {3, 1}, 4, HaloWay::nccl,
                   [](SpmmRank& rank, Communicator&) {
                     for (int run = 0; run < 1000; ++run) rank.multiply(1);
                   });
  } catch (const DeviceError& error) {
    message = error.what();
  }
  break_fake_nccl(false);
  EXPECT_NE(message.find("rank 0: an exchange between GPUs failed: remote error"),
            std::string::npos)
      << message;
  EXPECT_EQ(take_fake_aborts(), 3);
}

/// The baseline: all of B to everybody, then one product, cuSPARSE's.
TEST_F(GpuRanks, AnAllGatherAndCusparseGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(90, 90, 11);
  for (const HaloWay way : {HaloWay::peer, HaloWay::nccl}) {
    ranks::testing::expect_all_gather_product(
        [&](Communicator& communicator, const Grid& of, RankPart part, const SpmmProblem& problem) {
          return gpu_rank(communicator, of, std::move(part), problem,
                          {kWithFakeNccl, "vendor_cusparse", {}, way, true, true});
        },
        a, {3, 2}, 8);
  }
}

const DeviceRankMakers kWithNccl = {
    gpu::make_device_rank, gpu::join_device_ranks, gpu::new_nccl_id,
    gpu::device_addresses, gpu::why_no_peers,      gpu::sample_memory,
    gpu::why_not_read,     gpu::why_no_nccl,       gpu::make_device_links};

/// NCCL refuses ranks that share a GPU; one alone may send to itself.
/// As processes would: each rank drives itself, reads the other's memory by what that tells of it,
/// and meets it on the GPU. Two ranks, as more would share the queues of one GPU, and wait there
/// for who stands behind them.
void expect_product_of_processes(const CsrMatrix& a, Index dense_cols, int power = 1,
                                 const std::vector<Index>& split = {},
                                 const std::string& kernel = "auto") {
  for (const bool is_one_process : {true, false}) {  // the first loads kernels, which waits for all
    SCOPED_TRACE(is_one_process);
    ranks::testing::expect_product(
        [&](Communicator& communicator, const Grid& of, RankPart part, const SpmmProblem& problem) {
          return gpu_rank(communicator, of, std::move(part), problem,
                          {kWithFakeNccl, kernel, {}, HaloWay::peer, is_one_process});
        },
        a, {2, 1}, dense_cols, power, std::nullopt, split);
  }
}

TEST_F(GpuRanks, RanksThatMeetOnTheirGpusGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 1);
  for (const Index dense_cols : {5, 32, 128}) expect_product_of_processes(a, dense_cols);
  expect_product_of_processes(integer_matrix(40, 170, 3), 4);
  for (const int power : {2, 3, 4}) {
    expect_product_of_processes(integer_matrix(30, 30, 6), 3, power);
  }
  expect_product_of_processes(integer_matrix(90, 90, 7), 16, 2, {}, "v0_thread_per_element");
}

TEST_F(GpuRanks, RanksThatMeetExchangeSumsOfSplitRows) {
  const CsrMatrix a = integer_matrix(150, 150, 8);
  for (const std::vector<Index>& split : {std::vector<Index>{75}, {0, 74, 75, 76, 149}}) {
    for (const Index dense_cols : {5, 32, 300}) {
      expect_product_of_processes(a, dense_cols, 1, split);
    }
    expect_product_of_processes(a, 3, 3, split);
  }
}

/// The graph is launched again and again: meetings are counted on the device.
TEST_F(GpuRanks, RanksThatMeetDoSoInEveryProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 11);
  expect_product_of_processes(a, 24);
  const RankSections sections = RankSections::of(a, plain_blocks(a, std::vector<Index>{2}));
  ranks::run_as_threads(2, [&](Communicator& communicator) {
    const auto rank =
        gpu_rank(communicator, {2, 1}, ranks::testing::part_of(a, sections, communicator.rank()),
                 default_spmm_problem(a, 24), {kWithFakeNccl, "auto", {}, HaloWay::peer, false});
    rank->connect();
    for (int run = 0; run < 20; ++run) {
      ranks::testing::fill_b(*rank);
      EXPECT_GT(rank->multiply(1 + run % 3).total, 0);
    }
    rank->fetch();
    ranks::testing::fill_b(*rank);
    rank->multiply(1);
    rank->fetch();
    const CheckResult check =
        ranks::check_sampled_rows(*rank, ranks::testing::true_row(*rank),
                                  [&](Index row) { return ranks::testing::row_of(a, row); });
    EXPECT_TRUE(check.passed) << check.failure;
    communicator.barrier();
  });
}

TEST_F(GpuRanks, ARankThatDoesNotComeIsNamed) {
  constexpr double kSecondsToWait = 8;  // also for the first product, which must come in time
  DeviceRankMakers makers = kWithFakeNccl;
  makers.join = [](const std::vector<DeviceRank*>& ranks, int all, HaloWay way,
                   const std::vector<std::string>& told) {
    return gpu::join_device_ranks(ranks, all, way, told, &fake_nccl(), kSecondsToWait);
  };
  const CsrMatrix a = integer_matrix(90, 90, 12);
  const RankSections sections = RankSections::of(a, plain_blocks(a, std::vector<Index>{2}));
  std::string message;
  ranks::run_as_threads(2, [&](Communicator& communicator) {
    const auto rank =
        gpu_rank(communicator, {2, 1}, ranks::testing::part_of(a, sections, communicator.rank()),
                 default_spmm_problem(a, 8), {makers, "auto", {}, HaloWay::peer, false});
    rank->connect();
    ranks::testing::fill_b(*rank);
    rank->multiply(1);
    communicator.barrier();
    if (communicator.rank() == 1) {  // comes to the barriers of a product, and not to its meeting
      communicator.barrier();
    } else {
      try {
        rank->multiply(1);
      } catch (const DeviceError& error) {
        message = error.what();
      }
    }
    communicator.barrier();
  });
  EXPECT_NE(message.find("rank 0 has waited"), std::string::npos) << message;
  EXPECT_NE(message.find("for rank 1, which is gone, or stuck"), std::string::npos) << message;
}

/// Flags of a meeting of three, and what lies beside them.
class MeetingFlags {
 public:
  explicit MeetingFlags(const std::vector<unsigned>& numbers) {
    CHECK_CUDA(cudaMalloc(&data_, numbers.size() * sizeof(unsigned)));
    CHECK_CUDA(cudaMemcpy(data_, numbers.data(), numbers.size() * sizeof(unsigned),
                          cudaMemcpyHostToDevice));
  }
  ~MeetingFlags() { CHECK_CUDA_NOEXCEPT(cudaFree(data_)); }
  MeetingFlags(const MeetingFlags&) = delete;
  MeetingFlags& operator=(const MeetingFlags&) = delete;
  unsigned* data() const { return data_; }
  std::vector<unsigned> numbers(std::size_t count) const {
    std::vector<unsigned> result(count);
    CHECK_CUDA(cudaMemcpy(result.data(), data_, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  unsigned* data_ = nullptr;
};

using SanitizerMeeting = GpuTest;

TEST_F(SanitizerMeeting, WritesItsFlagsAndNothingElse) {
  // The others are far ahead: nobody is waited for, whatever runs one after the other.
  const MeetingFlags mine({7, 99, 7, 77}), first({1, 2, 3, 4}), third({5, 6, 7, 8});
  gpu::Meeting meeting(1, mine.data(), {first.data(), mine.data(), third.data()}, 5);
  const gpu::WorkStream stream(false);
  for (int product = 0; product < 4; ++product) meeting.queue(stream.get());
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(meeting.missing(), -1);
  EXPECT_EQ(mine.numbers(4), (std::vector<unsigned>{7, 99, 7, 77}));
  EXPECT_EQ(first.numbers(4), (std::vector<unsigned>{1, 4, 3, 4}));
  EXPECT_EQ(third.numbers(4), (std::vector<unsigned>{5, 4, 7, 8}));
}

TEST_F(SanitizerMeeting, GivesUpWhoDoesNotCome) {
  const MeetingFlags mine({9, 0, 1, 0}), others({0, 0, 0, 0});
  gpu::Meeting meeting(1, mine.data(), {others.data(), mine.data(), others.data()}, 0.05);
  const gpu::WorkStream stream(false);
  meeting.queue(stream.get());
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(meeting.missing(), -1);
  meeting.queue(stream.get());  // the third rank came once only
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(meeting.missing(), 2);
  meeting.queue(stream.get());
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(others.numbers(4), (std::vector<unsigned>{0, 3, 0, 0}));
}

/// Numbers are compared as on a circle.
TEST_F(SanitizerMeeting, CountsBeyondTheLastNumber) {
  const MeetingFlags mine({0xfffffff0u, 0}), other({0, 0});
  gpu::Meeting meeting(1, mine.data(), {other.data(), mine.data()}, 0.05);
  const gpu::WorkStream stream(false);
  meeting.queue(stream.get());  // that is behind, not ahead
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(meeting.missing(), 0);
}

constexpr char kSampleVariable[] = "CSRKIT_TEST_SAMPLE";

std::string in_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
    text += two;
  }
  return text;
}

TEST_F(GpuRanks, AnotherProcessReadsWhatItIsTold) {
  const std::string sample = gpu::sample_memory(0);
  EXPECT_EQ(gpu::sample_memory(0), sample);
  EXPECT_EQ(gpu::why_not_read(0, sample), "");  // a thread of the same process
  EXPECT_NE(gpu::why_not_read(0, "nonsense"), "");
  std::string of_nobody = sample;
  for (char& byte : of_nobody) byte = static_cast<char>(byte ^ 0x55);
  EXPECT_NE(gpu::why_not_read(0, of_nobody), "");
  char path[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", path, sizeof path - 1), 0);
  ::setenv(kSampleVariable, in_hex(sample).c_str(), 1);
  const std::string command = std::string("'") + path +
                              "' --gtest_filter=GpuRanksChild.ReadsTheSampleOfItsParent " +
                              ">/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  ::unsetenv(kSampleVariable);
}

/// Run by the test above, in a process of its own.
TEST(GpuRanksChild, ReadsTheSampleOfItsParent) {
  const char* const hex = std::getenv(kSampleVariable);
  if (hex == nullptr) return;
  std::string sample;
  for (std::size_t at = 0; at + 1 < std::strlen(hex); at += 2) {
    sample += static_cast<char>(std::stoi(std::string(hex + at, 2), nullptr, 16));
  }
  EXPECT_EQ(gpu::why_not_read(0, sample), "");
}

TEST_F(GpuRanks, NcclItselfCarriesWhatARankSendsToItself) {
  if (!gpu::why_no_nccl().empty()) GTEST_SKIP() << gpu::why_no_nccl();
  ranks::testing::expect_all_gather_product(
      [&](Communicator& communicator, const Grid& of, RankPart part, const SpmmProblem& problem) {
        return gpu_rank(communicator, of, std::move(part), problem,
                        {kWithNccl, "auto", {}, HaloWay::nccl, true, true});
      },
      integer_matrix(90, 90, 12), {1, 1}, 8);
}

/// A GPU for each rank, and the real library between them.
TEST_F(GpuRanks, NcclItselfCarriesRowsBetweenGpus) {
  const int gpus = number_of_gpus();
  if (gpus < 2) GTEST_SKIP() << "there is one GPU";
  if (!gpu::why_no_nccl().empty()) GTEST_SKIP() << gpu::why_no_nccl();
  const auto make = [&](Communicator& communicator, const Grid& of, RankPart part,
                        const SpmmProblem& problem) {
    return gpu_rank(communicator, of, std::move(part), problem,
                    {kWithNccl, "auto", {}, HaloWay::nccl});
  };
  const CsrMatrix a = integer_matrix(150, 150, 13);
  for (const std::vector<Index>& split : {std::vector<Index>{}, {3, 75}}) {
    for (const int power : {1, 2, 3}) {
      ranks::testing::expect_product(make, a, {gpus, 1}, 32, power, std::nullopt, split);
    }
  }
  ranks::testing::expect_all_gather_product(
      [&](Communicator& communicator, const Grid& of, RankPart part, const SpmmProblem& problem) {
        return gpu_rank(communicator, of, std::move(part), problem,
                        {kWithNccl, "vendor_cusparse", {}, HaloWay::nccl, true, true});
      },
      a, {gpus, 1}, 8);
}

/// Each GPU moves from the next one what it was told to, in all three ways.
TEST_F(GpuRanks, ExchangesOfGpusAreTimed) {
  std::vector<int> devices(static_cast<std::size_t>(std::max(2, number_of_gpus())));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i] = static_cast<int>(i) % number_of_gpus();
  }
  const auto links = gpu::make_device_links(devices, 1 << 20, &fake_nccl());
  take_fake_bytes();
  for (const LinkWay way : {LinkWay::copy, LinkWay::peer, LinkWay::nccl}) {
    for (const std::uint64_t bytes : {std::uint64_t{512}, std::uint64_t{1} << 20}) {
      for (const double seconds : links->exchange_seconds(way, bytes, 128)) {
        EXPECT_GT(seconds, 0) << bytes;
        EXPECT_LT(seconds, 1) << bytes;
      }
      EXPECT_TRUE(links->is_moved()) << static_cast<int>(way) << ", " << bytes;
    }
  }
  EXPECT_GT(take_fake_bytes(), 0u);
}

/// Numbers of rows on the device.
class DeviceNumbers {
 public:
  explicit DeviceNumbers(const std::vector<Index>& numbers) {
    const std::size_t bytes = numbers.size() * sizeof(Index);
    CHECK_CUDA(cudaMalloc(&data_, bytes));
    CHECK_CUDA(cudaMemcpy(data_, numbers.data(), bytes, cudaMemcpyHostToDevice));
  }
  ~DeviceNumbers() { CHECK_CUDA_NOEXCEPT(cudaFree(data_)); }
  DeviceNumbers(const DeviceNumbers&) = delete;
  DeviceNumbers& operator=(const DeviceNumbers&) = delete;
  const Index* data() const { return data_; }

 private:
  Index* data_ = nullptr;
};

/// Each row once, in no order.
std::vector<Index> shuffled(Index rows) {
  std::vector<Index> numbers(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) numbers[static_cast<std::size_t>(i)] = (i * 7 + 5) % rows;
  return numbers;
}

// More than there are blocks, so that blocks of one row take several.
constexpr Index kManyRows = 600;

using SanitizerRanks = GpuTest;

void expect_gathered(Index cols, ValueKind kind, std::optional<gpu::FarReads> far) {
  DeviceSlice from(kManyRows, cols, kind, 0, 0), to(kManyRows, cols, kind, 0, 0);
  fill_random(from.host(), 3);
  fill_nan(to.host());
  from.upload(nullptr);
  to.upload(nullptr);
  const std::vector<Index> numbers = shuffled(kManyRows);
  const DeviceNumbers list(numbers);
  const Offset row_bytes = Offset{cols} * size_of(kind);
  const void* const source = from.device().data;
  void* const target = to.device().data;
  if (far) {
    gpu::gather_far_rows(source, list.data(), kManyRows - 1, row_bytes, target, *far, nullptr);
  } else {
    gpu::gather_rows(source, list.data(), kManyRows - 1, row_bytes, target, nullptr);
  }
  EXPECT_TRUE(to.download_and_check_surroundings(nullptr));
  for (Index i = 0; i < kManyRows - 1; ++i) {
    ASSERT_EQ(std::memcmp(to.host().as<char>() + i * row_bytes,
                          from.host().as<char>() + numbers[static_cast<std::size_t>(i)] * row_bytes,
                          static_cast<std::size_t>(row_bytes)),
              0)
        << "row " << i << " of " << cols << " columns";
  }
  EXPECT_TRUE(std::isnan(ConstDenseView(to.host()).at(kManyRows - 1, 0)));  // not asked for
}

/// Rows of any size, in words of 2, 4, 8 and 16 bytes; what is around them stays.
TEST_F(SanitizerRanks, RowsAreGathered) {
  for (const Index cols : {1, 2, 3, 7, 8, 33, 128, 257, 1000}) {
    for (const ValueKind kind : {ValueKind::f16, ValueKind::f32, ValueKind::f64}) {
      expect_gathered(cols, kind, std::nullopt);
      for (const auto far : {gpu::FarReads::alone, gpu::FarReads::beside, gpu::FarReads::quiet}) {
        expect_gathered(cols, kind, far);
      }
    }
  }
}

template <class Number>
void expect_added(Index cols, ValueKind kind) {
  DeviceSlice c(kManyRows, cols, kind, 0, 0), terms(kManyRows - 1, cols, kind, 0, 0);
  fill_random(c.host(), 4);
  fill_random(terms.host(), 5);
  c.upload(nullptr, 0xff);
  terms.upload(nullptr, 0xff);
  const std::vector<Index> numbers = shuffled(kManyRows);
  std::vector<Number> expected(c.host().as<Number>(),
                               c.host().as<Number>() + Offset{kManyRows} * cols);
  for (Index i = 0; i < kManyRows - 1; ++i) {
    for (Index j = 0; j < cols; ++j) {
      expected[static_cast<std::size_t>(Offset{numbers[static_cast<std::size_t>(i)]} * cols + j)] +=
          terms.host().as<Number>()[Offset{i} * cols + j];
    }
  }
  const DeviceNumbers list(numbers);
  gpu::add_rows(c.device(), list.data(), terms.device(), nullptr);
  EXPECT_TRUE(c.download_and_check_surroundings(nullptr));
  EXPECT_EQ(std::memcmp(c.host().data, expected.data(), expected.size() * sizeof(Number)), 0)
      << cols << " columns of " << name_of(kind);
}

/// The last number of the list is not asked for: that row of C keeps what it has.
TEST_F(SanitizerRanks, RowsAreAdded) {
  for (const Index cols : {1, 2, 3, 7, 33, 256, 300}) {
    expect_added<float>(cols, ValueKind::f32);
    expect_added<double>(cols, ValueKind::f64);
  }
}

TEST(GpuRanksOnTheHost, NcclIsDeclaredAsItIs) {
#if __has_include(<nccl.h>)
  static_assert(sizeof(ncclUniqueId) == sizeof(gpu::NcclId));
  static_assert(ncclSuccess == gpu::kNcclSuccess && ncclInProgress == gpu::kNcclInProgress);
  static_assert(ncclInt8 == gpu::kNcclBytes);
  static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int));
#else
  GTEST_SKIP() << "no nccl.h here";
#endif
}

TEST(GpuRanksOnTheHost, ErrorsOfNcclNameTheRank) {
  EXPECT_NO_THROW(gpu::require_nccl(fake_nccl(), gpu::kNcclInProgress, "ncclSend", 3));
  try {
    gpu::require_nccl(fake_nccl(), 6, "ncclSend", 3);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 3: ncclSend: remote error"), std::string::npos);
  }
}

}  // namespace
}  // namespace csrkit::testing
