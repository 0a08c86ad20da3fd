// Plans of csrkit.h: products of a matrix with dense operands.
#include <algorithm>
#include <limits>

#include "api/handles.h"
#include "core/base/counted.h"
#include "core/base/file_digest.h"
#include "core/contract/takes_stream.h"
#include "core/contract/takes_values.h"
#include "core/file/plan_file.h"
#include "cpu/common/kernels.h"

namespace csrkit::api {

namespace {

SpmmProblem problem_of(const CsrMatrix& a, const csrkit_plan_options& given) {
  const std::int64_t cols = given.dense_cols == 0 ? 1 : given.dense_cols;
  SpmmProblem problem =
      default_spmm_problem(a, checked_cast<Index, UsageError>(cols, "dense_cols"));
  problem.transpose_a = given.transpose != 0;
  set_dense_kind(&problem, kind_of(given.b_kind, problem.b));
  problem.c = kind_of(given.c_kind, problem.c);
  problem.semiring = parse_semiring(text_or(given.semiring, "plus-times"));
  return problem;
}

PlanOptions plan_options_of(const csrkit_plan_options& given) {
  PlanOptions options;
  options.deterministic = given.may_vary == 0;
  options.memory_limit_bytes = given.memory_limit_bytes;
  options.variant = text_or(given.variant, "");
  options.where.threads = given.threads;
  options.where.device = given.device;
  options.where.stream = given.stream;
  return options;
}

/// One column is a vector, and has kernels of its own.
const KernelTable<Spmm>& kernels_for(const SpmmProblem& problem, const std::string& room) {
  constexpr char kWhat[] = "a plan on a GPU";
  if (problem.dense_cols == 1) {
    return kernels_in(room, &cpu::spmv_kernels, &gpu::Face::spmv_kernels, kWhat);
  }
  return kernels_in(room, &cpu::spmm_kernels, &gpu::Face::spmm_kernels, kWhat);
}

/// Digest of the three arrays.
std::string digest_of(const CsrMatrix& a) {
  DigestStream digest;
  digest.add(a.row_offsets(), (static_cast<std::size_t>(a.rows()) + 1) * sizeof(Offset));
  const auto nnz = static_cast<std::size_t>(a.nnz());
  if (nnz > 0) digest.add(a.col_indices(), nnz * sizeof(Index));
  if (nnz > 0 && a.value_kind() != ValueKind::none) {
    digest.add(a.values(), nnz * static_cast<std::size_t>(size_of(a.value_kind())));
  }
  return digest.hex();
}

/// What a saved plan depends on.
PlanKey key_of(const csrkit_plan& plan) {
  const SpmmProblem& problem = plan.problem;
  const auto device = [&] {
    if (plan.room == kCpu) return std::string("any");
    return require_gpu_room("a saved plan").device_info(plan.options.where.device).name;
  };
  return {{"version", CSRKIT_VERSION},
          {"build", build_of_plans(plan.room)},
          {"room", plan.room},
          {"device", device()},
          {"rows", std::to_string(problem.a.rows())},
          {"cols", std::to_string(problem.a.cols())},
          {"entries_xxh3_128", digest_of(problem.a)},
          {"dense_cols", std::to_string(problem.dense_cols)},
          {"kinds", std::string(name_of(problem.a.value_kind())) + " " + name_of(problem.b) + " " +
                        name_of(problem.c)},
          {"transpose", problem.transpose_a ? "yes" : "no"},
          {"semiring", name_of(problem.semiring)},
          {"deterministic", plan.options.deterministic ? "yes" : "no"}};
}

/// All but the plan itself.
std::unique_ptr<csrkit_plan> described(const csrkit_matrix* matrix,
                                       const csrkit_plan_options* options) {
  require_given(matrix, "matrix");
  const csrkit_plan_options given = read_options(options, "csrkit_plan_options");
  auto plan = std::make_unique<csrkit_plan>();
  plan->problem = problem_of(matrix->file.matrix, given);
  require_legal(plan->problem);
  plan->options = plan_options_of(given);
  plan->room = text_or(given.room, kCpu);
  plan->kernel = name_in_table(plan->room, {"spmm", "spmv"}, text_or(given.kernel, "auto"));
  return plan;
}

void analyse(csrkit_plan* plan, const SavedAnalysis* saved) {
  PlanOptions options = plan->options;
  options.saved = saved;
  plan->plan = find_kernel(kernels_for(plan->problem, plan->room), plan->kernel)
                   .make_plan(plan->problem, options);
}

/// The bytes of an operand, gaps between its rows included. An address may be any number here, so
/// nothing overflows.
struct Place {
  explicit Place(const ConstDenseView& view)
      : size(static_cast<std::uint64_t>(size_of(view.kind))),
        begin(reinterpret_cast<std::uintptr_t>(view.data)),
        row(static_cast<std::uint64_t>(view.cols) * size),
        stride(static_cast<std::uint64_t>(view.leading_dim) * size),
        bytes(view.rows > 0 && row > 0 ? (static_cast<std::uint64_t>(view.rows) - 1) * stride + row
                                       : 0) {}
  std::uint64_t end() const { return begin + bytes; }
  std::uint64_t size, begin, row, stride, bytes;
};

}  // namespace

csrkit_dense read_operand(const csrkit_dense* dense, const char* name) {
  require_given(dense, name);
  const csrkit_dense given = read_options(dense, "csrkit_dense");
  if (given.kind == CSRKIT_NONE) throw UsageError(std::string(name) + " needs a kind");
  if (given.space != CSRKIT_HOST && given.space != CSRKIT_DEVICE_MEMORY) {
    throw UsageError(std::to_string(given.space) + " is no csrkit_space");
  }
  if (given.rows > 0 && given.cols > 0) {
    require_given(given.data, "the data of an operand");
    require_aligned(given.data, size_of(kind_of(given.kind, ValueKind::f32)), name);
  }
  return given;
}

ConstDenseView view_of(const csrkit_dense* dense, const char* name) {
  const csrkit_dense given = read_operand(dense, name);
  ConstDenseView view;
  view.data = given.data;
  view.kind = kind_of(given.kind, ValueKind::f32);
  view.rows = checked_cast<Index, UsageError>(given.rows, "the number of rows");
  view.cols = checked_cast<Index, UsageError>(given.cols, "the number of columns");
  view.leading_dim = given.leading_dim == 0 ? given.cols : given.leading_dim;
  constexpr Offset kMostBytes = std::numeric_limits<Offset>::max();
  if (view.leading_dim > kMostBytes / size_of(view.kind) / std::max(view.rows, Index{1})) {
    throw UsageError(std::string(name) + " has a leading dimension of " +
                     std::to_string(view.leading_dim) + ", with which no memory holds its rows");
  }
  view.space = given.space == CSRKIT_HOST ? MemorySpace::host : MemorySpace::device;
  return view;
}

void require_apart(const ConstDenseView& operand, const char* name, const ConstDenseView& c) {
  const Place first(operand), second(c);
  if (operand.space != c.space || first.bytes == 0 || second.bytes == 0) return;
  if (first.end() <= second.begin || second.end() <= first.begin) return;
  // Columns of one wider array lie between each other.
  if (first.stride == second.stride && first.stride != 0) {
    const std::uint64_t stride = first.stride;
    const std::uint64_t shift = second.begin >= first.begin
                                    ? (second.begin - first.begin) % stride
                                    : (stride - (first.begin - second.begin) % stride) % stride;
    if (shift >= first.row && shift + second.row <= stride) return;
  }
  throw UsageError(std::string(name) + " and C share elements, and C is written while " + name +
                   " is read; give C memory of its own");
}

void require_aligned(const void* data, int element_bytes, const char* name) {
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(element_bytes) != 0) {
    throw UsageError(std::string(name) +
                     " begins between two addresses of its elements, which have " +
                     counted(element_bytes, "byte") + "; copy it to where they may lie");
  }
}

}  // namespace csrkit::api

using namespace csrkit;
using namespace csrkit::api;

csrkit_status csrkit_plan_make(const csrkit_matrix* matrix, const csrkit_plan_options* options,
                               csrkit_plan** plan) {
  return guarded([&] {
    require_given(plan, "plan");
    auto handle = described(matrix, options);
    analyse(handle.get(), nullptr);
    *plan = handle.release();
  });
}

csrkit_status csrkit_plan_load(const char* path, const csrkit_matrix* matrix,
                               const csrkit_plan_options* options, csrkit_plan** plan) {
  return guarded([&] {
    require_given(path, "path");
    require_given(plan, "plan");
    auto handle = described(matrix, options);
    if (handle->kernel != "auto") {
      throw UsageError("options.kernel is '" + handle->kernel +
                       "', but the file names the kernel; leave it NULL");
    }
    const SavedPlan saved = read_plan(path, key_of(*handle));
    handle->kernel = saved.kernel;
    analyse(handle.get(), saved.analysis.empty() ? nullptr : &saved.analysis);
    *plan = handle.release();
  });
}

csrkit_status csrkit_plan_save(csrkit_plan* plan, const char* path) {
  return guarded([&] {
    require_given(plan, "plan");
    require_given(path, "path");
    const std::string chosen = plan->plan->chosen_kernel();
    // What a kernel of another operation derived is chosen anew, by the kernel that was asked for.
    const bool is_ours = !chosen.empty() && chosen.find('.') == std::string::npos;
    write_plan(path, key_of(*plan), {is_ours ? chosen : plan->kernel, plan->plan->save_analysis()});
  });
}

csrkit_status csrkit_plan_describe(csrkit_plan* plan, csrkit_plan_info* info) {
  return guarded([&] {
    require_given(plan, "plan");
    const OperatorShape shape = plan->plan->shape();
    const Phases phases = plan->plan->phases();
    const std::string chosen = plan->plan->chosen_kernel();
    plan->running_kernel = chosen.empty() ? plan->kernel : chosen;
    plan->choice = plan->plan->choice();
    csrkit_plan_info found{};
    found.kernel = plan->running_kernel.c_str();
    found.choice = plan->choice.c_str();
    found.output_rows = shape.output_rows;
    found.input_rows = shape.input_rows;
    found.dense_cols = shape.dense_cols;
    found.b_kind = static_cast<std::int32_t>(shape.b);
    found.c_kind = static_cast<std::int32_t>(shape.c);
    found.analysis_seconds = phases.analysis_seconds;
    found.peak_bytes = phases.peak_bytes;
    write_info(found, info, "csrkit_plan_info");
  });
}

csrkit_status csrkit_bind(csrkit_plan* plan, const csrkit_dense* b, const csrkit_dense* c) {
  return guarded([&] {
    require_given(plan, "plan");
    const ConstDenseView from = view_of(b, "B"), to = view_of(c, "C");
    require_apart(from, "B", to);
    plan->plan->bind(
        from, {const_cast<void*>(to.data), to.kind, to.rows, to.cols, to.leading_dim, to.space});
  });
}

csrkit_status csrkit_multiply(csrkit_plan* plan, double alpha, double beta) {
  return guarded([&] {
    require_given(plan, "plan");
    plan->plan->multiply(alpha, beta);
  });
}

csrkit_status csrkit_plan_use_stream(csrkit_plan* plan, void* stream) {
  return guarded([&] {
    require_given(plan, "plan");
    use_stream(*plan->plan, stream);
  });
}

csrkit_status csrkit_plan_set_values(csrkit_plan* plan, const void* values) {
  return guarded([&] {
    require_given(plan, "plan");
    if (plan->problem.a.nnz() > 0) require_given(values, "values");
    set_values(*plan->plan, values);
  });
}

csrkit_status csrkit_fetch(csrkit_plan* plan) {
  return guarded([&] {
    require_given(plan, "plan");
    plan->plan->fetch_output();
  });
}

void csrkit_plan_free(csrkit_plan* plan) { delete plan; }
