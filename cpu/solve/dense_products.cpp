#include "cpu/solve/dense_products.h"

#include <algorithm>
#include <cmath>

#include "core/base/stopwatch.h"
#include "core/base/suggestion.h"
#include "core/base/team.h"
#include "cpu/common/caches.h"

namespace csrkit::cpu {

namespace {

/// What the products share: A in their kind, operands, clocks. `run` makes Q.
template <class T>
class DenseOperator : public Operator {
 public:
  explicit DenseOperator(const SolveInput& input)
      : rows_(input.problem.rows()),
        columns_(input.problem.right_hand_sides),
        threads_(team_for(Offset{rows_} * rows_, input.threads)),
        owner_(input.problem.dense) {}

  OperatorShape shape() const override {
    return {rows_, rows_, columns_, kValueKindOf<T>, kValueKindOf<T>, MemorySpace::host};
  }
  void bind(ConstDenseView b, DenseView c) override {
    require_bindable(shape(), 0, b, c);
    p_ = b.as<T>();
    q_ = c.as<T>();
  }
  void multiply(double alpha, double beta) override {
    require_multipliable(Semiring::plus_times, 0, ValueKind::f64, alpha, beta);
    run();
  }
  double time_multiply(double alpha, double beta) override {
    const Stopwatch clock;
    multiply(alpha, beta);
    return clock.seconds();
  }
  void evict_caches() override { evictor_.evict(threads_); }
  Phases phases() const override { return phases_; }

 protected:
  virtual void run() = 0;

  /// Row i of A from column 0 on, in T: of the caller's array, or of a copy in this kind.
  void use_all_rows(const SolveInput& input) {
    const ConstDenseView a = std::as_const(*owner_).view();
    if (a.kind == kValueKindOf<T>) {
      a_ = a.as<T>();
      leading_dim_ = a.leading_dim;
      return;
    }
    input.budget.reserve(
        static_cast<std::uint64_t>(rows_) * static_cast<std::uint64_t>(rows_) * sizeof(T),
        "A in another kind");
    copy_ = Buffer<T>(Offset{rows_} * rows_);
    a_ = copy_.data();
    leading_dim_ = rows_;
    copy_triangle(rows_, [&](Index) { return rows_; });
  }

  /// Fills copy_ with the first length(i) elements of every row i.
  template <class Length>
  void copy_triangle(Index rows, const Length& length) {
    const ConstDenseView a = std::as_const(*owner_).view();
    std::vector<Offset> begins(static_cast<std::size_t>(rows) + 1, 0);
    for (Index i = 0; i < rows; ++i) {
      begins[static_cast<std::size_t>(i) + 1] = begins[static_cast<std::size_t>(i)] + length(i);
    }
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (Index i = 0; i < rows; ++i) {
      T* const to = copy_.data() + begins[static_cast<std::size_t>(i)];
      for (Index j = 0; j < length(i); ++j) {
        to[j] = a.kind == ValueKind::f32 ? static_cast<T>(a.as<float>()[i * a.leading_dim + j])
                                         : static_cast<T>(a.as<double>()[i * a.leading_dim + j]);
      }
    }
  }

  Index rows_, columns_;
  int threads_;
  std::shared_ptr<const DenseMatrix> owner_;
  Buffer<T> copy_;
  const T* a_ = nullptr;
  Offset leading_dim_ = 0;
  const T* p_ = nullptr;
  T* q_ = nullptr;
  Phases phases_;
  CacheEvictor evictor_;
};

/// Every element of A is read: an inner product per row.
template <class T>
class Rows : public DenseOperator<T> {
 public:
  explicit Rows(const SolveInput& input) : DenseOperator<T>(input) { this->use_all_rows(input); }

 protected:
  void run() override {
    const Offset columns = this->columns_;
    const T* const p = this->p_;
#pragma omp parallel for schedule(static) num_threads(this->threads_)
    for (Index i = 0; i < this->rows_; ++i) {
      const T* const row = this->a_ + i * this->leading_dim_;
      for (Index column = 0; column < columns; ++column) {
        T sum = 0;
        if (columns == 1) {
#pragma omp simd reduction(+ : sum)
          for (Index j = 0; j < this->rows_; ++j) sum += row[j] * p[j];
        } else {
          for (Index j = 0; j < this->rows_; ++j) sum += row[j] * p[j * columns + column];
        }
        this->q_[i * columns + column] = sum;
      }
    }
  }
};

/// Reads only the lower half of A and uses every element twice: for its own place and for its
/// mirror image. Rows are cut into pieces, always the same ones. Each piece has sums of its own,
/// which are added in order, so the bits do not depend on the team.
template <class T>
class Half : public DenseOperator<T> {
 public:
  Half(const SolveInput& input, bool is_packed) : DenseOperator<T>(input), is_packed_(is_packed) {
    const Offset rows = this->rows_;
    if (is_packed) {
      const Offset elements = rows * (rows + 1) / 2;
      input.budget.reserve(static_cast<std::uint64_t>(elements) * sizeof(T), "half of A, packed");
      this->copy_ = Buffer<T>(elements);
      this->copy_triangle(this->rows_, [](Index i) { return i + 1; });
    } else {
      this->use_all_rows(input);
    }
    // Equal areas: the first k pieces of a triangle hold the share (last / rows)^2 of it.
    begins_.push_back(0);
    for (Index piece = 1; piece <= kPieces; ++piece) {
      const double share = std::sqrt(static_cast<double>(piece) / kPieces);
      begins_.push_back(piece == kPieces ? this->rows_
                                         : static_cast<Index>(share * static_cast<double>(rows)));
    }
    input.budget.reserve(static_cast<std::uint64_t>(rows * kPieces * this->columns_) * sizeof(T),
                         "sums of the pieces");
    sums_ = Buffer<T>(rows * kPieces * this->columns_);
  }

 protected:
  void run() override {
    const Offset columns = this->columns_;
#pragma omp parallel for schedule(dynamic, 1) num_threads(this->threads_)
    for (Index piece = 0; piece < kPieces; ++piece) {
      const Index begin = begins_[static_cast<std::size_t>(piece)];
      const Index end = begins_[static_cast<std::size_t>(piece) + 1];
      T* const sums = sums_.data() + piece * this->rows_ * columns;
      std::fill(sums, sums + end * columns, T{0});
      for (Index i = begin; i < end; ++i) add_row(i, sums);
    }
#pragma omp parallel for schedule(static) num_threads(this->threads_)
    for (Offset at = 0; at < this->rows_ * columns; ++at) {
      T sum = 0;
      for (Index piece = 0; piece < kPieces; ++piece) {
        if (at < begins_[static_cast<std::size_t>(piece) + 1] * columns) {
          sum += sums_[piece * this->rows_ * columns + at];
        }
      }
      this->q_[at] = sum;
    }
  }

 private:
  static constexpr Index kPieces = 64;  // enough for a team of 64

  const T* row(Index i) const {
    return is_packed_ ? this->copy_.data() + Offset{i} * (i + 1) / 2
                      : this->a_ + i * this->leading_dim_;
  }

  void add_row(Index i, T* sums) const {
    const Offset columns = this->columns_;
    const T* const a = row(i);
    const T* const p = this->p_;
    for (Index column = 0; column < columns; ++column) {
      const T mine = p[i * columns + column];
      T sum = a[i] * mine;
      if (columns == 1) {
#pragma omp simd reduction(+ : sum)
        for (Index j = 0; j < i; ++j) {
          sum += a[j] * p[j];
          sums[j] += a[j] * mine;
        }
      } else {
        for (Index j = 0; j < i; ++j) {
          sum += a[j] * p[j * columns + column];
          sums[j * columns + column] += a[j] * mine;
        }
      }
      sums[i * columns + column] += sum;
    }
  }

  bool is_packed_;
  std::vector<Index> begins_;
  Buffer<T> sums_;
};

template <template <class> class Product, class... More>
std::unique_ptr<Operator> make(const SolveInput& input, ValueKind kind, More... more) {
  if (kind == ValueKind::f32) return std::make_unique<Product<float>>(input, more...);
  return std::make_unique<Product<double>>(input, more...);
}

/// Bytes that a core's cache or its share of a larger one holds.
constexpr double kCachedBytes = 4 << 20;

}  // namespace

const std::vector<DenseProduct>& dense_products() {
  static const std::vector<DenseProduct> products{
      {"rows", "every element is read; an inner product per row",
       [](const SolveInput& input, ValueKind kind) { return make<Rows>(input, kind); }},
      {"half", "the lower half is read, every element used twice",
       [](const SolveInput& input, ValueKind kind) { return make<Half>(input, kind, false); }},
      {"packed", "half, from a copy without the upper half",
       [](const SolveInput& input, ValueKind kind) { return make<Half>(input, kind, true); }},
  };
  return products;
}

const DenseProduct& find_dense_product(const std::string& name, Index rows) {
  const bool is_automatic = name.empty() || name == "auto";
  const bool is_small = static_cast<double>(rows) * rows * sizeof(double) < kCachedBytes;
  const std::string wanted = !is_automatic ? name : is_small ? "rows" : "half";
  std::string known = "auto";
  for (const DenseProduct& product : dense_products()) {
    if (wanted == product.name) return product;
    known += std::string(", ") + product.name;
  }
  throw UsageError("there is no product '" + name + "' of a dense matrix; use one of " + known +
                   did_you_mean(name, known));
}

}  // namespace csrkit::cpu
