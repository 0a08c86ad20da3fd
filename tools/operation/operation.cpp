#include "tools/operation/operation.h"

#include "tools/operation/rooms.h"

namespace csrkit {

std::string NamedKernel::full_name() const {
  return room + "." + operation->name() + "." + kernel->name +
         (variant.empty() ? "" : ":" + variant);
}

bool NamedKernel::needs_gpu() const { return room == kGpu; }
bool NamedKernel::is_auto() const { return std::string(kernel->name) == "auto"; }

Outcome measured(Run& run, const Request& request) {
  Outcome outcome = run.outcome;
  if (!outcome.has_run || !outcome.passed()) return outcome;
  outcome.samples = measure(
      request.warmup, request.stop, [&] { return run.time(); },
      [&] {
        if (request.between_samples) request.between_samples();
        if (request.is_cold) run.plan().evict_caches();
      });
  run.complete(request, &outcome);
  return outcome;
}

}  // namespace csrkit
