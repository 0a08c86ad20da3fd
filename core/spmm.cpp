#include "core/spmm.h"

namespace csrkit {

namespace {

template <class Enum>
Enum parse_name(const std::string& name, std::initializer_list<Enum> all, const char* what) {
  std::string known;
  for (const Enum item : all) {
    if (name == name_of(item)) return item;
    known += (known.empty() ? "" : ", ") + std::string(name_of(item));
  }
  throw UsageError("'" + name + "' is no " + what + "; use one of " + known);
}

Capabilities capability_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return kImplicitOnes;
    case ValueKind::f32: return kF32;
    case ValueKind::f64: return kF64;
    case ValueKind::f16: return kF16;
    case ValueKind::bf16: return kBf16;
  }
  return 0;
}

std::string names_of(Capabilities set) {
  static constexpr const char* kNames[] = {"A of kind none",
                                           "f32",
                                           "f64",
                                           "f16",
                                           "bf16",
                                           "transposed A",
                                           "alpha or beta",
                                           "a leading dimension above the columns",
                                           "semirings",
                                           "--schedule",
                                           "determinism (--nondeterministic does without it)",
                                           "subnormals, infinities and NaN",
                                           "C of 16 bits",
                                           "device operands that are not aligned to 16 bytes"};
  std::string names;
  for (int bit = 0; bit < 14; ++bit) {
    if (set & (1u << bit)) names += (names.empty() ? "" : ", ") + std::string(kNames[bit]);
  }
  return names;
}

void require(Capabilities has, Capabilities needs, const std::string& kernel) {
  if (const Capabilities missing = needs & ~has) {
    throw UsageError(kernel + " cannot do: " + names_of(missing) +
                     "; --list shows what each kernel can do");
  }
}

std::string shape(Index rows, Index cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

}  // namespace

const char* name_of(Semiring semiring) {
  switch (semiring) {
    case Semiring::plus_times: return "plus-times";
    case Semiring::min_plus: return "min-plus";
    case Semiring::max_times: return "max-times";
    case Semiring::or_and: return "or-and";
  }
  return "?";
}

Semiring parse_semiring(const std::string& name) {
  return parse_name(
      name, {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and},
      "semiring");
}

const char* name_of(Role role) {
  switch (role) {
    case Role::reference: return "reference";
    case Role::ladder: return "ladder";
    case Role::production: return "production";
    case Role::vendor: return "vendor";
    case Role::mark: return "mark";
  }
  return "?";
}

const char* name_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::automatic: return "auto";
    case Schedule::static_: return "static";
    case Schedule::dynamic: return "dynamic";
    case Schedule::guided: return "guided";
  }
  return "?";
}

Schedule parse_schedule(const std::string& name) {
  return parse_name(name,
                    {Schedule::automatic, Schedule::static_, Schedule::dynamic, Schedule::guided},
                    "schedule");
}

SpmmProblem default_spmm_problem(const CsrMatrix& a, Index dense_cols) {
  SpmmProblem problem;
  problem.a = a;
  problem.dense_cols = dense_cols;
  problem.b = a.value_kind() == ValueKind::none ? ValueKind::f32 : a.value_kind();
  problem.accumulate = problem.b == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
  problem.c = problem.accumulate;
  return problem;
}

void require_legal(const SpmmProblem& problem) {
  if (problem.dense_cols < 1) {
    throw UsageError("dense_cols is " + std::to_string(problem.dense_cols) +
                     "; it must be 1 or more");
  }
  const ValueKind a = problem.a.value_kind(), b = problem.b, c = problem.c;
  const bool wide = b == ValueKind::f64;
  const bool narrow = b == ValueKind::f16 || b == ValueKind::bf16;
  const ValueKind accumulate = wide ? ValueKind::f64 : ValueKind::f32;
  const bool legal = b != ValueKind::none && (a == ValueKind::none || a == b) &&
                     problem.accumulate == accumulate && (c == accumulate || (narrow && c == b));
  if (!legal) {
    throw UsageError(
        std::string("A ") + name_of(a) + ", B " + name_of(b) + ", C " + name_of(c) +
        ", accumulation " + name_of(problem.accumulate) +
        " do not go together: B has A's kind (any kind if A has none), accumulation is "
        "f64 for f64 and f32 otherwise, C has the accumulation's or B's kind");
  }
  if (problem.semiring != Semiring::plus_times && narrow) {
    throw UsageError(std::string("semiring ") + name_of(problem.semiring) +
                     " works on f32 and f64; convert the matrix with --value-kind");
  }
}

Capabilities needed_for(const SpmmProblem& problem, const PlanOptions& options) {
  Capabilities needs = capability_of(problem.a.value_kind()) | capability_of(problem.b);
  if (problem.transpose_a) needs |= kTranspose;
  if (problem.semiring != Semiring::plus_times) needs |= kSemirings;
  if (problem.c == ValueKind::f16 || problem.c == ValueKind::bf16) needs |= kNarrowOutput;
  if (options.deterministic) needs |= kDeterministic;
  if (options.where.schedule != Schedule::automatic || options.where.chunk != 0) needs |= kSchedule;
  return needs;
}

std::unique_ptr<SpmmPlan> SpmmKernel::make_plan(const SpmmProblem& problem,
                                                const PlanOptions& options) const {
  require_legal(problem);
  require(capabilities, needed_for(problem, options), name);
  if (!options.variant.empty() && variants == nullptr) {
    throw UsageError(std::string(name) + " has no variants; leave '" + options.variant + "' out");
  }
  return make(problem, options);
}

bool is_vector_aligned(const ConstDenseView& view) {
  constexpr Offset kVectorBytes = 16;
  const Offset row_bytes = view.leading_dim * size_of(view.kind);
  return static_cast<Offset>(reinterpret_cast<std::uintptr_t>(view.data) % kVectorBytes) == 0 &&
         (view.leading_dim == view.cols || row_bytes % kVectorBytes == 0);
}

void require_bindable(const SpmmProblem& problem, Capabilities capabilities,
                      const ConstDenseView& b, const DenseView& c) {
  const auto check = [&](const char* name, Index rows, ValueKind kind, const ConstDenseView& view) {
    if (view.rows != rows || view.cols != problem.dense_cols) {
      throw UsageError(std::string(name) + " is " + shape(view.rows, view.cols) +
                       "; this product needs " + shape(rows, problem.dense_cols));
    }
    if (view.kind != kind) {
      throw UsageError(std::string(name) + " holds " + name_of(view.kind) +
                       "; this product needs " + name_of(kind));
    }
    if (view.leading_dim < view.cols) {
      throw UsageError(std::string(name) + " has a leading dimension below its columns");
    }
    if (view.leading_dim > view.cols) require(capabilities, kLeadingDimension, "this kernel");
    if (view.space == MemorySpace::device && !is_vector_aligned(view)) {
      require(capabilities, kAnyAlignment, "this kernel");
    }
  };
  check("B", problem.input_rows(), problem.b, b);
  check("C", problem.output_rows(), problem.c, c);
}

void require_multipliable(const SpmmProblem& problem, Capabilities capabilities, double alpha,
                          double beta) {
  if (alpha == 1 && beta == 0) return;
  if (problem.semiring != Semiring::plus_times) {
    throw UsageError(std::string("semiring ") + name_of(problem.semiring) +
                     " takes alpha 1 and beta 0 only");
  }
  require(capabilities, kAlphaBeta, "this kernel");
}

const SpmmKernel& find_kernel(const std::vector<SpmmKernel>& table, const std::string& name) {
  std::string known;
  for (const SpmmKernel& kernel : table) {
    if (name == kernel.name) return kernel;
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw UsageError("there is no kernel '" + name + "' here; use one of " + known);
}

}  // namespace csrkit
