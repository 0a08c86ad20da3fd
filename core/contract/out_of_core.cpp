#include "core/contract/out_of_core.h"

#include <algorithm>

#include "core/contract/parse_name.h"

namespace csrkit {

const char* name_of(OutOfCore how) {
  switch (how) {
    case OutOfCore::automatic: return "auto";
    case OutOfCore::never: return "never";
    case OutOfCore::columns: return "columns";
    case OutOfCore::rows: return "rows";
  }
  return "?";
}

OutOfCore parse_out_of_core(const std::string& name) {
  return parse_name(name,
                    {OutOfCore::automatic, OutOfCore::never, OutOfCore::columns, OutOfCore::rows},
                    "way out of core");
}

double OutOfCoreReport::copy_share() const {
  if (seconds <= 0 || copy_bytes_per_second <= 0) return 0;
  return static_cast<double>(std::max(bytes_in, bytes_out)) / copy_bytes_per_second / seconds;
}

}  // namespace csrkit
