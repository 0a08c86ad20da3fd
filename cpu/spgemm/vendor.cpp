#include "cpu/spgemm/vendor.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/available_memory.h"
#include "core/matrix_stats.h"
#include "cpu/caches.h"

namespace csrkit::cpu {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class VendorSpgemmPlan : public SpgemmPlan {
 public:
  VendorSpgemmPlan(const SpgemmProblem& problem, const PlanOptions& options,
                   VendorProductFactory make_product)
      : problem_(problem),
        threads_(options.where.threads > 0 ? options.where.threads : omp_get_max_threads()),
        limit_bytes_(options.memory_limit_bytes),
        held_bytes_(operand_bytes(problem)) {
    if (options.where.threads < 0) throw UsageError("threads must not be negative");
    if (limit_bytes_ == 0) limit_bytes_ = held_bytes_ + available_memory_bytes();
    const double start = seconds_now();
    if (problem.transpose_b) {
      const CsrMatrix& b = problem.b;
      held_bytes_ += csr_bytes(b.cols(), b.nnz(), b.value_kind());
    }
    const CsrMatrix* const narrowed[] = {&problem.a, problem.b_is_a() ? nullptr : &problem.b};
    for (const CsrMatrix* matrix : narrowed) {
      if (matrix != nullptr) {
        held_bytes_ += (static_cast<std::uint64_t>(matrix->rows()) + 1) * sizeof(int);
      }
    }
    hold(0, "the operands of the product");
    const CsrMatrix op_b = problem.transpose_b ? transpose(problem.b) : problem.b;
    Buffer<Offset> row_products(problem.a.rows());
    products_ = spgemm_products(problem.a, op_b, row_products.data());
    for (Index row = 0; row < problem.a.rows(); ++row) {
      nnz_bound_ += std::min<Offset>(row_products[row], problem.output_cols());
    }
    // Without a product there is nothing to ask the peer for, and some refuse empty operands.
    if (products_ > 0) product_ = make_product({problem.a, op_b, threads_});
    phases_.analysis_seconds = seconds_now() - start;
  }

  void multiply(CsrSink& sink) override {
    const double start = seconds_now();
    if (product_) product_->multiply();
    const double multiplied = seconds_now();
    if (product_) product_->sort();
    const double sorted = seconds_now();
    const CsrMatrix c = product_ ? product_->result() : empty_product();
    phases_.output_nnz = c.nnz();
    phases_.row_blocks = 1;
    hold(2 * c.size_bytes(), "the operands, the peer's C and a copy of it");
    if (product_) product_->drop();
    sink.append_rows(c);
    phases_.numeric_seconds = multiplied - start;
    phases_.sort_seconds = sorted - multiplied;
    phases_.output_seconds = seconds_now() - sorted;
  }

  void set_values(const CsrMatrix&, const CsrMatrix&) override { refuse_reuse(); }
  double time_numeric() override { return refuse_reuse(); }

  double time_multiply() override {
    if (!product_) return 0;
    const double start = seconds_now();
    product_->multiply();
    product_->sort();
    const double seconds = seconds_now() - start;
    product_->drop();
    return seconds;
  }

  void evict_caches() override { evictor_.evict(threads_); }

  SpgemmForecast forecast() const override {
    SpgemmForecast forecast;
    forecast.products = static_cast<double>(products_);
    forecast.output_nnz_bound = phases_.row_blocks > 0 ? phases_.output_nnz : nnz_bound_;
    forecast.output_bytes_bound =
        csr_bytes(problem_.output_rows(), forecast.output_nnz_bound, problem_.c);
    forecast.whole_bytes = held_bytes_ + 2 * forecast.output_bytes_bound;
    forecast.peak_bytes = forecast.whole_bytes;
    return forecast;
  }

  SpgemmPhases phases() const override { return phases_; }
  std::string choice() const override { return product_ ? product_->choice() : "nothing to do"; }

 private:
  void hold(std::uint64_t bytes, const char* what) {
    phases_.peak_bytes = std::max(phases_.peak_bytes, held_bytes_ + bytes);
    if (held_bytes_ + bytes <= limit_bytes_) return;
    throw MemoryError(std::string(what) + " take " + std::to_string(held_bytes_ + bytes) +
                      " bytes; the limit is " + std::to_string(limit_bytes_) +
                      " bytes: use a kernel of csrkit, which makes C in blocks");
  }

  [[noreturn]] static double refuse_reuse() {
    throw UsageError("a peer's row makes C anew for new values; make a new plan");
  }

  CsrMatrix empty_product() const {
    Buffer<Offset> row_offsets(Offset{problem_.output_rows()} + 1);
    std::fill(row_offsets.data(), row_offsets.data() + row_offsets.size(), Offset{0});
    return CsrMatrix(problem_.output_rows(), problem_.output_cols(), std::move(row_offsets),
                     Buffer<Index>(0), ValueArray(problem_.c, 0));
  }

  SpgemmProblem problem_;
  int threads_;
  std::uint64_t limit_bytes_;
  std::uint64_t held_bytes_;
  std::unique_ptr<VendorProduct> product_;
  Offset products_ = 0;
  Offset nnz_bound_ = 0;
  SpgemmPhases phases_;
  CacheEvictor evictor_;
};

}  // namespace

std::unique_ptr<SpgemmPlan> make_vendor_spgemm_plan(const SpgemmProblem& problem,
                                                    const PlanOptions& options,
                                                    VendorProductFactory make_product) {
  return std::make_unique<VendorSpgemmPlan>(problem, options, make_product);
}

Buffer<int> narrow_offsets(const CsrMatrix& matrix, const char* peer) {
  if (matrix.nnz() > std::numeric_limits<int>::max()) {
    throw UsageError(std::string(peer) + " counts entries in 32 bits, and a matrix has " +
                     std::to_string(matrix.nnz()) + "; use a kernel of csrkit");
  }
  Buffer<int> offsets(Offset{matrix.rows()} + 1);
  for (Offset i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<int>(matrix.row_offsets()[i]);
  }
  return offsets;
}

}  // namespace csrkit::cpu
