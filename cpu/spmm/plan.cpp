#include "cpu/spmm/plan.h"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "core/available_memory.h"
#include "cpu/caches.h"

namespace csrkit::cpu {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class CpuSpmmPlan : public SpmmPlan {
 public:
  CpuSpmmPlan(const SpmmProblem& problem, const PlanOptions& options, Capabilities capabilities,
              bool takes_a_as_stored, MethodFactory make_method)
      : problem_(problem),
        capabilities_(capabilities),
        threads_(options.where.threads > 0 ? options.where.threads
                                           : std::max(1, omp_get_max_threads())),
        budget_(options.memory_limit_bytes) {
    if (options.where.threads < 0 || options.where.chunk < 0) {
      throw UsageError("threads and chunk must not be negative");
    }
    const double start = seconds_now();
    CsrMatrix op_a = problem_.a;
    if (problem_.transpose_a && !takes_a_as_stored) op_a = transpose_within(budget_, op_a);
    method_ = make_method(MethodInput{problem_,
                                      std::move(op_a),
                                      {threads_, options.where.schedule, options.where.chunk},
                                      options.variant,
                                      budget_});
    phases_.analysis_seconds = seconds_now() - start;
  }

  void bind(ConstDenseView b, DenseView c) override {
    require_bindable(problem_, capabilities_, b, c);
    for (const MemorySpace space : {b.space, c.space}) {
      if (space == MemorySpace::device) {
        throw UsageError("a CPU kernel cannot reach device memory; copy the operand to the host");
      }
    }
    b_ = b;
    c_ = c;
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override {
    require_multipliable(problem_, capabilities_, alpha, beta);
    if (!is_bound_) throw UsageError("multiply needs operands: call bind first");
    method_->multiply({b_, c_, alpha, beta});
  }

  double time_multiply(double alpha, double beta) override {
    const double start = seconds_now();
    multiply(alpha, beta);
    return seconds_now() - start;
  }

  void evict_caches() override { evictor_.evict(threads_); }

  Phases phases() const override {
    Phases phases = phases_;
    phases.peak_bytes = budget_.peak_bytes();
    return phases;
  }

  std::string choice() const override { return method_->choice(); }

 private:
  SpmmProblem problem_;
  Capabilities capabilities_;
  int threads_;
  MemoryBudget budget_;
  std::unique_ptr<SpmmMethod> method_;
  Phases phases_;
  bool is_bound_ = false;
  ConstDenseView b_;
  DenseView c_;
  CacheEvictor evictor_;
};

}  // namespace

MemoryBudget::MemoryBudget(std::uint64_t limit_bytes)
    : limit_bytes_(limit_bytes != 0 ? limit_bytes : available_memory_bytes()) {}

void MemoryBudget::reserve(std::uint64_t bytes, const char* what) {
  const std::uint64_t total = held_bytes_ + bytes;
  if (total > limit_bytes_) {
    throw MemoryError(std::string(what) + " needs " + std::to_string(bytes) + " bytes, " +
                      std::to_string(total) + " with what the plan holds already; the limit is " +
                      std::to_string(limit_bytes_) +
                      " bytes: raise --memory-limit or use fewer --dense-cols");
  }
  held_bytes_ = total;
  peak_bytes_ = std::max(peak_bytes_, total);
}

namespace {

std::uint64_t transposed_bytes(const CsrMatrix& a) {
  const auto nnz = static_cast<std::uint64_t>(a.nnz());
  return (static_cast<std::uint64_t>(a.cols()) + 1) * sizeof(Offset) +
         nnz * (sizeof(Index) + static_cast<std::uint64_t>(size_of(a.value_kind())));
}

/// The counting sort's cursors: never more than one per nonzero and column.
std::uint64_t cursor_bytes(const CsrMatrix& a) {
  const auto cols = static_cast<std::uint64_t>(a.cols());
  return std::min(static_cast<std::uint64_t>(omp_get_max_threads()) * cols,
                  static_cast<std::uint64_t>(a.nnz()) + cols) *
         sizeof(Offset);
}

}  // namespace

std::uint64_t transpose_bytes(const CsrMatrix& a) { return transposed_bytes(a) + cursor_bytes(a); }

CsrMatrix transpose_within(MemoryBudget& budget, const CsrMatrix& a) {
  budget.reserve(transpose_bytes(a), "the transpose of A");
  CsrMatrix result = transpose(a);
  budget.release(cursor_bytes(a));
  return result;
}

std::unique_ptr<SpmmPlan> make_cpu_plan(const SpmmProblem& problem, const PlanOptions& options,
                                        Capabilities capabilities, bool takes_a_as_stored,
                                        MethodFactory make_method) {
  return std::make_unique<CpuSpmmPlan>(problem, options, capabilities, takes_a_as_stored,
                                       make_method);
}

}  // namespace csrkit::cpu
