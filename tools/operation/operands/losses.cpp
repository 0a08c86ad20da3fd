#include "tools/operation/operands/losses.h"

#include "tools/cli/log.h"

namespace csrkit {

void warn_of_losses(const std::string& name, const Losses& losses) {
  const auto warn = [&](const std::string& found, const char* what) {
    if (!found.empty()) log_warning(name + ": " + found + what);
  };
  warn(losses.overflow, "; they become infinite: use a wider kind");
  warn(losses.underflow, "; they become 0: use a wider kind");
}

}  // namespace csrkit
