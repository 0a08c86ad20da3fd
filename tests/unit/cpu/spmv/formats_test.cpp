// What the formats of SpMV store, when they refuse, and what auto makes of that.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/base/hash.h"
#include "cpu/common/caches.h"
#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "cpu/spmv/value_table.h"

namespace csrkit::cpu::spmv {
namespace {

/// Row i has the columns that `columns(i)` lists, ascending.
template <class Columns, class ValueOf>
CsrMatrix matrix_of(Index rows, Index cols, const Columns& columns, const ValueOf& value) {
  std::vector<Offset> ends{0};
  std::vector<Index> all;
  std::vector<double> values;
  for (Index i = 0; i < rows; ++i) {
    for (const Index j : columns(i)) {
      all.push_back(j);
      values.push_back(value(i, j));
    }
    ends.push_back(static_cast<Offset>(all.size()));
  }
  const auto nnz = static_cast<Offset>(all.size());
  return CsrMatrix(rows, cols, Buffer<Offset>::copy_of(ends.data(), Offset{rows} + 1),
                   Buffer<Index>::copy_of(all.data(), nnz),
                   ValueArray::from(Buffer<double>::copy_of(values.data(), nnz)));
}

double random_entry(Index i, Index j) { return random_value(3, i, j); }

/// Five diagonals of a long band.
CsrMatrix stencil(Index size, bool is_constant) {
  const auto columns = [&](Index i) {
    std::vector<Index> all;
    for (const Index offset : {-900, -1, 0, 1, 900}) {
      if (i + offset >= 0 && i + offset < size) all.push_back(i + offset);
    }
    return all;
  };
  const auto constant = [](Index i, Index j) { return i == j ? 4.0 : -1.0; };
  if (is_constant) return matrix_of(size, size, columns, constant);
  return matrix_of(size, size, columns, random_entry);
}

/// Dense blocks of size x size, far apart from each other.
CsrMatrix blocks_of(Index size, Index blocks) {
  const auto columns = [&](Index i) {
    std::vector<Index> all;
    for (const Index n : {i / size % 7, i / size / 2 + 30000, 90000 + i / size * 5 % 1000}) {
      for (Index j = 0; j < size; ++j) all.push_back(size * n + j);
    }
    return all;
  };
  return matrix_of(size * blocks, size * 100000, columns, random_entry);
}

/// Columns anywhere, so that nothing repeats.
CsrMatrix scattered(Index rows) {
  const auto columns = [&](Index i) {
    std::vector<Index> all;
    for (Index k = 0; k < 9; ++k) {
      all.push_back(k * 100000 + static_cast<Index>(below(random_word(5, i, k), 100000)));
    }
    return all;
  };
  return matrix_of(rows, 900000, columns, random_entry);
}

/// Rows of 0 to 999 entries, so that every way to cut one into chunks is there.
CsrMatrix rows_of_every_length() {
  const auto columns = [](Index i) {
    std::vector<Index> all(static_cast<std::size_t>(i));
    for (Index k = 0; k < i; ++k) all[static_cast<std::size_t>(k)] = k + (k + i) / 1001;
    return all;
  };
  return matrix_of(1000, 1001, columns, random_entry);
}

std::unique_ptr<Operator> plan_of(const char* kernel, const CsrMatrix& a, int threads = 2) {
  PlanOptions options;
  options.where.threads = threads;
  return find_kernel(spmv_kernels(), kernel).make_plan(default_spmm_problem(a, 1), options);
}

double part_of_csr(const char* kernel, const CsrMatrix& a) {
  return static_cast<double>(plan_of(kernel, a)->stored_bytes()) /
         static_cast<double>(a.size_bytes());
}

TEST(SpmvFormats, StoreWhatTheyShould) {
  EXPECT_LT(part_of_csr("compressed", stencil(20000, true)), 0.1);
  EXPECT_LT(part_of_csr("compressed", stencil(20000, false)), 0.75);
  EXPECT_LT(part_of_csr("compressed", convert_values(stencil(20000, false), ValueKind::none)), 0.3);
  EXPECT_LT(part_of_csr("bsr", blocks_of(3, 2000)), 0.75);
  EXPECT_LT(part_of_csr("compressed", scattered(3000)), 1.1) << "it never takes much more";
  EXPECT_LT(part_of_csr("csr_chunks", scattered(3000)), 1.0) << "there are no row offsets";
  EXPECT_LT(part_of_csr("csr_chunks", rows_of_every_length()), 1.02);
  EXPECT_LT(part_of_csr("csr_lanes", scattered(3000)), 1.02);
  EXPECT_LT(part_of_csr("csr_lanes", rows_of_every_length()), 1.1);
  EXPECT_LT(part_of_csr("csr_lanes", stencil(20000, false)), 0.8) << "a column for 32 rows";
  EXPECT_LT(part_of_csr("sell", scattered(3000)), 1.1);
  EXPECT_LT(part_of_csr("bsr", scattered(3000)), 1.1);
}

/// Formats hold the entries of the matrix to the bit: row i of A times unit vectors.
TEST(SpmvFormats, GiveBackEveryEntry) {
  for (const CsrMatrix& a : {stencil(1001, true), stencil(1001, false), rows_of_every_length()}) {
    for (const char* kernel : {"csr_balanced", "csr_chunks", "csr_lanes", "sell", "compressed",
                               "bsr", "hyb", "ell", "dia"}) {
      const auto plan = plan_of(kernel, a);
      DenseMatrix x(a.cols(), 1, ValueKind::f64), y(a.rows(), 1, ValueKind::f64);
      plan->bind(x.view(), y.view());
      for (const Index column : {0, 1, 500, 901, 1000}) {
        for (Index j = 0; j < a.cols(); ++j) x.view().set(j, 0, j == column ? 1.0 : 0.0);
        plan->multiply();
        for (Index i = 0; i < a.rows(); ++i) {
          double entry = 0;
          for (Offset at = a.row_offsets()[i]; at < a.row_offsets()[i + 1]; ++at) {
            if (a.col_indices()[at] == column) entry = a.view<double>().values[at];
          }
          ASSERT_EQ(y.view().as<double>()[i], entry)
              << kernel << " (" << i << ", " << column << ")";
        }
      }
    }
  }
}

/// Tasks depend on the number of threads, which rows are summed together does not.
TEST(SpmvFormats, LanesGiveTheSameBitsOnAnyNumberOfThreads) {
  const auto ragged = [](Index i) {  // runs with gaps, rows of 1 to 9 entries, a hub
    std::vector<Index> all;
    for (Index k = 0; k < (i == 77 ? 9000 : i % 9 + 1); ++k) {
      all.push_back(i == 77 ? k : (k * 1000 + i + (i % 5 == 0 ? k : 0)) % 10000);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto arrow = [](Index i) {  // long rows side by side, some of them with runs
    const bool is_long = (i >= 500 && i < 510) || (i >= 3000 && i < 3032);
    std::vector<Index> all(is_long ? 2500 : 12);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto step = static_cast<Index>(k);
      all[k] = i < 3000 ? (is_long ? 3 * step + i % 3 : 700 * step + i % 700) : step + i - 3000;
    }
    return all;
  };
  for (const CsrMatrix& a :
       {stencil(20000, false), scattered(3000), rows_of_every_length(),
        matrix_of(9000, 10000, ragged, random_entry), matrix_of(4000, 9000, arrow, random_entry)}) {
    DenseMatrix x(a.cols(), 1, ValueKind::f64), first(a.rows(), 1, ValueKind::f64);
    for (Index j = 0; j < a.cols(); ++j) x.view().set(j, 0, random_value(7, j, 0));
    const auto balanced = plan_of("csr_balanced", a);
    balanced->bind(x.view(), first.view());
    balanced->multiply();
    const std::vector<double> expected(first.view().as<double>(),
                                       first.view().as<double>() + a.rows());
    for (const int threads : {1, 2, 3, 5, 16}) {
      DenseMatrix y(a.rows(), 1, ValueKind::f64);
      const auto plan = plan_of("csr_lanes", a, threads);
      plan->bind(x.view(), threads == 1 ? first.view() : y.view());
      plan->multiply();
      for (Index i = 0; threads == 1 && i < a.rows(); ++i) {
        ASSERT_NEAR(first.view().as<double>()[i], expected[static_cast<std::size_t>(i)], 1e-11);
      }
      if (threads == 1) continue;
      for (Index i = 0; i < a.rows(); ++i) {
        ASSERT_EQ(y.view().as<double>()[i], first.view().as<double>()[i]) << i << ", " << threads;
      }
    }
  }
}

/// Rows just short of hubs: a slice of them has more entries than a task should.
TEST(SpmvFormats, LanesTakeSlicesOfLongRows) {
  const auto long_row = [](Index i) {
    std::vector<Index> all(7000);
    for (Index k = 0; k < 7000; ++k) {
      all[static_cast<std::size_t>(k)] = 7 * k + static_cast<Index>(below(random_word(5, i, k), 7));
    }
    return all;
  };
  const CsrMatrix a = matrix_of(600, 49000, long_row, random_entry);
  DenseMatrix x(a.cols(), 1, ValueKind::f64);
  for (Index j = 0; j < a.cols(); ++j) x.view().set(j, 0, random_value(7, j, 0));
  DenseMatrix expected(a.rows(), 1, ValueKind::f64), y(a.rows(), 1, ValueKind::f64);
  const auto product = [&](const char* kernel, DenseView to) {
    const auto plan = plan_of(kernel, a, 3);
    plan->bind(x.view(), to);
    plan->multiply();
  };
  product("csr_balanced", expected.view());
  product("csr_lanes", y.view());
  for (Index i = 0; i < a.rows(); ++i) {
    ASSERT_NEAR(y.view().as<double>()[i], expected.view().as<double>()[i], 1e-10) << i;
  }
}

/// Just longer than a piece, in the middle of a larger one: that of a thread with nothing else.
TEST(SpmvFormats, LanesTakeHubsInsideAPiece) {
  const auto columns = [](Index i) {
    std::vector<Index> all(i % 500 == 100 ? 5000 : 0);
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  };
  for (const Index rows : {400, 1000, 5000}) {
    const CsrMatrix a = matrix_of(rows, 5000, columns, [](Index, Index) { return 1.0; });
    DenseMatrix x(a.cols(), 1, ValueKind::f64), y(a.rows(), 1, ValueKind::f64);
    for (Index j = 0; j < a.cols(); ++j) x.view().set(j, 0, 1);
    for (const int threads : {1, 2, 3, 5, 8, 16}) {
      const auto plan = plan_of("csr_lanes", a, threads);
      plan->bind(x.view(), y.view());
      plan->multiply();
      for (Index i = 0; i < a.rows(); ++i) {
        ASSERT_EQ(y.view().as<double>()[i], a.row_length(i)) << i << ", " << threads << " threads";
      }
    }
  }
}

TEST(SpmvFormats, LanesShareOutAFewLongRows) {
  const auto long_row = [](Index i) {
    std::vector<Index> all(3000);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<Index>(2 * k) + i % 2;
    return all;
  };
  const std::string choice =
      plan_of("csr_lanes", matrix_of(100, 6001, long_row, random_entry), 16)->choice();
  const std::size_t end = choice.find(" pieces");
  ASSERT_NE(end, std::string::npos) << choice;
  EXPECT_GE(std::stoi(choice.substr(choice.rfind(' ', end - 1))), 32) << choice;
}

TEST(SpmvFormats, RefuseToExplode) {
  const auto expect_refusal = [](const char* kernel, const CsrMatrix& a) {
    try {
      plan_of(kernel, a);
      ADD_FAILURE() << kernel << " padded " << a.nnz() << " entries";
    } catch (const MemoryError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(" would pad this matrix to "), std::string::npos) << what;
      EXPECT_NE(what.find("its limit is "), std::string::npos) << what;
    }
  };
  expect_refusal("dia", scattered(3000));
  const auto one_long_row = [](Index i) {
    std::vector<Index> all(i == 7 ? 40000 : 1);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<Index>(k);
    return all;
  };
  const CsrMatrix hub = matrix_of(40000, 40000, one_long_row, random_entry);
  expect_refusal("ell", hub);
  EXPECT_LT(part_of_csr("hyb", hub), 3);
  EXPECT_LT(part_of_csr("sell", hub), 1.5);
}

TEST(SpmvAuto, TakesTheFewestBytes) {
  setenv("CSRKIT_CPU_ISA", "portable", 1);
  const auto plan = plan_of("auto", stencil(20000, true));
  unsetenv("CSRKIT_CPU_ISA");
  EXPECT_EQ(plan->chosen_kernel(), "compressed");
  EXPECT_NE(plan->choice().find("paid after"), std::string::npos) << plan->choice();
  EXPECT_EQ(plan_of("auto", scattered(20))->chosen_kernel(), "csr_balanced") << "small";
}

/// Of every `period` slices of 32 rows the first `of_them` have the diagonals -1, 0 and 1, the
/// others two entries a row wherever they are.
CsrMatrix some_diagonals(Index rows, Index period, Index of_them) {
  const auto columns = [&](Index i) {
    std::vector<Index> all;
    if (i / 32 % period < of_them) {
      for (Index j = std::max(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) all.push_back(j);
    } else {
      all.push_back(static_cast<Index>(below(random_word(6, i, 0), rows / 2)));
      all.push_back(rows / 2 + static_cast<Index>(below(random_word(6, i, 1), rows / 2)));
    }
    return all;
  };
  return matrix_of(rows, rows, columns, random_entry);
}

/// Tiles of 2 x 2 along three diagonals of tiles: blocks have fewer bytes, diagonals no gathers.
CsrMatrix tiles_on_diagonals(Index tiles) {
  const auto columns = [&](Index i) {
    std::vector<Index> all;
    for (const Index tile : {i / 2 - 300, i / 2, i / 2 + 300}) {
      if (tile < 0 || tile >= tiles) continue;
      all.push_back(2 * tile);
      all.push_back(2 * tile + 1);
    }
    return all;
  };
  return matrix_of(2 * tiles, 2 * tiles, columns, random_entry);
}

TEST(SpmvAuto, TakesDiagonalsInTheCachesWhereTheyAreFull) {
  setenv("CSRKIT_CPU_ISA", "portable", 1);
  EXPECT_EQ(plan_of("auto", some_diagonals(30'000, 5, 3))->chosen_kernel(), "csr_chunks");
  EXPECT_EQ(plan_of("auto", some_diagonals(30'000, 5, 5))->chosen_kernel(), "compressed");
  EXPECT_EQ(
      plan_of("auto", convert_values(tiles_on_diagonals(8'000), ValueKind::f32))->chosen_kernel(),
      "compressed");
  unsetenv("CSRKIT_CPU_ISA");
}

TEST(SpmvAuto, TakesLanesOfAvx2ForRowsOfSomeLength) {
  if (!is_supported(Isa::avx2)) GTEST_SKIP() << "there are no lanes of AVX2";
  const auto chosen = [](Index length, ValueKind kind) {
    const auto columns = [&](Index i) {
      std::vector<Index> all;
      for (Index k = 0; k < length; ++k) {
        all.push_back(k * 1000 + static_cast<Index>(below(random_word(9, i, k), 1000)));
      }
      return all;
    };
    const CsrMatrix a = matrix_of(3000, length * 1000, columns, random_entry);
    return plan_of("auto", convert_values(a, kind))->chosen_kernel();
  };
  setenv("CSRKIT_CPU_ISA", "avx2", 1);
  EXPECT_EQ(chosen(7, ValueKind::f32), "csr_chunks");
  EXPECT_EQ(chosen(8, ValueKind::f32), "csr_lanes");
  EXPECT_EQ(chosen(31, ValueKind::f32), "csr_lanes");
  EXPECT_EQ(chosen(32, ValueKind::f32), "csr_chunks");
  EXPECT_EQ(chosen(20, ValueKind::f64), "csr_chunks");
  unsetenv("CSRKIT_CPU_ISA");
}

/// Rows of `length` columns here and there among 16,000 near the diagonal, of three values.
CsrMatrix of_few_values(Index rows, Index length) {
  const auto columns = [&](Index i) {
    const Index step = 16'000 / length;
    std::vector<Index> all;
    for (Index k = 0; k < length; ++k) {
      const auto at = static_cast<Index>(below(random_word(5, i, k), step));
      all.push_back(i + k * step + at);
    }
    return all;
  };
  return matrix_of(rows, rows + 16'000, columns, [](Index i, Index j) { return (i + j) % 3; });
}

TEST(SpmvAuto, DecodesLongRowsOfFewBytesBeyondTheCaches) {
  const std::uint64_t last_level = cache_sizes().last_level_bytes;
  if (last_level > (64 << 20)) GTEST_SKIP() << "it takes long to fill the last cache";
  const auto chosen = [&](double part, Index length) {
    const auto entries = static_cast<Index>(part * static_cast<double>(last_level) / 12.5);
    return plan_of("auto", of_few_values(entries / length, length))->chosen_kernel();
  };
  setenv("CSRKIT_CPU_ISA", "portable", 1);
  EXPECT_EQ(chosen(0.9, 80), "compressed");
  EXPECT_EQ(chosen(0.5, 80), "csr_chunks");
  EXPECT_EQ(chosen(0.9, 20), "csr_chunks");
  unsetenv("CSRKIT_CPU_ISA");
}

TEST(SpmvAuto, DecodesBesideLanesOnlyWhatIsFar) {
  if (!is_supported(Isa::avx512)) GTEST_SKIP() << "there are no lanes of AVX-512";
  setenv("CSRKIT_CPU_ISA", "avx512", 1);
  EXPECT_EQ(plan_of("auto", stencil(20000, true))->chosen_kernel(), "csr_lanes");
  const double row_bytes = static_cast<double>(stencil(20000, true).size_bytes()) / 20000;
  const CsrMatrix far = stencil(static_cast<Index>((110 << 20) / row_bytes), true);
  EXPECT_EQ(plan_of("auto", far)->chosen_kernel(), "compressed");
  unsetenv("CSRKIT_CPU_ISA");
}

TEST(SpmvAuto, TakesLanesWhereRegistersAreWide) {
  const bool is_wide = chosen_isa_for_short_loads() == Isa::avx512;
  const bool has_lanes_of_f32 = chosen_isa() == Isa::avx512 || chosen_isa() == Isa::avx2;
  for (const int threads : {1, 3, 7}) {
    const auto plan = plan_of("auto", scattered(3000), threads);
    EXPECT_EQ(plan->chosen_kernel(), is_wide ? "csr_lanes" : "csr_chunks") << plan->choice();
    EXPECT_EQ(plan_of("auto", blocks_of(3, 2000), threads)->chosen_kernel(),
              is_wide ? "csr_lanes" : "csr_chunks")
        << "rows of nine entries";
    const CsrMatrix of_f32 = convert_values(scattered(3000), ValueKind::f32);
    EXPECT_EQ(plan_of("auto", of_f32, threads)->chosen_kernel(),
              has_lanes_of_f32 ? "csr_lanes" : "csr_chunks");
    EXPECT_EQ(plan_of("auto", blocks_of(12, 1000), threads)->chosen_kernel(), "bsr");
  }
}

TEST(ValueTable, HoldsAtMost256Patterns) {
  ValueTable table;
  for (int n = 0; n < 256; ++n) ASSERT_TRUE(table.insert(bits_of(0.5 * n)));
  EXPECT_TRUE(table.insert(bits_of(0.5 * 17))) << "it is there already";
  EXPECT_TRUE(table.is_small());
  EXPECT_FALSE(table.insert(bits_of(-0.0))) << "0 and -0 are two values";
  EXPECT_FALSE(table.is_small());
}

TEST(ValueTable, MergesInAnyOrder) {
  ValueTable one, other, forth, back;
  for (const double value : {3.0, -0.0, 0.0, std::nan("")}) one.insert(bits_of(value));
  for (const double value : {7.0, 3.0, 1e300}) other.insert(bits_of(value));
  forth.merge(one), forth.merge(other);
  back.merge(other), back.merge(one);
  ASSERT_EQ(forth.size(), 6);
  for (int code = 0; code < forth.size(); ++code) {
    EXPECT_EQ(forth.pattern(code), back.pattern(code));
    EXPECT_EQ(forth.code_of(forth.pattern(code)), code);
  }
}

}  // namespace
}  // namespace csrkit::cpu::spmv
