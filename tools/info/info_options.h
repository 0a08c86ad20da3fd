// The command line of csr-info.
#pragma once

#include <string>

#include "core/file/csr_file.h"
#include "tools/advise/locality_report.h"
#include "tools/info/spy_picture.h"

namespace csrkit {

enum class InfoMode { statistics, locality, header, verify, provenance, python, spy };

struct InfoToolOptions {
  std::string input;
  InfoMode mode = InfoMode::statistics;
  LocalityRequest locality;
  SpyOptions picture;
  CsrReadOptions read;
  bool as_json = false;
};

/// Throws UsageError; prints and throws Finished for --help and --version.
InfoToolOptions parse_info_options(int argc, const char* const* argv);

}  // namespace csrkit
