// Small matrices and calls that must succeed, for the tests of csrkit.h.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "api/csrkit.h"

namespace csrkit::api {

#define EXPECT_OK(call) EXPECT_EQ(call, CSRKIT_OK) << csrkit_last_error()
#define ASSERT_OK(call) ASSERT_EQ(call, CSRKIT_OK) << csrkit_last_error()

struct FreeMatrix {
  void operator()(csrkit_matrix* matrix) const { csrkit_matrix_free(matrix); }
};
struct FreePlan {
  void operator()(csrkit_plan* plan) const { csrkit_plan_free(plan); }
};
using Matrix = std::unique_ptr<csrkit_matrix, FreeMatrix>;
using PlanHandle = std::unique_ptr<csrkit_plan, FreePlan>;

/// 1.5 0 -2 0 / 0 3 0 0 / 0 0 0 0 / 4 0 0.25 -1.
struct SmallArrays {
  std::vector<std::int64_t> row_offsets{0, 2, 3, 3, 6};
  std::vector<std::int32_t> col_indices{0, 2, 1, 0, 2, 3};
  std::vector<double> values{1.5, -2, 3, 4, 0.25, -1};

  csrkit_arrays view() const {
    csrkit_arrays arrays{};
    arrays.size = sizeof arrays;
    arrays.rows = arrays.cols = 4;
    arrays.row_offsets = row_offsets.data();
    arrays.col_indices = col_indices.data();
    arrays.values = values.data();
    arrays.kind = CSRKIT_F64;
    return arrays;
  }
};

inline Matrix wrapped(const csrkit_arrays& arrays) {
  csrkit_matrix* matrix = nullptr;
  EXPECT_OK(csrkit_wrap(&arrays, &matrix));
  return Matrix(matrix);
}

inline csrkit_matrix_info info_of(const Matrix& matrix) {
  csrkit_matrix_info info{};
  info.size = sizeof info;
  EXPECT_OK(csrkit_info(matrix.get(), &info));
  return info;
}

template <class T>
csrkit_dense dense_of(std::vector<T>& data, std::int64_t rows, std::int64_t cols, int kind) {
  csrkit_dense dense{};
  dense.size = sizeof dense;
  dense.data = data.data();
  dense.rows = rows;
  dense.cols = cols;
  dense.kind = kind;
  return dense;
}

inline bool says(const char* text) {
  return std::string(csrkit_last_error()).find(text) != std::string::npos;
}

}  // namespace csrkit::api
