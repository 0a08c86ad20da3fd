#include "tools/operation/operations.h"

#include <algorithm>

#include "api/rooms.h"
#include "core/base/error.h"
#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "tools/cli/log.h"
#include "tools/cli/version.h"
#include "tools/operation/operations/sddmm.h"
#include "tools/operation/operations/spgemm.h"
#include "tools/operation/operations/spmm.h"

namespace csrkit {

namespace {

const KernelInfo* row_called(const std::vector<const KernelInfo*>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto* row) { return name == row->name; });
  return found == rows.end() ? nullptr : *found;
}

/// `prefix` is what was typed before the name: the names of a refusal can be typed, too.
const KernelInfo& require_row(const std::vector<const KernelInfo*>& rows, const std::string& prefix,
                              const std::string& name) {
  if (const KernelInfo* row = row_called(rows, name)) return *row;
  std::string known;
  for (const KernelInfo* row : rows) append_item(known, prefix + row->name);
  refuse_kernel_name(prefix + name, known);
}

}  // namespace

const std::vector<const Operation*>& operations() {
  static const std::vector<const Operation*> all{
      &spmm_operation(),
      &spmv_operation(),
      &spgemm_operation(),
      &sddmm_operation(),
  };
  return all;
}

const Operation& find_operation(const std::string& name) {
  std::string known;
  for (const Operation* operation : operations()) {
    if (name == operation->name()) return *operation;
    append_item(known, operation->name());
  }
  throw UsageError("'" + name + "' is no operation; use one of " + known +
                   did_you_mean(name, known));
}

NamedKernel find_kernel(const Operation& operation, const std::string& room,
                        const std::string& name) {
  const std::string row = name_in_table(room, {operation.name()}, name);
  if (const KernelInfo* mark = row_called(operation.marks(room), row)) {
    throw UsageError("'" + name + "' is a mark: it reads like a kernel and makes no product; " +
                     "csr-bench --kernels " + NamedKernel{&operation, room, mark}.full_name() +
                     " measures it");
  }
  return {&operation, room, &require_row(operation.kernels(room), "", row)};
}

NamedKernel find_kernel_anywhere(const std::string& name, const char* what) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(std::string(what) + ": '" + name + "' " + why);
  };
  std::string row = name;
  NamedKernel found{operations().front(), take_prefix(&row, kCpu + std::string(".")) ? kCpu : kGpu};
  if (found.needs_gpu()) {
    if (!take_prefix(&row, kGpu + std::string("."))) {
      refuse("does not say where; begin it with cpu. or gpu., --list shows the names");
    }
    require_gpu_room(std::string(what) + ": '" + name + "'");
  }
  for (const Operation* operation : operations()) {
    if (take_prefix(&row, operation->name() + std::string("."))) {
      found.operation = operation;
      break;
    }
  }
  const std::string prefix = name.substr(0, name.size() - row.size());
  const std::size_t colon = row.find(':');
  std::vector<const KernelInfo*> rows = found.operation->kernels(found.room);
  const std::vector<const KernelInfo*> marks = found.operation->marks(found.room);
  rows.insert(rows.end(), marks.begin(), marks.end());
  found.kernel = &require_row(rows, prefix, row.substr(0, colon));
  if (colon == std::string::npos) return found;
  const std::string variant = row.substr(colon + 1);
  if (variant.empty()) refuse("names no variant after the colon");
  if (!found.operation->has_variants(*found.kernel)) {
    refuse("names a variant, and " + found.full_name() + " has none");
  }
  found.variant = variant;
  return found;
}

std::string list_kernels(const std::vector<const Operation*>& of,
                         const std::vector<std::string>& rooms, bool with_marks, bool as_json) {
  const bool with_gpu = std::find(rooms.begin(), rooms.end(), kGpu) != rooms.end();
  if (with_gpu && gpu_room() == nullptr && !cuda_version().empty()) {
    log_warning("kernels of the GPU are not listed: " + why_no_gpu_room());
  }
  Json json = Json::array();
  std::string text;
  for (const Operation* operation : of) {
    TextTable table({"kernel", "role", "what it does", "can"});
    const auto add = [&](const std::string& room, const std::vector<const KernelInfo*>& rows) {
      for (const KernelInfo* row : rows) {
        const std::string name = NamedKernel{operation, room, row}.full_name();
        const std::string can = names_of(row->capabilities, operation->facts().all_capabilities);
        table.add({name, name_of(row->role), row->summary, can});
        json.push_back({{"kernel", name},
                        {"role", name_of(row->role)},
                        {"summary", row->summary},
                        {"can", can}});
      }
    };
    for (const std::string& room : rooms) {
      add(room, operation->kernels(room));
      if (with_marks) add(room, operation->marks(room));
    }
    append_item(text, table.text(), "\n");
  }
  return as_json ? Json{{"schema", kReportSchema}, {"rows", json}}.dump() + "\n" : text;
}

}  // namespace csrkit
