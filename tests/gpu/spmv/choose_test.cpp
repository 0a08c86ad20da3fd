// The rules of auto and the arithmetic of compressed columns: on the host, without a GPU.

#include "gpu/spmv/choose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu/spmv/compressed/columns.h"
#include "gpu/spmv/jagged/pieces.h"

namespace csrkit::gpu {

namespace {

/// A profile as 2D Poisson of `rows` points has it, f64, with columns of 2 bytes and few distinct
/// values, of a byte each.
SpmvProfile stencil(Index rows) {
  SpmvProfile profile;
  const auto n = static_cast<std::uint64_t>(rows);
  profile.rows = rows;
  profile.nnz = Offset{rows} * 5;
  profile.vector_bytes = n * 16;
  profile.x_bytes = n * 8;
  profile.csr_bytes = n * 64;
  profile.jagged_bytes = n * 65;
  profile.jagged_height = 8;
  profile.gathered_sectors = profile.nnz / 4;
  profile.sell_bytes = n * 60;
  profile.compressed_bytes = n * 16;
  profile.bsr_bytes = n * 150;
  profile.sell_places = profile.nnz;
  profile.bsr_places = profile.nnz * 4;
  profile.longest_slice = 5;
  profile.available_bytes = std::uint64_t{100} << 30;
  return profile;
}

}  // namespace

TEST(ChooseSpmv, TakesFewerBytesWhereEntriesAreRegular) {
  const SpmvChoice choice = choose_spmv(stencil(4'000'000));
  EXPECT_STREQ(choice.kernel, "compressed");
  EXPECT_NE(choice.because.find("64.0 MB in the place of 256.0 MB"), std::string::npos)
      << choice.because;
}

TEST(ChooseSpmv, TakesSellWhereNothingCanBeCompressed) {
  SpmvProfile profile = stencil(4'000'000);
  profile.compressed_bytes = profile.sell_bytes + profile.sell_bytes / 30;
  EXPECT_STREQ(choose_spmv(profile).kernel, "sell");
}

TEST(ChooseSpmv, LeavesLongRowsToPieces) {
  SpmvProfile profile = stencil(400'000);
  profile.longest_slice = 100'000;
  profile.sell_places += 32 * profile.longest_slice;
  profile.sell_bytes += 32 * 12 * 100'000;
  profile.compressed_bytes += 32 * 12 * 100'000;
  EXPECT_STREQ(choose_spmv(profile).kernel, "jagged");
}

TEST(ChooseSpmv, TakesAStencilWhereThereIsOneAndItIsSmaller) {
  SpmvProfile profile = stencil(4'000'000);
  profile.stencil_bytes = static_cast<std::uint64_t>(profile.rows) * 41;
  profile.stencil_places = profile.nnz;
  EXPECT_STREQ(choose_spmv(profile).kernel, "stencil");
  profile.stencil_bytes = static_cast<std::uint64_t>(profile.rows) * 200;  // mostly gaps
  profile.stencil_places = profile.nnz * 5;
  EXPECT_STREQ(choose_spmv(profile).kernel, "compressed");
}

TEST(ChooseSpmv, CountsTheDiagonalsOfAShortStencil) {
  // 2,506 rows of 59 entries on an H100, f64: 10.7 us as a stencil, 7.0 as jagged.
  SpmvProfile profile = stencil(2506);
  profile.nnz = profile.stencil_places = Offset{profile.rows} * 59;
  profile.csr_bytes = static_cast<std::uint64_t>(profile.nnz) * 12;
  profile.jagged_bytes = profile.csr_bytes;
  profile.stencil_bytes = static_cast<std::uint64_t>(profile.nnz) * 8;
  profile.sell_bytes = profile.compressed_bytes = profile.bsr_bytes = 0;  // no candidates
  EXPECT_STREQ(choose_spmv(profile).kernel, "jagged");
  EXPECT_GT(model_seconds("stencil", profile), 8e-6);
  profile.stencil_places = Offset{profile.rows} * 9;  // as few as mostly
  EXPECT_STREQ(choose_spmv(profile).kernel, "stencil");
}

TEST(ChooseSpmv, TakesFullBlocks) {
  SpmvProfile profile = stencil(4'000'000);
  profile.rows /= 10;  // of 50 entries
  profile.longest_slice = 50;
  profile.compressed_bytes = profile.sell_bytes;
  profile.bsr_bytes = static_cast<std::uint64_t>(profile.nnz) * 42 / 5;
  profile.bsr_places = profile.nnz;
  EXPECT_STREQ(choose_spmv(profile).kernel, "bsr");
}

TEST(ChooseSpmv, CountsWithTheCardThatIsThere) {
  SpmvProfile large = stencil(4'000'000), small = stencil(100'000);
  const double seconds = model_seconds("sell", large);
  const double small_seconds = model_seconds("sell", small);
  large.card.memory_bytes_per_second /= 2;
  small.card.memory_bytes_per_second /= 2;
  EXPECT_GT(model_seconds("sell", large), 1.5 * seconds);
  EXPECT_EQ(model_seconds("sell", small), small_seconds);  // L2 holds it
  small.card.l2_bytes /= 100;
  EXPECT_GT(model_seconds("sell", small), small_seconds);
}

namespace {

struct Tally {
  int products = 0, close = 0, far = 0;
  void add(double taken, double best) {
    ++products;
    close += taken <= 1.03 * best ? 1 : 0;
    far += taken > 1.15 * best ? 1 : 0;
  }
  double share(int count) const { return static_cast<double>(count) / std::max(products, 1); }
  std::string text() const {
    return std::to_string(products) + " products, " + std::to_string(100 * share(close)) +
           " % within 3 %, " + std::to_string(100 * share(far)) + " % beyond 15 %";
  }
};

CardRates card_from(const nlohmann::json& record) {
  CardRates card;
  card.cycles_per_second = record["clock_hz"].get<double>() * record["multiprocessors"].get<int>();
  card.l2_bytes = record["l2_bytes"];
  card.memory_bytes_per_second = record["memory_bytes_per_second"];
  return card;
}

SpmvProfile profile_from(const nlohmann::json& record) {
  const nlohmann::json& seen = record["spmv"];
  const std::string kinds = record["kinds"];
  SpmvProfile profile;
  profile.rows = record["rows"];
  profile.nnz = record["nnz"];
  profile.vector_bytes = seen["vector"];
  profile.x_bytes = profile.vector_bytes * record["cols"].get<std::uint64_t>() /
                    (record["cols"].get<std::uint64_t>() + record["rows"].get<std::uint64_t>());
  profile.csr_bytes = seen["csr"];
  profile.jagged_bytes = seen["jagged"];
  profile.jagged_places = seen["jagged_places"];
  profile.jagged_height = seen["jagged_height"];
  profile.jagged_is_padded = seen["jagged_padded"] == 1;
  profile.sell_bytes = seen["sell"];
  profile.compressed_bytes = seen["compressed"];
  profile.bsr_bytes = seen["bsr"];
  profile.stencil_bytes = seen["stencil"];
  profile.gathered_sectors = seen["sectors"];
  profile.sell_places = seen["sell_places"];
  profile.bsr_places = seen["bsr_places"];
  profile.stencil_places = seen["stencil_places"];
  profile.longest_slice = seen["longest_slice"];
  profile.warps_per_slice = seen["warps_per_slice"];
  profile.available_bytes = std::uint64_t{70} << 30;
  return profile;
}

struct Wanted {
  int products;       // at least
  double close, far;  // shares: at least, at most
};

void expect_near(const Tally& tally, const Wanted& wanted) {
  EXPECT_GE(tally.products, wanted.products);
  EXPECT_GE(tally.share(tally.close), wanted.close) << tally.text();
  EXPECT_LE(tally.share(tally.far), wanted.far) << tally.text();
}

/// How near choices are to the fastest kernels of recorded products. A third of the matrices, by
/// name, had no part in the fit.
struct Tallies {
  Tally fitted, others;
};

/// `name_end`: what follows it in a matrix's name is not part of it.
Tallies tallies_of(const std::string& record_file, const char* name_end) {
  const std::string unpack = "gzip -dc " CSRKIT_SOURCE_DIR "/docs/results/" + record_file;
  const std::unique_ptr<FILE, int (*)(FILE*)> lines(popen(unpack.c_str(), "r"), &pclose);
  Tallies tallies;
  CardRates card;
  char line[4096];
  while (lines && std::fgets(line, sizeof line, lines.get()) != nullptr) {
    const nlohmann::json record = nlohmann::json::parse(line);
    if (record.contains("device")) card = card_from(record);
    if (!record.contains("spmv")) continue;
    SpmvProfile profile = profile_from(record);
    profile.card = card;
    const std::string chosen = choose_spmv(profile).kernel;
    // It was no candidate when older records were made.
    if (chosen == "csr_scalar" && !record.contains("spmv.csr_scalar")) continue;
    double best = std::numeric_limits<double>::infinity();
    for (const char* each : {"row_bins", "spmv.csr_balanced", "spmv.jagged", "spmv.sell",
                             "spmv.compressed", "spmv.bsr", "spmv.stencil", "spmv.csr_scalar"}) {
      best = std::min(best, record.value(each, best));
    }
    const std::string matrix = record["matrix"];
    int sum = 0;
    for (const char each : matrix.substr(0, matrix.rfind(name_end))) {
      sum += static_cast<unsigned char>(each);
    }
    EXPECT_TRUE(record.contains("spmv." + chosen)) << matrix << " " << chosen;
    const double taken = record.value("spmv." + chosen, best);
    (sum % 3 == 1 ? tallies.others : tallies.fitted).add(taken, best);
  }
  return tallies;
}

}  // namespace

// 108 generated and 104 real matrices in three kinds on an H100.
TEST(ChooseSpmv, IsNearTheFastestKernelOnRecordedProducts) {
  const Tallies tallies = tallies_of("h100/data/spmv_choices.jsonl.gz", "\n");
  expect_near(tallies.fitted, {300, 0.95, 0.015});
  expect_near(tallies.others, {150, 0.95, 0.015});
}

// The 171 matrices of the sixth and the seventh blind set, of which only csr_scalar's costs have
// learnt, on an H200.
TEST(ChooseSpmv, IsNearTheFastestKernelOnBlindSets) {
  const Tallies tallies = tallies_of("h200/data/spmv_choices_sets.jsonl.gz", "\n");
  expect_near(tallies.fitted, {220, 0.955, 0.009});
  expect_near(tallies.others, {100, 0.90, 0.03});
}

TEST(ChooseSpmv, TakesAThreadARowWhereRowsAreShort) {
  SpmvProfile profile = stencil(500'000);
  profile.nnz = Offset{profile.rows} * 3 / 2;
  profile.csr_bytes = static_cast<std::uint64_t>(profile.nnz) * 12 + 2'000'000;
  profile.sell_bytes = profile.jagged_bytes = profile.csr_bytes;
  profile.compressed_bytes = profile.bsr_bytes = profile.stencil_bytes = 0;
  profile.sell_places = profile.jagged_places = profile.nnz;
  profile.gathered_sectors = profile.nnz / 8;
  profile.longest_slice = 4;
  EXPECT_STREQ(choose_spmv(profile).kernel, "csr_scalar");
  profile.longest_slice = 65;
  EXPECT_STRNE(choose_spmv(profile).kernel, "csr_scalar");
}

// Patterns of real matrices side by side, grids and random graphs, on an H200: 224 products of 242
// are larger than 0.8 of L2.
TEST(ChooseSpmv, IsNearTheFastestKernelWhereAComesFromMemory) {
  const Tallies tallies = tallies_of("h200/data/spmv_streamed.jsonl.gz", "-");
  expect_near(tallies.fitted, {140, 0.88, 0.04});
  expect_near(tallies.others, {80, 0.88, 0.07});
}

TEST(ChooseSpmv, PromisesNoMoreThanMemoryGives) {
  SpmvProfile profile = stencil(40'000'000);
  profile.rows /= 50;
  profile.longest_slice = 250;
  profile.bsr_bytes = static_cast<std::uint64_t>(profile.nnz) * 10;
  profile.bsr_places = profile.nnz;
  const double bytes = static_cast<double>(profile.bsr_bytes) - profile.card.l2_bytes;
  EXPECT_GE(model_seconds("bsr", profile), bytes / profile.card.memory_bytes_per_second);
}

TEST(ChooseSpmv, StaysWithCsrWhereThereIsNoRoom) {
  SpmvProfile profile = stencil(4'000'000);
  profile.available_bytes = 1000;
  const SpmvChoice choice = choose_spmv(profile);
  EXPECT_STREQ(choice.kernel, "csr_balanced");
  EXPECT_NE(choice.because.find("no room"), std::string::npos) << choice.because;
  EXPECT_STREQ(choose_spmv(SpmvProfile()).kernel, "csr_balanced");
}

constexpr int kMultiprocessors = 132;  // that hold 1,056 blocks, or 660

TEST(Jagged, HasPiecesThatFitBesideEachOtherOrLowOnes) {
  const auto shape = [](Index rows, Offset nnz, Offset pieces) {
    return sorted_jagged_shape(rows, nnz, pieces, kMultiprocessors);
  };
  EXPECT_EQ(shape(1000, 3000, 10), (JaggedShape{4, 4}));
  // 151,600 and 157,301 rows of 19 on an H100, f64: 27 us both, where the second took 38.
  EXPECT_EQ(shape(151'600, 2'880'400, 1049), (JaggedShape{16, 4}));
  EXPECT_EQ(shape(157'301, 2'988'719, 1070), (JaggedShape{8, 8}));
  EXPECT_EQ(shape(29'920, 2'033'200, 584), (JaggedShape{16, 8}));
  EXPECT_EQ(shape(55'590, 4'218'660, 1180), (JaggedShape{16, 8}));
  EXPECT_EQ(shape(0, 0, 0), (JaggedShape{4, 4}));
}

TEST(Jagged, IsPaddedWhereThatIsLittle) {
  const auto first = [](Index rows, Offset nnz, int value_bytes) {
    return first_jagged_shape(rows, nnz, value_bytes, kMultiprocessors);
  };
  EXPECT_EQ(first(1000, 3000, 8), (JaggedShape{4, 4, true}));
  // A block holds 1,024 entries of low segments, 2,048 of high ones.
  EXPECT_EQ(first(100, 102'400, 8), (JaggedShape{4, 4, true}));
  EXPECT_EQ(first(100, 139'156, 8), (JaggedShape{8, 8, true}));
  EXPECT_EQ(first(100, 204'801, 8), (JaggedShape{4, 4, true}));
  EXPECT_EQ(first(55'590, 4'218'660, 4), (JaggedShape{8, 8, true}));
  EXPECT_EQ(first(55'590, 4'218'660, 8), (JaggedShape{16, 4}));
  EXPECT_EQ(first(60'000, 9'000'000, 8), (JaggedShape{16, 8}));  // rounds, without counting them
  EXPECT_EQ(first(300'000, 6'301'530, 8), (JaggedShape{4, 4, true}));
  const auto then = [](JaggedShape before, Index rows, Offset nnz, JaggedCounts counts) {
    return jagged_shape(before, rows, nnz, counts, kMultiprocessors);
  };
  EXPECT_EQ(then({4, 4, true}, 1000, 3000, {10, 0}), (JaggedShape{4, 4, true}));
  EXPECT_EQ(then({4, 4, true}, 1000, 3000, {10, 3000}), (JaggedShape{4, 4, true}));
  EXPECT_EQ(then({4, 4, true}, 1'000'000, 2'000'000, {3906, 0}), (JaggedShape{4, 4}));
  EXPECT_EQ(then({4, 4, true}, 300'000, 6'301'530, {6800, 0}), (JaggedShape{4, 4, true}));
  EXPECT_EQ(then({4, 4, true}, 300'000, 6'301'530, {6800, 3'000'000}), (JaggedShape{8, 8}));
  EXPECT_EQ(then({8, 8, true}, 55'590, 4'218'660, {2200, 0}), (JaggedShape{8, 8, true}));
  EXPECT_EQ(then({8, 8, true}, 55'590, 4'218'660, {4200, 0}), (JaggedShape{16, 4}));
  EXPECT_EQ(then({16, 4}, 55'590, 4'218'660, {1180, 0}), (JaggedShape{16, 8}));
  EXPECT_EQ(then({8, 8}, 300'000, 6'301'530, {3715, 0}), (JaggedShape{8, 8}));
}

TEST(CompressedColumns, TakeTheNarrowestWidthThatLeavesRoomForPadding) {
  EXPECT_EQ(difference_bytes(true, 31), 0);
  EXPECT_EQ(difference_bytes(false, 0), 1);
  EXPECT_EQ(difference_bytes(false, 254), 1);
  EXPECT_EQ(difference_bytes(false, 255), 2);
  EXPECT_EQ(difference_bytes(false, 65'534), 2);
  EXPECT_EQ(difference_bytes(false, 65'535), 4);
  EXPECT_EQ(difference_bytes(false, 0x7ffffffe), 4);
}

TEST(CompressedColumns, ComeBackAsTheyWere) {
  EXPECT_EQ(column_behind<std::uint8_t>(1000, 254), 1254);
  EXPECT_EQ(column_behind<std::uint8_t>(1000, 255), -1);
  EXPECT_EQ(column_behind<std::uint16_t>(1000, 255), 1255);
  EXPECT_EQ(column_behind<std::uint16_t>(7, 65'535), -1);
  EXPECT_EQ(column_behind<std::uint32_t>(1, 0x7ffffffd), 0x7ffffffe);
  EXPECT_EQ(column_behind<std::uint32_t>(1, 0xffffffffu), -1);
}

TEST(CompressedColumns, StencilsTakeTwoFifthsOfCsrAndDistinctValuesLessThanCsr) {
  constexpr Offset kSlices = 100'000, kSteps = 5 * kSlices, kEntries = 32 * kSteps;
  const auto csr = static_cast<double>(kEntries * 12 + 32 * kSlices * 4);
  const auto constant =
      static_cast<double>(compressed_bytes(kSlices, kSteps, 2 * kEntries, 8, true));
  const auto distinct =
      static_cast<double>(compressed_bytes(kSlices, kSteps, 2 * kEntries, 8, false));
  EXPECT_LT(constant, 0.4 * csr);
  EXPECT_LT(distinct, 0.85 * csr);
}

}  // namespace csrkit::gpu
