// One kernel table for every operation. A kernel is a row: name, role, capabilities, one line of
// what it does, and the function that makes its plan.
//
// An operation is named by a struct with its types (Spmm, Spgemm):
//   using Problem = ...;                    what is to be computed
//   using Plan = ...;                       derived from csrkit::Plan
//   static constexpr const char* kName;     "spmm"
//   static constexpr Capabilities kAll;     what a kernel that can do everything declares
// and by two functions beside it: require_legal(problem), which throws UsageError, and
// needed_for(problem), the capabilities that the problem asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/plan.h"

namespace csrkit {

/// What a kernel is for: the reference, a rung of the ladder, what users run, a vendor's; or, in
/// benchmarks only, a mark: a pass that reads what an operation reads and makes no result.
enum class Role : std::uint8_t { reference, ladder, production, vendor, mark };
const char* name_of(Role role);

/// The part of a row that is the same for all operations.
struct KernelInfo {
  const char* name;  // what one types after --kernel; its file or folder is called so
  Role role;
  Capabilities capabilities;
  const char* summary;

  bool can(Capabilities wanted) const { return (capabilities & wanted) == wanted; }
};

/// Throws UsageError unless the kernel can do what is needed and the options are sensible: the one
/// place where plan options are checked. `has_variants`: whether the kernel lists variants.
void require_plannable(const KernelInfo& kernel, Capabilities needs, const PlanOptions& options,
                       bool has_variants);

/// One row of a kernel table.
template <class Operation>
struct Kernel : KernelInfo {
  using Problem = typename Operation::Problem;
  using Plan = typename Operation::Plan;

  std::unique_ptr<Plan> (*make)(const Problem&, const PlanOptions&);
  /// The tuning strings worth measuring for a problem, for --tune; null if there is nothing to
  /// tune. Every one gives the same bits. A string that is not understood is a UsageError of
  /// `make`.
  std::vector<std::string> (*variants)(const Problem&) = nullptr;

  /// Checks the problem, the capabilities and the options, then makes the plan.
  /// Throws UsageError, MemoryError (with forecast and limit), DeviceError.
  std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanOptions& options) const {
    require_legal(problem);
    require_plannable(*this, needed_for(problem), options, variants != nullptr);
    return make(problem, options);
  }
};

template <class Operation>
using KernelTable = std::vector<Kernel<Operation>>;

/// Throws UsageError: `name` is not among the names in `known`, "a, b, c".
[[noreturn]] void refuse_kernel_name(const std::string& name, const std::string& known);

/// The row called `name`; throws UsageError that lists the names there are.
template <class Operation>
const Kernel<Operation>& find_kernel(const std::vector<Kernel<Operation>>& table,
                                     const std::string& name) {
  std::string known;
  for (const Kernel<Operation>& kernel : table) {
    if (name == kernel.name) return kernel;
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  refuse_kernel_name(name, known);
}

}  // namespace csrkit
