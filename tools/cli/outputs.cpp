#include "tools/cli/outputs.h"

#include <filesystem>
#include <set>

#include "core/base/atomic_file.h"

namespace csrkit {

void require_other_files(const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs) {
  std::set<std::filesystem::path> seen;
  std::error_code absent;   // the usual case: there is no output yet
  std::error_code unknown;  // a loop of links, say: what opens the output has the words for it
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    for (const std::string& input : inputs) {
      if (!std::filesystem::equivalent(output, input, absent)) continue;
      throw UsageError("the output '" + output + "' is the input '" + input +
                       "' itself, which would be lost; name another file");
    }
    const std::filesystem::path place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(output, unknown), unknown);
    if (!unknown && !seen.insert(place).second) {
      throw UsageError("two outputs have the same name: '" + output + "'");
    }
  }
}

void require_new_outputs(const Options& options, const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs) {
  require_other_files(outputs, inputs);
  if (options.flag("force")) return;
  std::error_code absent;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    if (std::filesystem::is_regular_file(output, absent)) {
      throw UsageError("the output '" + output + "' exists already; --force replaces it");
    }
    never_replace(output);  // nor what another job makes while this one computes
  }
}

void require_writable(const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs) {
    if (output.empty() || output == "-") continue;
    const AtomicFile attempt(output);
  }
}

void require_outputs(const Options& options, const std::vector<std::string>& outputs,
                     const std::vector<std::string>& inputs) {
  require_new_outputs(options, outputs, inputs);
  require_writable(outputs);
}

}  // namespace csrkit
