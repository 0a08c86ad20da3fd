#include "core/contract/kernel_table.h"

#include "core/base/suggestion.h"

namespace csrkit {

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

void require_plannable(const KernelInfo& kernel, Capabilities needs, const PlanOptions& options,
                       bool has_variants) {
  require_sensible(options);
  require_capabilities(kernel.capabilities, needs | needed_for(options), kernel.name);
  if (!options.variant.empty() && !has_variants) {
    throw UsageError(std::string(kernel.name) + " has no variants; leave '" + options.variant +
                     "' out");
  }
}

void refuse_kernel_name(const std::string& name, const std::string& known) {
  throw UsageError("there is no kernel '" + name + "' here; use one of " + known +
                   did_you_mean(name, known));
}

}  // namespace csrkit
