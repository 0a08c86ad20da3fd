#include "cpu/spmm/choose_settings.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cpu/common/caches.h"
#include "cpu/spmm/reads_of_b.h"
#include "tests/unit/cpu/spmm/matrices.h"

namespace csrkit::cpu {
namespace {

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
    const std::vector<std::string> candidates = candidate_variants(default_spmm_problem(a, 64));
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

}  // namespace
}  // namespace csrkit::cpu
