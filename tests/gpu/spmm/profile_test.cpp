// What a look finds in A, to the digit: the choice between kernels is fitted to these facts, so a
// faster look must find the same. Needs no GPU.

#include "gpu/spmm/profile.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace csrkit::gpu {
namespace {

template <class ColumnsOf>
CsrMatrix matrix_of(Index rows, Index cols, ColumnsOf&& columns_of) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> all;
  for (Index i = 0; i < rows; ++i) {
    for (const Index col : columns_of(i)) {
      if (col >= 0 && col < cols) all.push_back(col);
    }
    offsets.push_back(static_cast<Offset>(all.size()));
  }
  return {rows, cols, Buffer<Offset>::copy_of(offsets.data(), Offset{rows} + 1),
          Buffer<Index>::copy_of(all.data(), offsets.back()), ValueArray()};
}

/// `length` columns from `first` on, each up to `gap` beyond the one before.
std::vector<Index> with_gaps(Index i, Index first, Index length, std::uint32_t gap) {
  std::vector<Index> columns;
  for (Index k = 0; k < length; ++k) {
    columns.push_back(first);
    const std::uint32_t mixed = static_cast<std::uint32_t>(i * 31 + k) * 2654435761u;
    first += 1 + static_cast<Index>((mixed >> 8) % gap);
  }
  return columns;
}

CsrMatrix short_rows() {  // one in eight is empty
  return matrix_of(5000, 9000, [](Index i) { return with_gaps(i, i / 3 * 2, i % 8, 40); });
}

CsrMatrix long_rows() {
  return matrix_of(3000, 12'000, [](Index i) {
    return i == 1700 ? with_gaps(i, 0, 5000, 3) : with_gaps(i, i, 40 + i * 7 % 260, 20);
  });
}

CsrMatrix grid() {
  return matrix_of(4000, 4000, [](Index i) {
    return std::vector<Index>{i - 50, i - 49, i - 1, i, i + 1, i + 49, i + 50};
  });
}

struct Facts {
  Offset distinct, places, longest;
  double of_16, of_64;
};

void expect_facts(const CsrMatrix& a, ValueKind kind, bool transposed, const Facts& wanted) {
  SpmmProblem problem = default_spmm_problem(a, 64);
  set_dense_kind(&problem, kind);
  problem.transpose_a = transposed;
  const SpmmProfile seen = profile_of(problem);
  EXPECT_EQ(seen.sample.entries, 36'864);
  EXPECT_EQ(seen.sample.distinct, wanted.distinct);
  EXPECT_EQ(seen.sample.places, wanted.places);
  EXPECT_EQ(seen.longest, wanted.longest);
  EXPECT_DOUBLE_EQ(seen.near.of_16, wanted.of_16);
  EXPECT_DOUBLE_EQ(seen.near.of_64, wanted.of_64);
}

}  // namespace

TEST(SpmmProfile, FindsTheSameFactsOfShortRows) {
  expect_facts(short_rows(), ValueKind::f32, false,
               {31'449, 52'875, 7, 1.3326722855726327, 2.0165041260315077});
  expect_facts(short_rows(), ValueKind::f16, false,
               {30'061, 73'728, 7, 1.3326722855726327, 2.0165041260315077});
}

TEST(SpmmProfile, FindsTheSameFactsOfLongRows) {
  expect_facts(long_rows(), ValueKind::f32, false,
               {32'135, 42'991, 5000, 1.7429363165910441, 4.771363410790797});
  expect_facts(long_rows(), ValueKind::f16, false,
               {28'071, 49'732, 5000, 1.7429363165910441, 4.771363410790797});
}

TEST(SpmmProfile, FindsTheSameFactsOfTransposes) {
  expect_facts(grid(), ValueKind::f32, true,
               {21'065, 36'864, 7, 2.1538461538461537, 2.7317073170731709});
  expect_facts(short_rows(), ValueKind::f32, true,
               {35'598, 36'864, 0, 1.1262029144899643, 2.0378109452736317});
  expect_facts(long_rows(), ValueKind::f32, true,
               {33'440, 36'864, 0, 1.624823695345557, 5.8181818181818183});
}

}  // namespace csrkit::gpu
