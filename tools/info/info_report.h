// What csr-info says, by mode.
#pragma once

#include "tools/info/info_options.h"

namespace csrkit {

/// Reads as much of the file as the mode needs, and reports it. Throws InputError if --verify finds
/// a claim that does not hold.
void report_info(Report& report, const InfoToolOptions& options);

}  // namespace csrkit
