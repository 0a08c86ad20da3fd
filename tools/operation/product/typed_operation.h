// What is the same for every operation of core/contract: lookup in its kernel tables, and the way
// from a problem to a plan.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/operation/product/operation.h"

namespace csrkit {

/// Where an operation's kernels and marks come from: functions, or null for a room that has none.
template <class Op>
struct KernelSource {
  using Table = const KernelTable<Op>& (*)();
  Table cpu = nullptr;
  Table gpu::Face::*gpu = nullptr;
  Table cpu_marks = nullptr;
  Table gpu::Face::*gpu_marks = nullptr;
};

template <class Op>
class TypedOperation : public Operation {
 public:
  using Problem = typename Op::Problem;

  TypedOperation(OperationFacts facts, KernelSource<Op> source)
      : Operation(std::move(facts)), source_(source) {}

  std::vector<const KernelInfo*> kernels(const std::string& room) const override {
    return rows_of(room, source_.cpu, source_.gpu);
  }
  std::vector<const KernelInfo*> marks(const std::string& room) const override {
    return rows_of(room, source_.cpu_marks, source_.gpu_marks);
  }
  bool has_variants(const KernelInfo& kernel) const override {
    return typed(kernel).variants != nullptr;
  }
  Capabilities needs(const Operands& operands, const Request& request) const override {
    return needed_for(problem_of(operands, request)) | needed_for(request.plan);
  }
  std::vector<std::string> variants(const KernelInfo& kernel, const Operands& operands,
                                    const Request& request) const override {
    if (!has_variants(kernel)) return {""};
    return typed(kernel).variants(problem_of(operands, request));
  }

  std::unique_ptr<Run> prepare(const NamedKernel& named, const Operands& operands,
                               const Request& request) const override {
    const KernelInfo& kernel = *named.kernel;
    Problem problem = problem_of(operands, request);
    require_runnable(kernel, problem, request);
    PlanOptions options = request.plan;
    options.variant = named.variant;
    // A vendor runs as its makers made it: held to determinism it does not offer, it could not run.
    if (kernel.role == Role::vendor && !kernel.can(kDeterministic)) options.deterministic = false;
    Request asked = request;
    if (kernel.role == Role::mark) asked.check = CheckKind::none;  // it leaves C alone
    auto plan = make_plan(typed(kernel), problem, options, asked);
    std::unique_ptr<Run> run = start(std::move(problem), std::move(plan), asked);
    Outcome& outcome = run->outcome;
    outcome.is_deterministic = kernel.can(kDeterministic);
    outcome.choice = run->plan().choice();
    const std::string chosen = run->plan().chosen_kernel();
    if (!chosen.empty()) outcome.kernel_run = full_name_of(named.room, chosen);
    return run;
  }

 protected:
  virtual Problem problem_of(const Operands& operands, const Request& request) const = 0;
  /// Throws what a plan cannot know: operands that memory cannot hold, requests beyond a kernel.
  virtual void require_runnable(const KernelInfo& kernel, const Problem& problem,
                                const Request& request) const = 0;
  virtual std::unique_ptr<typename Op::Plan> make_plan(const Kernel<Op>& kernel,
                                                       const Problem& problem,
                                                       const PlanOptions& options,
                                                       const Request& /*request*/) const {
    return kernel.make_plan(problem, options);
  }
  /// The first product, judged and written. Fills the outcome but for what prepare knows.
  virtual std::unique_ptr<Run> start(Problem problem, std::unique_ptr<typename Op::Plan> plan,
                                     const Request& request) const = 0;

  /// A row of this operation's tables, with its type.
  static const Kernel<Op>& typed(const KernelInfo& kernel) {
    return static_cast<const Kernel<Op>&>(kernel);
  }

 private:
  /// A chooser names a kernel of another operation with that operation's name before it.
  std::string full_name_of(const std::string& room, const std::string& chosen) const {
    const bool is_qualified = chosen.find('.') != std::string::npos;
    return room + "." + (is_qualified ? "" : name() + std::string(".")) + chosen;
  }

  /// None where the room has no table, or is not there.
  static std::vector<const KernelInfo*> rows_of(const std::string& room,
                                                typename KernelSource<Op>::Table cpu,
                                                typename KernelSource<Op>::Table gpu::Face::*gpu) {
    std::vector<const KernelInfo*> rows;
    const auto table = room == kCpu                   ? cpu
                       : gpu != nullptr && gpu_room() ? gpu_room()->*gpu
                                                      : nullptr;
    if (table == nullptr) return rows;
    for (const Kernel<Op>& kernel : table()) rows.push_back(&kernel);
    return rows;
  }

  KernelSource<Op> source_;
};

}  // namespace csrkit
