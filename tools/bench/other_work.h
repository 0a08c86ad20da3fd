// What else runs on the machine while a case is measured.
#pragma once

#include <optional>
#include <string>

#include "core/base/stopwatch.h"
#include "tools/cli/json.h"

namespace csrkit {

/// What of the "others" of a record disturbed its case: "1.3 CPUs", "2 processes on the GPU", or
/// both joined by "and"; "" if nothing did.
std::string disturbed_by(const Json& others);

/// Watches from its construction on.
class OtherWork {
 public:
  OtherWork();

  /// {"cpus": CPUs that other processes kept busy since the construction, on average,
  /// "load": the system's load of the last minute}. What the system does not say is null, and so is
  /// "cpus" after less than a tenth of a second.
  Json finish() const;

 private:
  std::optional<double> busy_seconds_before_;
  double own_seconds_before_;
  Stopwatch since_start_;
};

}  // namespace csrkit
