#include "core/matrix/csr_matrix.h"

#include <omp.h>

#include <map>

#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

CsrMatrix unchecked(Index rows, Index cols, const std::vector<Offset>& offsets,
                    const std::vector<Index>& columns) {
  return CsrMatrix(rows, cols, buffer_of(offsets), buffer_of(columns),
                   ValueArray(ValueKind::none, static_cast<Offset>(columns.size())));
}

std::string fault_in(const CsrMatrix& matrix) {
  try {
    validate(matrix, "here");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CsrMatrix, DefaultIsEmpty) {
  const CsrMatrix matrix;
  EXPECT_EQ(matrix.rows(), 0);
  EXPECT_EQ(matrix.cols(), 0);
  EXPECT_EQ(matrix.nnz(), 0);
  EXPECT_EQ(fault_in(matrix), "");
}

TEST(CsrMatrix, CountsItsBytes) {
  EXPECT_EQ(five_by_seven(ValueKind::f64).size_bytes(), 6u * 8 + 10 * 4 + 10 * 8);
  EXPECT_EQ(five_by_seven(ValueKind::none).size_bytes(), 6u * 8 + 10 * 4);
}

TEST(CsrMatrix, ViewsSeeTheValues) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    EXPECT_EQ(
        five_by_seven(kind).visit([](auto view) { return view.template value_as<double>(5); }),
        1024);
  }
  EXPECT_EQ(five_by_seven(ValueKind::none).visit([](auto view) {
    return view.template value_as<double>(5);
  }),
            1);
}

TEST(Validate, AcceptsWhatIsSound) {
  EXPECT_EQ(fault_in(five_by_seven(ValueKind::f32)), "");
  EXPECT_EQ(fault_in(random_csr(0, 5, 0, ValueKind::f32)), "");
  EXPECT_EQ(fault_in(random_csr(5, 0, 0, ValueKind::f32)), "");
  EXPECT_EQ(fault_in(unchecked(1, kMaxIndex, {0, 2}, {0, static_cast<Index>(kMaxIndex - 1)})), "");
}

TEST(Validate, NamesRowAndEntry) {
  EXPECT_NE(fault_in(unchecked(2, 3, {1, 1, 2}, {0, 1})).find("found them from 1 to 2"),
            std::string::npos);
  EXPECT_NE(fault_in(unchecked(2, 3, {0, 2, 1}, {0, 1})).find("found 2 and then 1 at row 1"),
            std::string::npos);
  EXPECT_NE(fault_in(unchecked(2, 3, {0, 1, 2}, {0, 3})).find("here: row 1, entry 1: column 3"),
            std::string::npos);
  EXPECT_NE(fault_in(unchecked(2, 3, {0, 1, 2}, {-1, 2})).find("row 0, entry 0: column -1"),
            std::string::npos);
  EXPECT_NE(fault_in(unchecked(1, 3, {0, 2}, {1, 1})).find("twice"), std::string::npos);
  EXPECT_NE(fault_in(unchecked(1, 3, {0, 2}, {2, 1})).find("column 1 follows 2"),
            std::string::npos);
  EXPECT_NE(fault_in(unchecked(1, 9, {0, 3}, {2, 9, 1})).find("column 9 is outside"),
            std::string::npos);
  EXPECT_NE(fault_in(unchecked(1, 0, {0, 1}, {0})).find("outside [0, 0)"), std::string::npos);
}

TEST(ConvertValues, RoundsOnceAndKeepsThePattern) {
  const CsrMatrix exact = five_by_seven(ValueKind::f64);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f16, ValueKind::bf16}) {
    EXPECT_TRUE(identical(convert_values(five_by_seven(kind), ValueKind::f32),
                          five_by_seven(ValueKind::f32)));
  }
  const CsrMatrix ones = convert_values(five_by_seven(ValueKind::none), ValueKind::f64);
  for (Offset at = 0; at < ones.nnz(); ++at) EXPECT_EQ(ones.view<double>().values[at], 1);
  EXPECT_TRUE(identical(convert_values(exact, ValueKind::none), five_by_seven(ValueKind::none)));
  const CsrMatrix third = make_csr(1, 1, {0, 1}, {0}, {1.0 / 3}, ValueKind::f64);
  EXPECT_EQ(convert_values(third, ValueKind::f32).view<float>().values[0], 1.0f / 3);
  EXPECT_EQ(convert_values(third, ValueKind::f16).view<f16>().values[0].bits, 0x3555);
  EXPECT_EQ(convert_values(third, ValueKind::bf16).view<bf16>().values[0].bits, 0x3eab);
  EXPECT_EQ(convert_values(exact, ValueKind::f64).values(), exact.values());  // shared
}

TEST(Transpose, ByHand) {
  const CsrMatrix matrix = make_csr(2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}, ValueKind::f32);
  EXPECT_TRUE(identical(transpose(matrix),
                        make_csr(3, 2, {0, 1, 1, 3}, {0, 0, 1}, {1, 2, 3}, ValueKind::f32)));
}

TEST(Transpose, AgreesWithAMapAndWithItselfForAnyThreadCount) {
  const int threads = omp_get_max_threads();
  for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f16, ValueKind::f64}) {
    for (const CsrMatrix& matrix :
         {random_csr(0, 0, 0, kind), random_csr(0, 5, 0, kind), random_csr(5, 0, 0, kind),
          five_by_seven(kind), random_csr(300, 20, 9, kind), random_csr(20, 3000, 900, kind),
          random_csr(1, 4000, 3000, kind), random_csr(3000, 1, 1, kind)}) {
      std::map<std::pair<Index, Index>, Offset> source;
      for (Index row = 0; row < matrix.rows(); ++row) {
        for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
          source[{matrix.col_indices()[at], row}] = at;
        }
      }
      for (const int count : {1, 2, 5}) {
        omp_set_num_threads(count);
        const CsrMatrix transposed = transpose(matrix);
        ASSERT_EQ(fault_in(transposed), "");
        ASSERT_EQ(transposed.rows(), matrix.cols());
        ASSERT_EQ(transposed.cols(), matrix.rows());
        ASSERT_EQ(transposed.nnz(), matrix.nnz());
        auto expected = source.begin();
        for (Index row = 0; row < transposed.rows(); ++row) {
          for (Offset at = transposed.row_offsets()[row]; at < transposed.row_offsets()[row + 1];
               ++at, ++expected) {
            ASSERT_EQ(expected->first, std::pair(row, transposed.col_indices()[at]));
            const std::size_t size = static_cast<std::size_t>(size_of(kind));
            if (size == 0) continue;
            ASSERT_EQ(std::memcmp(static_cast<const char*>(transposed.values()) + at * Offset(size),
                                  static_cast<const char*>(matrix.values()) +
                                      expected->second * Offset(size),
                                  size),
                      0);
          }
        }
        EXPECT_TRUE(identical(transpose(transposed), matrix));
      }
    }
  }
  omp_set_num_threads(threads);
}

TEST(Identical, SeesEveryDifference) {
  const CsrMatrix a = make_csr(2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}, ValueKind::f32);
  EXPECT_TRUE(identical(a, a));
  EXPECT_TRUE(
      identical(five_by_seven(ValueKind::f32), five_by_seven(ValueKind::f32)));  // NaN alike
  EXPECT_FALSE(identical(a, make_csr(2, 4, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}, ValueKind::f32)));
  EXPECT_FALSE(identical(a, make_csr(2, 3, {0, 1, 3}, {0, 1, 2}, {1, 2, 3}, ValueKind::f32)));
  EXPECT_FALSE(identical(a, make_csr(2, 3, {0, 2, 3}, {0, 1, 2}, {1, 2, 3}, ValueKind::f32)));
  EXPECT_FALSE(identical(a, make_csr(2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 4}, ValueKind::f32)));
  EXPECT_FALSE(identical(a, make_csr(2, 3, {0, 2, 3}, {0, 2, 2}, {1, 2, 3}, ValueKind::f64)));
}

}  // namespace
}  // namespace csrkit
