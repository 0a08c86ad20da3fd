#include "tools/support/kernel_room.h"

#include <nlohmann/json.hpp>

#include "cpu/spmm/registry.h"
#include "tools/support/json.h"
#include "tools/support/report.h"

namespace csrkit {

std::string KernelRoom::full_name(const SpmmKernel& kernel) const {
  return name + "." + operation + "." + kernel.name;
}

const SpmmKernel& KernelRoom::find(const std::string& wanted) const {
  for (const std::string& prefix : {name + "." + operation + ".", name + "."}) {
    if (wanted.rfind(prefix, 0) == 0) return find_kernel(*table, wanted.substr(prefix.size()));
  }
  return find_kernel(*table, wanted);
}

KernelRoom cpu_spmm_room() {
  static const std::vector<SpmmKernel> rows = [] {
    std::vector<SpmmKernel> all = cpu::spmm_kernels();
    all.insert(all.end(), cpu::spmm_marks().begin(), cpu::spmm_marks().end());
    return all;
  }();
  return {"cpu", "spmm", &rows};
}

std::string capability_names(Capabilities capabilities) {
  static constexpr std::pair<Capabilities, const char*> kNames[] = {
      {kImplicitOnes, "none"},
      {kF32, "f32"},
      {kF64, "f64"},
      {kF16, "f16"},
      {kBf16, "bf16"},
      {kTranspose, "transpose"},
      {kAlphaBeta, "alpha-beta"},
      {kLeadingDimension, "leading-dim"},
      {kSemirings, "semirings"},
      {kSchedule, "schedule"},
      {kDeterministic, "deterministic"},
      {kIeeeSpecials, "ieee"},
      {kNarrowOutput, "narrow-output"},
      {kAnyAlignment, "any-alignment"}};
  if ((capabilities & kEverything) == kEverything) {
    return (capabilities & kSchedule) != 0 ? "everything schedule" : "everything";
  }
  std::string names;
  for (const auto& [bit, name] : kNames) {
    if ((capabilities & bit) != 0) names += (names.empty() ? "" : " ") + std::string(name);
  }
  return names;
}

std::string list_kernels(const std::vector<KernelRoom>& rooms, bool as_json) {
  TextTable table({"kernel", "role", "what it does", "can"});
  Json rows = Json::array();
  for (const KernelRoom& room : rooms) {
    for (const SpmmKernel& kernel : *room.table) {
      const std::string can = capability_names(kernel.capabilities);
      table.add({room.full_name(kernel), name_of(kernel.role), kernel.summary, can});
      rows.push_back({{"kernel", room.full_name(kernel)},
                      {"role", name_of(kernel.role)},
                      {"summary", kernel.summary},
                      {"can", can}});
    }
  }
  return as_json ? rows.dump() + "\n" : table.text();
}

}  // namespace csrkit
