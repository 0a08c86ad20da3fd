// Where a .csr file comes from: JSON that travels in the file and grows by one step per tool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/file_digest.h"
#include "tools/cli/json.h"

namespace csrkit {

/// One tool run. The schema is in docs/csr_file_format.md.
struct ProvenanceStep {
  std::vector<std::string> command_line;
  std::vector<FileDigest> inputs;
  const Json* details = nullptr;  // what the step decided or counted; may be null
};

/// The document that append_step made: an object with an array "steps". Nothing for other text,
/// whatever its author meant by it, nested too deep or too long.
std::optional<Json> parse_provenance(const std::string& text);

/// `earlier` (what the input file carried, or "") with one more step. The time is UTC, or that of
/// SOURCE_DATE_EPOCH, so that builds of data sets can be reproduced bit by bit.
std::string append_step(const std::string& earlier, const ProvenanceStep& step);

/// "2026-01-31T12:00:00Z".
std::string utc_time_stamp();

/// Whether SOURCE_DATE_EPOCH gives the time: then files of the same inputs are to have the same
/// bytes, and no time that was measured goes into them. Throws UsageError where it is no time.
bool is_time_given();

}  // namespace csrkit
