#include "tools/operation/dense_io.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

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
            path_ + ": expected an array of 3 x 4 (rows of B x --dense-cols), found 4 x 3");
  EXPECT_NE(refusal(4, 3, ValueKind::f64).find("--dense-kind f64 converts them"),
            std::string::npos);
  std::remove(path_.c_str());
  EXPECT_THROW(make_dense_input(path_, 4, 3, ValueKind::f32, true, 1), IoError);
}

}  // namespace
}  // namespace csrkit
