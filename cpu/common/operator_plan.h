// The one adapter between the contract of core/contract/spmm.h and the kernels here. It owns what
// all plans share (op(A) stored by rows, the operands, threads, clocks, the memory limit, cold
// caches), so that a kernel file is about its kernel alone. That file offers one factory,
//
//   std::unique_ptr<SpmmMethod> make_<name>(const MethodInput& input);
//
// and becomes a row of kernels.inc.
#pragma once

#include <omp.h>

#include <memory>
#include <string>
#include <type_traits>

#include "core/contract/spmm.h"
#include "cpu/common/memory_budget.h"

namespace csrkit::cpu {

/// How to run, with nothing left open: `threads` is at least 1.
struct Team {
  int threads = 1;
  Schedule schedule = Schedule::automatic;
  int chunk = 0;
};

/// What a kernel is made from. `op_a` is op(A) stored by rows, so problem.transpose_a is done,
/// unless the kernel's row says that it takes A as it is stored (then op_a is problem.a).
/// Everything but `budget` may be copied; op_a shares its arrays.
struct MethodInput {
  const SpmmProblem& problem;
  CsrMatrix op_a;
  Team team;
  std::string variant;  // PlanOptions::variant; only kernels that list variants see one
  MemoryBudget& budget;
};

/// The operands of one multiplication, on the host and of the right shapes and kinds.
struct MethodCall {
  ConstDenseView b;
  DenseView c;
  double alpha;
  double beta;
};

/// A kernel with everything it derived from A.
class SpmmMethod {
 public:
  virtual ~SpmmMethod() = default;
  virtual void multiply(const MethodCall& call) = 0;
  virtual std::string choice() const { return {}; }
  virtual std::string chosen_kernel() const { return {}; }  // as in Plan
  virtual std::uint64_t stored_bytes() const { return 0; }  // as in Operator
};

using MethodFactory = std::unique_ptr<SpmmMethod> (*)(const MethodInput&);

/// The form in which a method takes A. by_rows: op(A) by rows; the plan transposes A first if the
/// problem says so. as_stored: A as it is; the method deals with transpose_a itself.
enum class AForm : std::uint8_t { by_rows, as_stored };

/// The reference product as a kernel, which the tables of SpMM and SpMV share.
std::unique_ptr<SpmmMethod> make_reference(const MethodInput& input);

/// The plan around a method. `capabilities` are those of the kernel's row.
std::unique_ptr<SpmmPlan> make_cpu_plan(const SpmmProblem& problem, const PlanOptions& options,
                                        Capabilities capabilities, AForm a_form,
                                        MethodFactory make_method);

// ---------------------------------------------------------------- from kinds to types

/// A legal combination of kinds, as types.
template <class AValue, class BValue, class CValue, class AccValue>
struct SpmmKinds {
  using A = AValue;
  using B = BValue;
  using C = CValue;
  using Acc = AccValue;
};

/// Calls `f(SpmmKinds<...>{})` with the types of a legal problem: the one dispatch of this room.
/// `kMayBeWide` is for kernels with kWideOperands.
template <bool kMayBeWide = false, class F>
auto with_spmm_kinds(const SpmmProblem& problem, F&& f) {
  const bool implicit = problem.a.value_kind() == ValueKind::none;
  const auto narrow = [&](auto tag) {
    using B = typename decltype(tag)::type;
    if (problem.c == ValueKind::f32) {
      return implicit ? f(SpmmKinds<ImplicitOne, B, float, float>{})
                      : f(SpmmKinds<B, B, float, float>{});
    }
    return implicit ? f(SpmmKinds<ImplicitOne, B, B, float>{}) : f(SpmmKinds<B, B, B, float>{});
  };
  const auto wide = [&](auto tag) {
    using B = typename decltype(tag)::type;
    return implicit ? f(SpmmKinds<ImplicitOne, B, B, B>{}) : f(SpmmKinds<B, B, B, B>{});
  };
  if constexpr (kMayBeWide) {
    if (has_wide_operands(problem)) return f(SpmmKinds<float, double, double, double>{});
  }
  switch (problem.b) {
    case ValueKind::f32: return wide(TypeTag<float>{});
    case ValueKind::f64: return wide(TypeTag<double>{});
    case ValueKind::f16: return narrow(TypeTag<f16>{});
    case ValueKind::bf16: return narrow(TypeTag<bf16>{});
    case ValueKind::none: break;
  }
  throw UsageError("B cannot be of kind none");
}

/// Accumulator to stored value, one rounding.
inline float narrow_to(TypeTag<float>, float value) { return value; }
inline double narrow_to(TypeTag<double>, double value) { return value; }
inline f16 narrow_to(TypeTag<f16>, float value) { return to_f16(value); }
inline bf16 narrow_to(TypeTag<bf16>, float value) { return to_bf16(value); }

/// Typed operands of one multiplication.
template <class Kinds>
struct Operands {
  using B = typename Kinds::B;
  using C = typename Kinds::C;
  using Acc = typename Kinds::Acc;

  CsrView<typename Kinds::A> a;
  const B* b;
  Offset b_leading_dim;
  C* c;
  Offset c_leading_dim;
  Index dense_cols;
  Acc alpha;
  Acc beta;
  bool reads_c;  // beta is not 0, before it was rounded to Acc
  Team team;

  Operands(const CsrMatrix& op_a, const MethodCall& call, const Team& run_by)
      : a(op_a.view<typename Kinds::A>()),
        b(call.b.as<B>()),
        b_leading_dim(call.b.leading_dim),
        c(call.c.as<C>()),
        c_leading_dim(call.c.leading_dim),
        dense_cols(call.c.cols),
        alpha(static_cast<Acc>(call.alpha)),
        beta(static_cast<Acc>(call.beta)),
        reads_c(call.beta != 0),
        team(run_by) {}

  const B* b_row(Index k) const { return b + Offset{k} * b_leading_dim; }
  C* c_row(Index i) const { return c + Offset{i} * c_leading_dim; }

  /// c = alpha * sum + beta * c; C may hold anything if beta is 0.
  void store(C& to, Acc sum) const {
    Acc value = alpha * sum;
    if (reads_c) value += beta * load_as<Acc>(to);
    to = narrow_to(TypeTag<C>{}, value);
  }
};

/// A method without state of its own: Kernel<Kinds>::multiply(const Operands<Kinds>&).
template <class Kernel, class Kinds>
class StatelessMethod : public SpmmMethod {
 public:
  explicit StatelessMethod(const MethodInput& input) : op_a_(input.op_a), team_(input.team) {}
  void multiply(const MethodCall& call) override {
    Kernel::multiply(Operands<Kinds>(op_a_, call, team_));
  }

 private:
  CsrMatrix op_a_;
  Team team_;
};

template <template <class> class Kernel>
std::unique_ptr<SpmmMethod> make_stateless(const MethodInput& input) {
  return with_spmm_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    using Kinds = decltype(kinds);
    return std::make_unique<StatelessMethod<Kernel<Kinds>, Kinds>>(input);
  });
}

// ---------------------------------------------------------------- --schedule

/// Makes `schedule(runtime)` loops started by this thread follow the team's schedule while it
/// lives.
class ScopedSchedule {
 public:
  explicit ScopedSchedule(const Team& team) {
    omp_get_schedule(&before_, &chunk_before_);
    omp_sched_t kind = omp_sched_static;
    if (team.schedule == Schedule::dynamic) kind = omp_sched_dynamic;
    if (team.schedule == Schedule::guided) kind = omp_sched_guided;
    omp_set_schedule(kind, team.chunk);  // chunk 0: the schedule's default
  }
  ~ScopedSchedule() { omp_set_schedule(before_, chunk_before_); }
  ScopedSchedule(const ScopedSchedule&) = delete;
  ScopedSchedule& operator=(const ScopedSchedule&) = delete;

 private:
  omp_sched_t before_;
  int chunk_before_;
};

}  // namespace csrkit::cpu
