// What the plans of operators and of sampled products share on the host: the team, the memory
// limit, the clock, cold caches. A plan's constructor makes its method and notes analysis_seconds_;
// its bind says that there are operands.
#pragma once

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/team.h"
#include "core/contract/operator.h"
#include "cpu/common/caches.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu {

template <class Contract>
class HostPlan : public Contract {
 public:
  double time_multiply(double alpha, double beta) override {
    const Stopwatch clock;
    this->multiply(alpha, beta);
    return clock.seconds();
  }

  void evict_caches() override { evictor_.evict(threads_); }

  Phases phases() const override {
    Phases phases;
    phases.analysis_seconds = analysis_seconds_;
    phases.peak_bytes = budget_.peak_bytes();
    return phases;
  }

 protected:
  /// `advice` ends what is said where memory is short (MemoryBudget).
  HostPlan(const PlanOptions& options, Capabilities capabilities, const char* advice)
      : capabilities_(capabilities),
        threads_(team_size(options.where.threads)),
        budget_(options.memory_limit_bytes, 0, advice) {}

  void require_bound() const {
    if (!is_bound_) throw UsageError("multiply needs operands: call bind first");
  }

  Capabilities capabilities_;
  int threads_;
  MemoryBudget budget_;
  double analysis_seconds_ = 0;
  bool is_bound_ = false;

 private:
  CacheEvictor evictor_;
};

}  // namespace csrkit::cpu
