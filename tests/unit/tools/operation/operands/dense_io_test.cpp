#include "tools/operation/operands/dense_io.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/file/npy_file.h"

namespace csrkit {
namespace {

/// i + j / 4: exact in every kind for small i and j.
DenseMatrix ramp(Index rows, Index cols, ValueKind kind) {
  DenseMatrix matrix(rows, cols, kind);
  const DenseView view = matrix.view();
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) view.set(i, j, i + 0.25 * j);
  }
  return matrix;
}

class DenseInput : public testing::Test {
 protected:
  ~DenseInput() override { std::remove(path_.c_str()); }

  std::string path_ = testing::TempDir() + std::to_string(getpid()) + "_dense_io_test.npy";
};

TEST(ConvertDense, RoundsEveryElementOnce) {
  DenseMatrix wide(2, 2, ValueKind::f64);
  wide.view().set(0, 0, 1.0 / 3);
  wide.view().set(0, 1, -2);
  wide.view().set(1, 0, 1e300);
  wide.view().set(1, 1, 0);
  const DenseMatrix narrow = convert_dense(wide, ValueKind::f32);
  EXPECT_EQ(narrow.kind(), ValueKind::f32);
  EXPECT_EQ(narrow.view().at(0, 0), static_cast<double>(1.0f / 3));
  EXPECT_EQ(narrow.view().at(0, 1), -2);
  EXPECT_TRUE(std::isinf(narrow.view().at(1, 0)));
}

TEST_F(DenseInput, WithoutAFileIsAFunctionOfTheSeed) {
  const DenseMatrix one = make_dense_input("", 5, 3, ValueKind::f32, false, 7);
  const DenseMatrix same = make_dense_input("", 5, 3, ValueKind::f32, false, 7);
  const DenseMatrix other = make_dense_input("", 5, 3, ValueKind::f32, false, 8);
  int differences = 0;
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(one.view().at(i, j), same.view().at(i, j));
      differences += one.view().at(i, j) != other.view().at(i, j) ? 1 : 0;
    }
  }
  EXPECT_GT(differences, 10);
}

TEST_F(DenseInput, ComesFromAFileOfTheRightShapeAndKind) {
  write_npy(path_, ramp(4, 3, ValueKind::f32).view());
  const DenseMatrix same = make_dense_input(path_, 4, 3, ValueKind::f32, false, 1);
  EXPECT_EQ(same.view().at(3, 2), 3.5);
  const DenseMatrix wider = make_dense_input(path_, 4, 3, ValueKind::f64, true, 1);
  EXPECT_EQ(wider.kind(), ValueKind::f64);
  EXPECT_EQ(wider.view().at(3, 2), 3.5);
}

TEST_F(DenseInput, OfAnotherShapeOrKindIsRefused) {
  write_npy(path_, ramp(4, 3, ValueKind::f32).view());
  const auto refusal = [&](Index rows, Index cols, ValueKind kind) {
    try {
      make_dense_input(path_, rows, cols, kind, false, 1);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  EXPECT_EQ(refusal(3, 4, ValueKind::f32),
            path_ + ": expected an array of 3 x 4 (rows x columns), found 4 x 3");
  EXPECT_NE(refusal(4, 3, ValueKind::f64).find("--dense-kind f64 converts them"),
            std::string::npos);
  std::remove(path_.c_str());
  EXPECT_THROW(make_dense_input(path_, 4, 3, ValueKind::f32, true, 1), IoError);
}

// Files as large as that are used where they lie.
constexpr Index kLargeRows = 4100, kLargeCols = 4200;

TEST_F(DenseInput, LargeFilesAreMappedWhereTheyMayBe) {
  const auto operand = [&](Index rows, ValueKind kind, bool may_convert, bool may_map) {
    return DenseOperand(path_, rows, kLargeCols, kind, may_convert, 1, may_map);
  };
  {
    DenseMatrix large(kLargeRows, kLargeCols, ValueKind::f32);
    fill_random(large.view(), 3);
    write_npy(path_, std::as_const(large).view());
    const DenseOperand mapped = operand(kLargeRows, ValueKind::f32, false, true);
    EXPECT_TRUE(mapped.is_mapped());
    EXPECT_EQ(std::memcmp(mapped.view().data, large.view().data, large.size_bytes()), 0);
  }
  EXPECT_FALSE(operand(kLargeRows, ValueKind::f32, false, false).is_mapped());
  const DenseOperand wider = operand(kLargeRows, ValueKind::f64, true, true);
  EXPECT_FALSE(wider.is_mapped());
  EXPECT_EQ(wider.view().kind, ValueKind::f64);
  EXPECT_THROW(operand(kLargeRows - 1, ValueKind::f32, false, true), InputError);
  write_npy(path_, ramp(4, 3, ValueKind::f32).view());
  EXPECT_FALSE(DenseOperand(path_, 4, 3, ValueKind::f32, false, 1, true).is_mapped());
  EXPECT_FALSE(DenseOperand("", 4, 3, ValueKind::f32, false, 1, true).is_mapped());
}

TEST_F(DenseInput, LargeResultsAreMadeInTheirFile) {
  DenseResult large(path_, kLargeRows, kLargeCols, ValueKind::f32, true);
  EXPECT_TRUE(large.is_mapped());
  large.view().set(kLargeRows - 1, 7, 2.5);
  EXPECT_NE(access(path_.c_str(), F_OK), 0) << "half a file under the final name";
  large.write(path_);
  const DenseMatrix written = read_npy(path_);
  EXPECT_EQ(written.view().at(kLargeRows - 1, 7), 2.5);
  EXPECT_FALSE(DenseResult(path_, kLargeRows, kLargeCols, ValueKind::f32, false).is_mapped());
  EXPECT_FALSE(DenseResult("", kLargeRows, kLargeCols, ValueKind::f32, true).is_mapped());
  EXPECT_FALSE(DenseResult(path_, kLargeRows, kLargeCols, ValueKind::bf16, true).is_mapped());
  DenseResult small(path_, 2, 3, ValueKind::f32, true);
  EXPECT_FALSE(small.is_mapped());
  for (Index i = 0; i < 6; ++i) small.view().set(i / 3, i % 3, i);
  small.write(path_);
  const DenseMatrix other = read_npy(path_);
  EXPECT_EQ(other.view().at(1, 2), 5);
}

}  // namespace
}  // namespace csrkit
