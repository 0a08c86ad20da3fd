#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/base/file_digest.h"
#include "tests/unit/api/handles_testing.h"

namespace csrkit::api {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

csrkit_plan_options options_for(std::int64_t dense_cols) {
  csrkit_plan_options options{};
  options.size = sizeof options;
  options.dense_cols = dense_cols;
  return options;
}

PlanHandle plan_of(const Matrix& matrix, const csrkit_plan_options& options) {
  csrkit_plan* plan = nullptr;
  EXPECT_OK(csrkit_plan_make(matrix.get(), &options, &plan));
  return PlanHandle(plan);
}

/// op(A) B of the small matrix, by hand.
std::vector<double> expected(const std::vector<double>& b, std::size_t cols, bool transpose) {
  const SmallArrays small;
  std::vector<double> c(4 * cols, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    for (auto e = static_cast<std::size_t>(small.row_offsets[i]);
         e < static_cast<std::size_t>(small.row_offsets[i + 1]); ++e) {
      const auto k = static_cast<std::size_t>(small.col_indices[e]);
      for (std::size_t j = 0; j < cols; ++j) {
        c[(transpose ? k : i) * cols + j] += small.values[e] * b[(transpose ? i : k) * cols + j];
      }
    }
  }
  return c;
}

class Products : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Widths, Products, testing::Values(1, 3, 16));

TEST_P(Products, AreRightAsStoredAndTransposed) {
  const auto cols = static_cast<std::size_t>(GetParam());
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  std::vector<double> b_data(4 * cols);
  for (std::size_t i = 0; i < b_data.size(); ++i) b_data[i] = static_cast<double>(i) - 3;
  for (const bool transpose : {false, true}) {
    csrkit_plan_options options = options_for(GetParam());
    options.transpose = transpose ? 1 : 0;
    const PlanHandle plan = plan_of(matrix, options);
    std::vector<double> c_data(4 * cols, kNan);
    const csrkit_dense b = dense_of(b_data, 4, GetParam(), CSRKIT_F64);
    const csrkit_dense c = dense_of(c_data, 4, GetParam(), CSRKIT_F64);
    EXPECT_OK(csrkit_bind(plan.get(), &b, &c));
    EXPECT_OK(csrkit_multiply(plan.get(), 1, 0));
    EXPECT_OK(csrkit_fetch(plan.get()));
    EXPECT_EQ(c_data, expected(b_data, cols, transpose));
    EXPECT_OK(csrkit_multiply(plan.get(), 2, -1));
    EXPECT_OK(csrkit_fetch(plan.get()));
    EXPECT_EQ(c_data, expected(b_data, cols, transpose)) << "2 A B - A B";
  }
}

TEST(Plans, SayWhatTheyDo) {
  SmallArrays small;
  const PlanHandle plan = plan_of(wrapped(small.view()), options_for(8));
  csrkit_plan_info info{};
  info.size = sizeof info;
  EXPECT_OK(csrkit_plan_describe(plan.get(), &info));
  EXPECT_STRNE(info.kernel, "auto");
  EXPECT_STRNE(info.choice, "");
  EXPECT_EQ(info.output_rows, 4);
  EXPECT_EQ(info.dense_cols, 8);
  EXPECT_EQ(info.b_kind, CSRKIT_F64);
  EXPECT_EQ(info.c_kind, CSRKIT_F64);
}

TEST(Plans, RefuseWhatDoesNotFit) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  csrkit_plan* none = nullptr;
  const auto refused = [&](const csrkit_plan_options& options, const char* reason) {
    EXPECT_EQ(csrkit_plan_make(matrix.get(), &options, &none), CSRKIT_USAGE);
    EXPECT_TRUE(says(reason)) << csrkit_last_error();
  };
  csrkit_plan_options options = options_for(-1);
  refused(options, "");
  options = options_for(4);
  options.kernel = "nonsense";
  refused(options, "nonsense");
  options = options_for(4);
  options.room = "tpu";
  refused(options, "'tpu' is no room");
  options = options_for(4);
  options.b_kind = CSRKIT_F16;
  refused(options, "f16");

  const PlanHandle plan = plan_of(matrix, options_for(2));
  std::vector<double> data(8);
  csrkit_dense b = dense_of(data, 4, 2, CSRKIT_F64), c = b;
  c.rows = 3;
  EXPECT_EQ(csrkit_bind(plan.get(), &b, &c), CSRKIT_USAGE);
  c = b;
  c.kind = CSRKIT_F32;
  EXPECT_EQ(csrkit_bind(plan.get(), &b, &c), CSRKIT_USAGE);
  c = b;
  c.data = nullptr;
  EXPECT_EQ(csrkit_bind(plan.get(), &b, &c), CSRKIT_USAGE);
  c = b;
  c.space = CSRKIT_DEVICE_MEMORY;
  EXPECT_EQ(csrkit_bind(plan.get(), &b, &c), CSRKIT_USAGE);
}

TEST(Plans, RefuseFactorsBeyondTheRangeOfTheSums) {
  SmallArrays small;
  csrkit_arrays arrays = small.view();
  arrays.values = nullptr;
  arrays.kind = CSRKIT_NONE;
  const PlanHandle plan = plan_of(wrapped(arrays), options_for(2));
  std::vector<float> data(8, 1), result(8, 1);
  const csrkit_dense b = dense_of(data, 4, 2, CSRKIT_F32), c = dense_of(result, 4, 2, CSRKIT_F32);
  EXPECT_OK(csrkit_bind(plan.get(), &b, &c));
  EXPECT_EQ(csrkit_multiply(plan.get(), 1e39, 0), CSRKIT_USAGE);
  EXPECT_TRUE(says("alpha is 1e+39, beyond the range of f32")) << csrkit_last_error();
  EXPECT_EQ(csrkit_multiply(plan.get(), 1, -1e39), CSRKIT_USAGE);
  EXPECT_TRUE(says("beta is -1e+39, beyond the range of f32")) << csrkit_last_error();
  EXPECT_EQ(result, std::vector<float>(8, 1)) << "C is as it was";
  EXPECT_OK(csrkit_multiply(plan.get(), 1e38, -1));
}

TEST(Plans, RefuseRowsThatNoMemoryHolds) {
  SmallArrays small;
  const PlanHandle plan = plan_of(wrapped(small.view()), options_for(2));
  std::vector<double> data(8), result(8);
  csrkit_dense b = dense_of(data, 4, 2, CSRKIT_F64), c = dense_of(result, 4, 2, CSRKIT_F64);
  for (const int bits : {59, 60, 62}) {
    b.leading_dim = std::int64_t{1} << bits;
    EXPECT_EQ(csrkit_bind(plan.get(), &b, &c), CSRKIT_USAGE);
    EXPECT_TRUE(says("with which no memory holds its rows")) << csrkit_last_error();
  }
}

TEST(Plans, RefuseOperandsThatShareElements) {
  SmallArrays small;
  const PlanHandle plan = plan_of(wrapped(small.view()), options_for(2));
  std::vector<double> data(40);
  const auto at = [&](int first, int leading_dim) {
    csrkit_dense dense = dense_of(data, 4, 2, CSRKIT_F64);
    dense.data = data.data() + first;
    dense.leading_dim = leading_dim;
    return dense;
  };
  const auto is_refused = [&](const csrkit_dense& b, const csrkit_dense& c) {
    const csrkit_status status = csrkit_bind(plan.get(), &b, &c);
    EXPECT_TRUE(status == CSRKIT_OK || says("B and C share elements")) << csrkit_last_error();
    return status == CSRKIT_USAGE;
  };
  EXPECT_TRUE(is_refused(at(0, 2), at(0, 2)));
  EXPECT_TRUE(is_refused(at(0, 2), at(7, 2)));
  EXPECT_FALSE(is_refused(at(0, 2), at(8, 2)));
  EXPECT_FALSE(is_refused(at(8, 2), at(0, 2)));
  // Columns of one wider array.
  EXPECT_FALSE(is_refused(at(0, 4), at(2, 4)));
  EXPECT_FALSE(is_refused(at(2, 4), at(0, 4)));
  EXPECT_FALSE(is_refused(at(6, 4), at(0, 4)));
  EXPECT_TRUE(is_refused(at(0, 4), at(1, 4)));
  EXPECT_TRUE(is_refused(at(1, 4), at(0, 4)));
  EXPECT_TRUE(is_refused(at(0, 4), at(3, 4)));
  EXPECT_TRUE(is_refused(at(0, 4), at(2, 5)));
}

TEST(Plans, RefuseElementsBetweenAddresses) {
  SmallArrays small;
  const PlanHandle plan = plan_of(wrapped(small.view()), options_for(2));
  std::vector<double> data(20);
  csrkit_dense b = dense_of(data, 4, 2, CSRKIT_F64), c = b;
  b.data = reinterpret_cast<char*>(data.data() + 8) + 4;
  EXPECT_EQ(csrkit_bind(plan.get(), &b, &c), CSRKIT_USAGE);
  EXPECT_TRUE(says("B begins between two addresses")) << csrkit_last_error();
}

/// The plan in the file, whole and in order, is of another build now.
void say_another_build(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head, body;
  std::getline(in, head);
  body.assign(std::istreambuf_iterator<char>(in), {});
  const std::size_t at = body.find("\nbuild ") + 7;
  body.replace(at, body.find('\n', at) - at, "another");
  std::ofstream(path, std::ios::binary)
      << head.substr(0, head.rfind(' ') + 1) << digest_bytes(body.data(), body.size()) << "\n"
      << body;
}

TEST(Plans, OfAFileAreThoseThatWereSaved) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  const std::string path = testing::TempDir() + "csrkit_api_" + std::to_string(getpid()) + ".plan";
  const csrkit_plan_options options = options_for(5);
  EXPECT_OK(csrkit_plan_save(plan_of(matrix, options).get(), path.c_str()));
  csrkit_plan* loaded = nullptr;
  EXPECT_OK(csrkit_plan_load(path.c_str(), matrix.get(), &options, &loaded));
  const PlanHandle plan(loaded);
  csrkit_plan_info info{};
  info.size = sizeof info;
  EXPECT_OK(csrkit_plan_describe(plan.get(), &info));
  EXPECT_STREQ(info.kernel, "nnz_balanced");

  csrkit_plan_options other = options_for(6);
  EXPECT_EQ(csrkit_plan_load(path.c_str(), matrix.get(), &other, &loaded), CSRKIT_USAGE);
  EXPECT_TRUE(says("made for dense_cols 5")) << csrkit_last_error();
  other = options_for(5);
  other.kernel = "naive";
  EXPECT_EQ(csrkit_plan_load(path.c_str(), matrix.get(), &other, &loaded), CSRKIT_USAGE);
  say_another_build(path);
  EXPECT_EQ(csrkit_plan_load(path.c_str(), matrix.get(), &options, &loaded), CSRKIT_USAGE);
  EXPECT_TRUE(says("this plan was made for build another")) << csrkit_last_error();
  EXPECT_OK(csrkit_plan_save(plan_of(matrix, options).get(), path.c_str()));
  small.values[2] = 7;
  const Matrix changed = wrapped(small.view());
  EXPECT_EQ(csrkit_plan_load(path.c_str(), changed.get(), &options, &loaded), CSRKIT_USAGE);
  EXPECT_TRUE(says("entries_xxh3_128")) << csrkit_last_error();
  std::remove(path.c_str());
  EXPECT_EQ(csrkit_plan_load(path.c_str(), matrix.get(), &options, &loaded), CSRKIT_IO);
}

}  // namespace
}  // namespace csrkit::api
