#include "core/matrix/sort/coo_to_csr.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/hash.h"

namespace csrkit {
namespace {

struct Entry {
  Index row, col;
  double value;
};

CooMatrix coo_of(Index rows, Index cols, const std::vector<Entry>& entries, ValueKind kind) {
  CooMatrix coo;
  coo.rows = rows;
  coo.cols = cols;
  const auto nnz = static_cast<Offset>(entries.size());
  coo.row_indices = Buffer<Index>(nnz);
  coo.col_indices = Buffer<Index>(nnz);
  coo.values = ValueArray(kind, nnz);
  with_value_type(kind, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    for (Offset i = 0; i < nnz; ++i) {
      coo.row_indices[i] = entries[i].row;
      coo.col_indices[i] = entries[i].col;
      if constexpr (!std::is_same_v<Value, ImplicitOne>) {
        coo.values.as<Value>()[i] = store_as<Value>(entries[i].value);
      }
    }
  });
  return coo;
}

/// The same, as obviously as possible.
CsrMatrix slow_coo_to_csr(Index rows, Index cols, std::vector<Entry> entries, ValueKind kind,
                          bool add) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  });
  std::vector<Entry> merged;
  for (const Entry& entry : entries) {
    if (!merged.empty() && merged.back().row == entry.row && merged.back().col == entry.col) {
      if (add) merged.back().value += entry.value;
    } else {
      merged.push_back(entry);
    }
  }
  CooMatrix coo = coo_of(rows, cols, merged, kind);
  Buffer<Offset> offsets(Offset{rows} + 1);
  std::fill(offsets.begin(), offsets.end(), 0);
  for (const Entry& entry : merged) ++offsets[entry.row + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return CsrMatrix(rows, cols, std::move(offsets), std::move(coo.col_indices),
                   std::move(coo.values));
}

std::vector<Entry> random_entries(Index rows, Index cols, Offset count, std::uint64_t seed) {
  std::vector<Entry> entries;
  RandomStream random(seed);
  for (Offset i = 0; i < count; ++i) {
    const auto row = static_cast<Index>(random.below(static_cast<std::uint64_t>(rows)));
    const auto col = static_cast<Index>(random.below(static_cast<std::uint64_t>(cols)));
    // Small multiples of 1/8 keep every sum exact in every kind.
    entries.push_back({row, col, static_cast<double>(random.below(16)) / 8});
  }
  return entries;
}

const std::vector<ValueKind> kKindsOfEverySize = {ValueKind::none, ValueKind::f32, ValueKind::f64,
                                                  ValueKind::f16};

void expect_same_as_slow(Index rows, Index cols, const std::vector<Entry>& entries,
                         const std::vector<ValueKind>& kinds = kKindsOfEverySize) {
  for (const ValueKind kind : kinds) {
    for (const bool add : {true, false}) {
      const CsrMatrix expected = slow_coo_to_csr(rows, cols, entries, kind, add);
      Offset out_of_order = 0;
      for (std::size_t i = 1; i < entries.size(); ++i) {
        const Entry &a = entries[i - 1], &b = entries[i];
        out_of_order += b.row < a.row || (b.row == a.row && b.col < a.col);
      }
      for (const int threads : {1, 2, 7}) {
        omp_set_num_threads(threads);
        CooToCsrReport report;
        const CsrMatrix actual =
            coo_to_csr(coo_of(rows, cols, entries, kind), add ? Duplicates::sum : Duplicates::first,
                       "test", &report);
        EXPECT_TRUE(identical(actual, expected)) << name_of(kind) << ", threads " << threads;
        EXPECT_EQ(report.out_of_order, out_of_order);
        EXPECT_EQ(report.duplicates, static_cast<Offset>(entries.size()) - expected.nnz());
        validate(actual, "result");
      }
      omp_set_num_threads(omp_get_num_procs());
    }
  }
}

TEST(CooToCsr, EmptyShapes) {
  expect_same_as_slow(0, 0, {});
  expect_same_as_slow(0, 5, {});
  expect_same_as_slow(5, 0, {});
  expect_same_as_slow(3, 4, {});
}

TEST(CooToCsr, SortedInputWithGapsInTheRows) {
  expect_same_as_slow(9, 5, {{1, 0, 1}, {1, 4, 2}, {4, 3, 3}, {7, 0, 4}});
  expect_same_as_slow(9, 5, {{0, 0, 1}, {0, 0, 2}, {8, 4, 3}, {8, 4, 4}});
}

TEST(CooToCsr, OneSwappedPairIsSorted) {
  expect_same_as_slow(3, 3, {{0, 2, 1}, {0, 1, 2}, {2, 2, 3}});
  expect_same_as_slow(3, 3, {{2, 2, 3}, {0, 1, 2}});
}

TEST(CooToCsr, RandomWithDuplicates) {
  expect_same_as_slow(97, 53, random_entries(97, 53, 4000, 1));
}

TEST(CooToCsr, ManyBuckets) {
  expect_same_as_slow(30000, 70000, random_entries(30000, 70000, 60000, 2));
}

TEST(CooToCsr, RowsBeyondTheInsertionLimit) {
  expect_same_as_slow(3, 100000, random_entries(3, 100000, 900, 3));
}

TEST(CooToCsr, DescendingInputKeepsTheOrderOfEqualPlaces) {
  std::vector<Entry> entries = random_entries(300, 200, 40000, 5);  // each place is hit about once
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row > b.row : a.col > b.col;
  });
  expect_same_as_slow(300, 200, entries);
}

TEST(CooToCsr, ColumnMajorInputWithMirrorImages) {
  std::vector<Entry> entries = random_entries(5000, 5000, 40000, 6);
  for (Entry& entry : entries) {
    if (entry.row < entry.col) std::swap(entry.row, entry.col);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.col != b.col ? a.col < b.col : a.row < b.row;
  });
  expect_same_as_slow(5000, 5000, entries);
  const std::size_t lower = entries.size();
  for (std::size_t i = 0; i < lower; ++i) {
    entries.push_back({entries[i].col, entries[i].row, entries[i].value});
  }
  expect_same_as_slow(5000, 5000, entries);
}

TEST(CooToCsr, NearlyColumnMajorInputIsNotMistaken) {
  std::vector<Entry> entries = random_entries(2000, 3000, 40000, 7);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.col < b.col; });
  for (std::size_t i = 100; i < entries.size(); i += 4001) std::swap(entries[i], entries[i / 2]);
  expect_same_as_slow(2000, 3000, entries);
}

TEST(CooToCsr, HugeRowsAreDividedAgain) {
  // Beyond the entries that one thread finishes: in one row with spread columns, with the columns
  // side by side, and in one place.
  const Offset many = (1 << 18) + 5000;
  const Index cols = std::numeric_limits<Index>::max();
  for (const Index width : {cols, Index{3000}, Index{1}}) {
    std::vector<Entry> entries = random_entries(1, width, many, 8);
    for (Entry& entry : entries) entry.row = 70000;
    for (const Entry& entry : random_entries(100000, cols, 3000, 9)) entries.push_back(entry);
    expect_same_as_slow(100000, cols, entries, {ValueKind::none, ValueKind::f64});
  }
}

TEST(CooToCsr, VeryManyRowsWithEntriesSideBySide) {
  const Index largest = std::numeric_limits<Index>::max();
  std::vector<Entry> entries = random_entries(40000, largest, 300000, 10);
  for (Entry& entry : entries) entry.row += 10'000'000;
  omp_set_num_threads(2);
  CooToCsrReport report;
  const CsrMatrix matrix = coo_to_csr(coo_of(10'050'000, largest, entries, ValueKind::none),
                                      Duplicates::first, "test", &report);
  omp_set_num_threads(omp_get_num_procs());
  validate(matrix, "result");
  EXPECT_EQ(matrix.nnz() + report.duplicates, static_cast<Offset>(entries.size()));
}

TEST(CooToCsr, OneHugeRowIsSorted) {
  std::vector<Entry> entries = random_entries(1, 1 << 30, 30000, 4);
  for (Entry& entry : entries) entry.row = 2;
  entries.push_back({0, 7, 1});
  entries.push_back({2, std::numeric_limits<Index>::max() - 1, 1});
  expect_same_as_slow(5, std::numeric_limits<Index>::max(), entries);
}

TEST(CooToCsr, OneColumnManyDuplicates) {
  std::vector<Entry> entries(300, Entry{4, 0, 0.125});
  entries.push_back({0, 0, 1});
  expect_same_as_slow(6, 1, entries);
}

TEST(CooToCsr, FirstKeepsTheFirstInInputOrder) {
  const CsrMatrix matrix = coo_to_csr(
      coo_of(2, 2, {{1, 1, 5}, {0, 0, 1}, {1, 1, 7}}, ValueKind::f64), Duplicates::first, "test");
  ASSERT_EQ(matrix.nnz(), 2);
  EXPECT_EQ(matrix.view<double>().values[1], 5);
}

TEST(CooToCsr, SumsAreRoundedOnce) {
  // In float, 2^24 + 1 + 1 would stay 2^24.
  const CsrMatrix matrix =
      coo_to_csr(coo_of(1, 1, {{0, 0, 16777216}, {0, 0, 1}, {0, 0, 1}}, ValueKind::f32),
                 Duplicates::sum, "test");
  ASSERT_EQ(matrix.nnz(), 1);
  EXPECT_EQ(matrix.view<float>().values[0], 16777218.0f);
}

TEST(CooToCsr, SumsBeyondTheRangeAreRefusedByPlace) {
  const auto sum = [](ValueKind kind, double value, double other, Duplicates duplicates) {
    try {
      const CsrMatrix matrix = coo_to_csr(
          coo_of(9, 9, {{8, 1, 1}, {3, 4, value}, {3, 4, other}}, kind), duplicates, "a");
      return std::to_string(
          matrix.visit([](const auto& a) { return a.template value_as<double>(0); }));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  const std::string found =
      "a: expected sums of duplicates within the range of f32, found a larger "
      "one in row 3, column 4 (counted from 0); a wider --value-kind may hold "
      "it, --duplicates=first keeps the first";
  EXPECT_EQ(sum(ValueKind::f32, 3e38, 3e38, Duplicates::sum), found);
  EXPECT_EQ(sum(ValueKind::f32, 3, 4, Duplicates::sum), "7.000000");
  EXPECT_EQ(sum(ValueKind::f16, 4e4, 4e4, Duplicates::first), std::to_string(4e4));
  EXPECT_NE(sum(ValueKind::f16, 4e4, 4e4, Duplicates::sum).find("of f16"), std::string::npos);
  const std::string widest = sum(ValueKind::f64, 1e308, 1e308, Duplicates::sum);
  EXPECT_NE(widest.find("range of f64"), std::string::npos) << widest;
  EXPECT_EQ(widest.find("--value-kind"), std::string::npos) << widest;
  // What was infinite stays so.
  EXPECT_EQ(sum(ValueKind::f32, INFINITY, 3e38, Duplicates::sum), "inf");
}

TEST(CooToCsr, DuplicatesAreRefusedByPlace) {
  const auto refuse = [](const std::vector<Entry>& entries) -> std::string {
    try {
      coo_to_csr(coo_of(9, 9, entries, ValueKind::none), Duplicates::error, "some.mtx");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refuse({{0, 0, 1}, {3, 5, 1}}), "accepted");
  for (const auto& entries : {std::vector<Entry>{{3, 5, 1}, {3, 5, 1}},
                              std::vector<Entry>{{3, 5, 1}, {8, 8, 1}, {8, 8, 1}, {3, 5, 1}}}) {
    const std::string message = refuse(entries);
    EXPECT_EQ(message.rfind("some.mtx: ", 0), 0u) << message;
    EXPECT_NE(message.find("row 3, column 5"), std::string::npos) << message;
  }
}

TEST(CooToCsr, ManyMoreRowsThanEntries) {
  const Index rows = 5'000'000;
  const CsrMatrix matrix =
      coo_to_csr(coo_of(rows, 3, {{rows - 1, 2, 1}, {7, 1, 1}, {rows - 1, 0, 1}}, ValueKind::none),
                 Duplicates::sum, "test");
  EXPECT_EQ(matrix.nnz(), 3);
  EXPECT_EQ(matrix.row_offsets()[7], 0);
  EXPECT_EQ(matrix.row_offsets()[8], 1);
  EXPECT_EQ(matrix.row_offsets()[rows - 1], 1);
  EXPECT_EQ(matrix.row_offsets()[rows], 3);
}

TEST(CooToCsr, DuplicatesAreTreatedByName) {
  EXPECT_EQ(parse_duplicates("sum"), Duplicates::sum);
  EXPECT_EQ(parse_duplicates("first"), Duplicates::first);
  EXPECT_EQ(parse_duplicates("error"), Duplicates::error);
  try {
    parse_duplicates("frist");
    FAIL() << "there is no such treatment";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'first'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace csrkit
