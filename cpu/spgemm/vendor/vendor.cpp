#include "cpu/spgemm/vendor/vendor.h"

#include <algorithm>

#include "core/base/stopwatch.h"
#include "core/base/team.h"
#include "core/facts/matrix_stats.h"
#include "cpu/common/caches.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu {

namespace {

class VendorSpgemmPlan : public SpgemmPlan {
 public:
  VendorSpgemmPlan(const SpgemmProblem& problem, const PlanOptions& options,
                   VendorProductFactory make_product)
      : problem_(problem),
        threads_(team_size(options.where.threads)),
        budget_(options.memory_limit_bytes, operand_bytes(problem),
                "use a kernel of csrkit, which makes C in blocks") {
    const Stopwatch clock;
    const CsrMatrix op_b =
        problem.transpose_b ? transpose_within(budget_, problem.b, "B", threads_) : problem.b;
    const CsrMatrix* const narrowed[] = {&problem.a, problem.b_is_a() ? nullptr : &problem.b};
    for (const CsrMatrix* matrix : narrowed) {
      if (matrix != nullptr) {
        budget_.reserve((static_cast<std::uint64_t>(matrix->rows()) + 1) * sizeof(int),
                        "the operands in the form of the vendor");
      }
    }
    Buffer<Offset> row_products(problem.a.rows());
    products_ = spgemm_products(problem.a, op_b, row_products.data(), threads_);
    for (Index row = 0; row < problem.a.rows(); ++row) {
      nnz_bound_ += std::min<Offset>(row_products[row], problem.output_cols());
    }
    // Without a product there is nothing to ask the vendor for, and some refuse empty operands.
    if (products_ > 0) product_ = make_product({problem.a, op_b, threads_});
    phases_.analysis_seconds = clock.seconds();
  }

  void multiply(CsrSink& sink) override {
    const Stopwatch multiply_clock;
    if (product_) product_->multiply();
    phases_.numeric_seconds = multiply_clock.seconds();
    const Stopwatch sort_clock;
    if (product_ && problem_.sorts_rows) product_->sort();
    phases_.sort_seconds = sort_clock.seconds();
    const Stopwatch output_clock;
    const CsrMatrix c = product_ ? product_->result() : empty_product();
    phases_.output_nnz = c.nnz();
    phases_.row_blocks = 1;
    budget_.reserve(2 * c.size_bytes(), "the vendor's C and a copy of it");
    budget_.release(2 * c.size_bytes());
    if (product_) product_->drop();
    sink.append_rows(c);
    phases_.output_seconds = output_clock.seconds();
  }

  void set_values(const CsrMatrix&, const CsrMatrix&) override { refuse_reuse(); }
  double time_numeric() override { return refuse_reuse(); }

  double time_multiply() override {
    if (!product_) return 0;
    const Stopwatch clock;
    product_->multiply();
    if (problem_.sorts_rows) product_->sort();
    const double seconds = clock.seconds();
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
    forecast.whole_bytes = budget_.held_bytes() + 2 * forecast.output_bytes_bound;
    forecast.peak_bytes = forecast.whole_bytes;
    return forecast;
  }

  SpgemmPhases phases() const override {
    SpgemmPhases phases = phases_;
    phases.peak_bytes = budget_.peak_bytes();
    return phases;
  }
  std::string choice() const override { return product_ ? product_->choice() : "nothing to do"; }

 private:
  [[noreturn]] static double refuse_reuse() {
    throw UsageError("a vendor's row makes C anew for new values; make a new plan");
  }

  CsrMatrix empty_product() const {
    Buffer<Offset> row_offsets(Offset{problem_.output_rows()} + 1);
    std::fill(row_offsets.data(), row_offsets.data() + row_offsets.size(), Offset{0});
    return CsrMatrix(problem_.output_rows(), problem_.output_cols(), std::move(row_offsets),
                     Buffer<Index>(0), ValueArray(problem_.c, 0));
  }

  SpgemmProblem problem_;
  int threads_;
  MemoryBudget budget_;
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

}  // namespace csrkit::cpu
