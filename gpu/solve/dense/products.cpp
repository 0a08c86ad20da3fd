#include "gpu/solve/dense/products.h"

#include "core/base/counted.h"
#include "core/base/text.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/device/timing/l2_flush.h"

namespace csrkit::gpu {

#define CSRKIT_PRODUCT(name, layout, is_deterministic, has_tiles, summary) \
  template <class T>                                                       \
  std::unique_ptr<DenseProduct<T>> make_##name(const DenseInput<T>& input);
#include "gpu/solve/dense/products.inc"
#undef CSRKIT_PRODUCT

namespace {

/// The kernel called `name`.
template <class T>
std::unique_ptr<DenseProduct<T>> make_kernel(const std::string& name, const DenseInput<T>& input) {
#define CSRKIT_PRODUCT(stem, layout, is_deterministic, has_tiles, summary) \
  if (name == #stem) return make_##stem<T>(input);
#include "gpu/solve/dense/products.inc"
#undef CSRKIT_PRODUCT
  return nullptr;
}

template <class T>
class DenseOperator : public Operator {
 public:
  DenseOperator(const DeviceSquare& a, const DenseChoice& choice, Index columns,
                DeviceMemory& memory)
      : rows_(a.rows()), columns_(columns), memory_(memory) {
    const DenseInput<T> input{a.view<T>(), choice.shape, memory};
    kernel_ = make_kernel<T>(choice.product->name, input);
    choice_ = choice.product->name;
    if (choice.product->has_tiles) {
      choice_ += ", tiles of " + std::to_string(choice.shape.tile) + ", " +
                 counted(choice.shape.threads, "thread");
    }
  }

  OperatorShape shape() const override {
    return {rows_, rows_, columns_, kValueKindOf<T>, kValueKindOf<T>, MemorySpace::device};
  }
  void bind(ConstDenseView b, DenseView c) override {
    require_bindable(shape(), kManyColumns | kAnyAlignment, b, c);
    p_ = b.as<T>();
    q_ = c.as<T>();
  }
  void multiply(double alpha, double beta) override {
    require_multipliable(Semiring::plus_times, 0, ValueKind::f64, alpha, beta);
    for (Index column = 0; column < columns_ && rows_ > 0; ++column) {
      kernel_->launch(p_ + column, q_ + column, columns_, memory_.stream());
    }
  }
  double time_multiply(double alpha, double beta) override {
    timer_.start(memory_.stream());
    multiply(alpha, beta);
    timer_.stop(memory_.stream());
    return timer_.seconds();
  }
  void evict_caches() override { L2Flush(memory_.device(), memory_.stream()).run(); }
  std::string choice() const override { return choice_; }
  Phases phases() const override { return {}; }

 private:
  Index rows_, columns_;
  DeviceMemory& memory_;
  std::unique_ptr<DenseProduct<T>> kernel_;
  std::string choice_;
  GpuTimer timer_;
  const T* p_ = nullptr;
  T* q_ = nullptr;
};

std::string text_of(TileShape shape) {
  return std::to_string(shape.tile) + "x" + std::to_string(shape.threads);
}

/// The fastest shapes on an H200: large tiles have fewer sums to add up, small ones more blocks.
TileShape best_shape(Index rows) {
  if (rows >= 4096) return {128, 256};
  return rows >= 1024 ? TileShape{64, 256} : TileShape{32, 128};
}

TileShape parse_shape(const std::string& product, const std::string& text) {
  std::string known;
  for (const TileShape& shape : kTileShapes) {
    if (text_of(shape) == text) return shape;
    append_item(known, text_of(shape));
  }
  throw UsageError("there is no shape '" + text + "' of " + product + "; use one of " + known);
}

}  // namespace

const std::vector<DenseProductInfo>& dense_products() {
  static const std::vector<DenseProductInfo> products = {
#define CSRKIT_PRODUCT(name, layout, is_deterministic, has_tiles, summary) \
  {#name, SquareLayout::layout, is_deterministic, has_tiles, summary},
#include "gpu/solve/dense/products.inc"
#undef CSRKIT_PRODUCT
  };
  return products;
}

DenseChoice parse_dense_product(const PlanOptions& options, Index rows) {
  const std::size_t colon = options.variant.find(':');
  const std::string given = options.variant.substr(0, colon);
  const std::string wanted = given.empty() || given == "auto" ? "half" : given;
  std::string known = "auto";
  for (const DenseProductInfo& product : dense_products()) {
    known += std::string(", ") + product.name;
    if (wanted != product.name) continue;
    if (options.deterministic) {
      require_capabilities(product.is_deterministic ? kDeterministic : 0, kDeterministic, wanted);
    }
    if (colon == std::string::npos) return {&product, best_shape(rows)};
    if (!product.has_tiles) throw UsageError(wanted + " has no tiles whose shape could be chosen");
    return {&product, parse_shape(wanted, options.variant.substr(colon + 1))};
  }
  throw UsageError("there is no product '" + given + "' of a dense matrix; use one of " + known);
}

std::unique_ptr<Operator> make_dense_product(const DeviceSquare& a, const DenseChoice& choice,
                                             Index columns, DeviceMemory& memory) {
  if (a.kind() == ValueKind::f32) {
    return std::make_unique<DenseOperator<float>>(a, choice, columns, memory);
  }
  return std::make_unique<DenseOperator<double>>(a, choice, columns, memory);
}

}  // namespace csrkit::gpu
