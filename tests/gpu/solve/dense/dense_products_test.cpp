// Every product with a dense symmetric matrix, in every shape of its tiles: right within the bound
// of its sums, the same bits every time, nothing written beside q.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.h"
#include "gpu/device/streams/stream.h"
#include "gpu/solve/dense/products.h"
#include "gpu/solve/vendor/cublas.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::gpu {
namespace {

constexpr Index kGuard = 64;  // numbers around q that belong to somebody else

class DenseProducts : public testing::GpuKernelTest {};

/// Symmetric to the bit, with rows of very different size.
DenseMatrix symmetric_matrix(Index rows, ValueKind kind) {
  DenseMatrix a(rows, rows, kind);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(-1, 1);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double value = draw(random) * (i % 5 == 0 ? 100 : 1) * (j % 5 == 0 ? 100 : 1);
      a.view().set(i, j, value);
      a.view().set(j, i, value);
    }
  }
  return a;
}

template <class T>
class Case {
 public:
  Case(const DenseMatrix& a, const DenseChoice& choice, Index columns)
      : a_(a), columns_(columns), memory_(0, stream_.get(), 0) {
    square_ = DeviceSquare(memory_, a, kValueKindOf<T>, choice.product->layout);
    product_ = make_dense_product(square_, choice, columns, memory_);
    const Index size = a.rows() * columns;
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> draw(-1, 1);
    for (Index i = 0; i < size; ++i) p_.push_back(static_cast<T>(draw(random)));
    device_p_ = DeviceBuffer<T>(memory_, size, "p");
    device_q_ = DeviceBuffer<T>(memory_, size + 2 * kGuard, "q");
    CHECK_CUDA(
        cudaMemcpy(device_p_.data(), p_.data(), device_p_.size_bytes(), cudaMemcpyHostToDevice));
    bind();
  }

  /// Of an output that is full of NaN.
  std::vector<T> multiply() {
    CHECK_CUDA(cudaMemset(device_q_.data(), 0xff, device_q_.size_bytes()));
    product_->multiply();
    stream_.wait();
    std::vector<T> q(static_cast<std::size_t>(device_q_.size()));
    CHECK_CUDA(
        cudaMemcpy(q.data(), device_q_.data(), device_q_.size_bytes(), cudaMemcpyDeviceToHost));
    for (Index i = 0; i < kGuard; ++i) {
      EXPECT_TRUE(std::isnan(q[static_cast<std::size_t>(i)]));
      EXPECT_TRUE(std::isnan(q[q.size() - 1 - static_cast<std::size_t>(i)]));
    }
    return {q.begin() + kGuard, q.end() - kGuard};
  }

  /// gamma(n) sum |a p| for n products in any order (Higham, Accuracy and Stability of Numerical
  /// Algorithms, 2nd ed., section 3.1).
  void expect_right(const std::vector<T>& q) const {
    const double unit = std::numeric_limits<T>::epsilon() / 2;
    for (Index i = 0; i < a_.rows(); ++i) {
      for (Index column = 0; column < columns_; ++column) {
        double sum = 0, size = 0;
        for (Index j = 0; j < a_.rows(); ++j) {
          const double value = static_cast<T>(a_.view().at(i, j));
          const double term =
              value * static_cast<double>(p_[static_cast<std::size_t>(j * columns_ + column)]);
          sum += term;
          size += std::abs(term);
        }
        const double terms = a_.rows() + 1;
        const double bound = terms * unit / (1 - terms * unit) * size * 2;
        const double found = q[static_cast<std::size_t>(i * columns_ + column)];
        ASSERT_LE(std::abs(found - sum), bound) << "row " << i << ", column " << column;
      }
    }
  }

 private:
  void bind() {
    const ValueKind kind = kValueKindOf<T>;
    const Index rows = a_.rows();
    product_->bind(
        {device_p_.data(), kind, rows, columns_, columns_, MemorySpace::device},
        {device_q_.data() + kGuard, kind, rows, columns_, columns_, MemorySpace::device});
  }

  const DenseMatrix& a_;
  Index columns_;
  Stream stream_{nullptr};
  DeviceMemory memory_;
  DeviceSquare square_;
  std::unique_ptr<Operator> product_;
  std::vector<T> p_;
  DeviceBuffer<T> device_p_, device_q_;
};

template <class T>
void check(const DenseMatrix& a, const std::string& variant, Index columns) {
  SCOPED_TRACE(variant + ", " + std::to_string(a.rows()) + " rows of " + name_of(a.kind()) +
               " in " + name_of(kValueKindOf<T>));
  PlanOptions options;
  options.variant = variant;
  options.deterministic = false;
  const DenseChoice choice = parse_dense_product(options, a.rows());
  Case<T> with(a, choice, columns);
  const std::vector<T> first = with.multiply();
  with.expect_right(first);
  if (choice.product->is_deterministic) {
    EXPECT_EQ(first, with.multiply());
  }
}

TEST_P(DenseProducts, AreRightInEveryKindAndSize) {
  for (const Index rows : {1, 2, 31, 33, 127, 128, 129, 300, 777}) {
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      const DenseMatrix a = symmetric_matrix(rows, kind);
      for (const Index columns : {1, 3}) {
        check<float>(a, GetParam(), columns);
        check<double>(a, GetParam(), columns);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(DenseProducts, AreRightInEveryShape) {
  const DenseMatrix a = symmetric_matrix(517, ValueKind::f64);
  for (const TileShape& shape : kTileShapes) {
    const std::string variant =
        GetParam() + ":" + std::to_string(shape.tile) + "x" + std::to_string(shape.threads);
    PlanOptions options;
    options.variant = GetParam();
    options.deterministic = false;
    if (!parse_dense_product(options, 517).product->has_tiles) {
      options.variant = variant;
      EXPECT_THROW(parse_dense_product(options, 517), UsageError);
      continue;
    }
    check<float>(a, variant, 1);
    check<double>(a, variant, 1);
  }
}

/// Small, for compute-sanitizer: less than a tile, a tile exactly, several with a rest.
class SanitizerDenseProducts : public DenseProducts {};

TEST_P(SanitizerDenseProducts, SmallMatrices) {
  for (const Index rows : {3, 64, 150}) {
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      const DenseMatrix a = symmetric_matrix(rows, kind);
      check<float>(a, GetParam(), 1);
      check<double>(a, GetParam(), 3);
    }
  }
}

std::vector<std::string> product_names() {
  std::vector<std::string> names;
  for (const DenseProductInfo& product : dense_products()) names.push_back(product.name);
  return names;
}

/// A vendor's are not for us to mend.
std::vector<std::string> own_product_names() {
  std::vector<std::string> names;
  for (const std::string& name : product_names()) {
    if (name.rfind("vendor", 0) != 0) names.push_back(name);
  }
  return names;
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& param) {
  return param.param;
}

INSTANTIATE_TEST_SUITE_P(Table, DenseProducts, ::testing::ValuesIn(product_names()), name_of_param);

INSTANTIATE_TEST_SUITE_P(, SanitizerDenseProducts, ::testing::ValuesIn(own_product_names()),
                         name_of_param);

TEST(DenseChoices, NameWhatThereIs) {
  PlanOptions options;
  EXPECT_EQ(std::string(parse_dense_product(options, 10).product->name), "half");
  options.variant = "half:64x256";
  EXPECT_EQ(parse_dense_product(options, 10).shape.threads, 256);
  for (const char* wrong : {"quarter", "half:1x1", "packed:64x256", "split_atomic"}) {
    options.variant = wrong;
    EXPECT_THROW(parse_dense_product(options, 10), UsageError) << wrong;
  }
  options.deterministic = false;
  EXPECT_FALSE(parse_dense_product(options, 10).product->is_deterministic);
}

TEST(Cublas, ItsLackOfMemoryIsOurs) {
  EXPECT_NO_THROW(check_cublas(CUBLAS_STATUS_SUCCESS, "call"));
  EXPECT_THROW(check_cublas(CUBLAS_STATUS_ALLOC_FAILED, "call"), MemoryError);
  EXPECT_THROW(check_cublas(CUBLAS_STATUS_EXECUTION_FAILED, "call"), DeviceError);
}

}  // namespace
}  // namespace csrkit::gpu
