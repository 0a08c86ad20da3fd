#include "tests/unit/api/handles_testing.h"

namespace csrkit::api {
namespace {

struct FreeSddmm {
  void operator()(csrkit_sddmm* plan) const { csrkit_sddmm_free(plan); }
};
using SddmmHandle = std::unique_ptr<csrkit_sddmm, FreeSddmm>;

SddmmHandle planned(const Matrix& matrix, const csrkit_sddmm_options& options) {
  csrkit_sddmm* plan = nullptr;
  EXPECT_OK(csrkit_sddmm_make(matrix.get(), &options, &plan));
  return SddmmHandle(plan);
}

csrkit_sddmm_options options_of(std::int64_t dense_cols) {
  csrkit_sddmm_options options{};
  options.size = sizeof options;
  options.dense_cols = dense_cols;
  return options;
}

TEST(SddmmOfC, ProductsAreRight) {
  SmallArrays small;
  const Matrix a = wrapped(small.view());
  std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8}, y{1, 0, 0, 1, 2, -1, 1, 1};  // 4 x 2
  const csrkit_dense of_x = dense_of(x, 4, 2, CSRKIT_F64), of_y = dense_of(y, 4, 2, CSRKIT_F64);
  // Entries (0, 0), (0, 2), (1, 1), (3, 0), (3, 2), (3, 3).
  const std::vector<double> dots{1, 0, 4, 7, 6, 15};
  std::vector<double> c(6, std::nan(""));
  const csrkit_dense of_c = dense_of(c, 6, 1, CSRKIT_F64);
  const SddmmHandle plain = planned(a, options_of(2));
  EXPECT_OK(csrkit_sddmm_multiply(plain.get(), &of_x, &of_y, &of_c, 1, 0));
  EXPECT_EQ(c, dots);
  c = small.values;
  EXPECT_OK(csrkit_sddmm_multiply(plain.get(), &of_x, &of_y, &of_c, 2, -1));
  for (std::size_t n = 0; n < c.size(); ++n) EXPECT_EQ(c[n], 2 * dots[n] - small.values[n]);
  csrkit_sddmm_options times = options_of(2);
  times.times_values = 1;
  EXPECT_OK(csrkit_sddmm_multiply(planned(a, times).get(), &of_x, &of_y, &of_c, 1, 0));
  for (std::size_t n = 0; n < c.size(); ++n) EXPECT_EQ(c[n], dots[n] * small.values[n]);
  const char *kernel = nullptr, *choice = nullptr;
  EXPECT_OK(csrkit_sddmm_describe(plain.get(), &kernel, &choice));
  EXPECT_STREQ(kernel, "nnz_balanced");
  EXPECT_NE(std::string(choice).find("because"), std::string::npos);
}

TEST(SddmmOfC, WhatDoesNotFitIsRefused) {
  SmallArrays small;
  const Matrix a = wrapped(small.view());
  csrkit_sddmm* none = nullptr;
  csrkit_sddmm_options options = options_of(2);
  options.kernel = "fastest";
  EXPECT_EQ(csrkit_sddmm_make(a.get(), &options, &none), CSRKIT_USAGE);
  options = options_of(2);
  options.room = "cellar";
  EXPECT_EQ(csrkit_sddmm_make(a.get(), &options, &none), CSRKIT_USAGE);
  options = options_of(2);
  options.times_values = 1;
  options.kind = CSRKIT_F32;
  EXPECT_EQ(csrkit_sddmm_make(a.get(), &options, &none), CSRKIT_USAGE);
  EXPECT_TRUE(says("f64"));
  EXPECT_EQ(none, nullptr);
  const SddmmHandle plan = planned(a, options_of(2));
  std::vector<double> x(8), y(8), c(6);
  const csrkit_dense of_x = dense_of(x, 4, 2, CSRKIT_F64), of_y = dense_of(y, 4, 2, CSRKIT_F64);
  csrkit_dense of_c = dense_of(c, 5, 1, CSRKIT_F64);
  EXPECT_EQ(csrkit_sddmm_multiply(plan.get(), &of_x, &of_y, &of_c, 1, 0), CSRKIT_USAGE);
  EXPECT_TRUE(says("one for each entry"));
  of_c = dense_of(c, 3, 2, CSRKIT_F64);
  EXPECT_EQ(csrkit_sddmm_multiply(plan.get(), &of_x, &of_y, &of_c, 1, 0), CSRKIT_USAGE);
  EXPECT_EQ(csrkit_sddmm_multiply(plan.get(), &of_x, &of_y, nullptr, 1, 0), CSRKIT_USAGE);
  for (std::vector<double>* shared : {&x, &y}) {
    of_c = dense_of(*shared, 6, 1, CSRKIT_F64);
    EXPECT_EQ(csrkit_sddmm_multiply(plan.get(), &of_x, &of_y, &of_c, 1, 0), CSRKIT_USAGE);
    EXPECT_TRUE(says(shared == &x ? "X and C share" : "Y and C share")) << csrkit_last_error();
  }
  options = options_of(2);
  options.kind = CSRKIT_F32;
  const SddmmHandle narrow = planned(a, options);
  std::vector<float> x32(8), y32(8), c32(6);
  const csrkit_dense x_of_32 = dense_of(x32, 4, 2, CSRKIT_F32);
  const csrkit_dense y_of_32 = dense_of(y32, 4, 2, CSRKIT_F32);
  const csrkit_dense c_of_32 = dense_of(c32, 6, 1, CSRKIT_F32);
  for (const auto& [alpha, beta] : {std::pair{1e39, 0.0}, {1.0, -1e39}}) {
    EXPECT_EQ(csrkit_sddmm_multiply(narrow.get(), &x_of_32, &y_of_32, &c_of_32, alpha, beta),
              CSRKIT_USAGE);
    EXPECT_TRUE(says("beyond the range of f32")) << csrkit_last_error();
  }
  EXPECT_EQ(csrkit_sddmm_multiply(nullptr, &of_x, &of_y, &of_c, 1, 0), CSRKIT_USAGE);
  csrkit_sddmm_free(nullptr);
}

TEST(PlansOfC, TakeNewValues) {
  SmallArrays small;
  const Matrix a = wrapped(small.view());
  std::vector<double> b{1, 2, 3, 4, 5, 6, 7, 8}, c(8), values{1, 1, 1, 1, 1, 1};
  const csrkit_dense of_b = dense_of(b, 4, 2, CSRKIT_F64), of_c = dense_of(c, 4, 2, CSRKIT_F64);
  csrkit_plan_options options{};
  options.size = sizeof options;
  options.dense_cols = 2;
  options.kernel = "nnz_balanced";
  csrkit_plan* made = nullptr;
  EXPECT_OK(csrkit_plan_make(a.get(), &options, &made));
  const PlanHandle plan(made);
  EXPECT_OK(csrkit_bind(plan.get(), &of_b, &of_c));
  EXPECT_OK(csrkit_plan_set_values(plan.get(), values.data()));
  EXPECT_OK(csrkit_multiply(plan.get(), 1, 0));
  EXPECT_EQ(c, (std::vector<double>{6, 8, 3, 4, 0, 0, 13, 16}));
  EXPECT_EQ(csrkit_plan_set_values(plan.get(), nullptr), CSRKIT_USAGE);
  EXPECT_EQ(csrkit_plan_use_stream(plan.get(), nullptr), CSRKIT_USAGE) << "it is on the CPU";
  options.transpose = 1;
  EXPECT_OK(csrkit_plan_make(a.get(), &options, &made));
  const PlanHandle transposed(made);
  EXPECT_EQ(csrkit_plan_set_values(transposed.get(), values.data()), CSRKIT_USAGE);
  EXPECT_TRUE(says("transposes"));
}

}  // namespace
}  // namespace csrkit::api
