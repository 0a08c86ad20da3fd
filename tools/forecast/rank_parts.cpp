#include "tools/forecast/rank_parts.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/provenance.h"

namespace csrkit {

namespace {

/// The levels of the file, or none; and of what plain blocks would move, if the history says it.
std::map<Index, CountedParts> levels_of_file(const std::string& path, const std::string& history) {
  std::map<Index, CountedParts> levels;
  for (PartLevel& level : read_rank_heads(path)) {
    const auto parts = static_cast<Index>(level.parts.size());
    levels[parts] = {std::move(level), true, std::nullopt};
  }
  const std::optional<Json> provenance = parse_provenance(history);
  if (!provenance) return levels;
  for (const Json& step : (*provenance)["steps"]) {
    if (!step.is_object() || step.value("tool", Json()) != "csr-partition") continue;
    const Json details = step.value("details", Json());
    if (!details.is_object()) continue;
    const Json plain = details.value("plain_blocks", Json());
    if (!plain.is_array()) continue;
    for (auto& [parts, level] : levels) level.plain_halo_cols.reset();
    for (const Json& row : plain) {
      if (!row.is_object() || !row.value("parts", Json()).is_number_integer() ||
          !row.value("halo_cols", Json()).is_number_integer()) {
        continue;
      }
      const auto found = levels.find(row["parts"].get<Index>());
      if (found != levels.end()) found->second.plain_halo_cols = row["halo_cols"].get<Offset>();
    }
  }
  return levels;
}

}  // namespace

std::map<Index, CountedParts> parts_for(const Options& options, const RankSizes& sizes,
                                        const std::set<Index>& wanted, double* count_seconds) {
  const std::string& path = options.names().front();
  std::vector<Index> missing;
  std::map<Index, CountedParts> levels = levels_of_file(path, read_csr_provenance(path));
  for (const Index parts : wanted) {
    if (levels.count(parts) > 0) continue;
    if (parts == 1) {
      levels[1] = one_part(sizes);
    } else {
      missing.push_back(parts);
    }
  }
  const Stopwatch watch;
  if (!missing.empty()) {
    const CsrMatrix matrix = read_csr_file(path, read_options(options)).matrix;
    std::vector<CountedLevel> counted =
        count_parts(matrix, plain_blocks(matrix, missing), 0, terminal_progress());
    for (std::size_t l = 0; l < missing.size(); ++l) {
      levels[missing[l]].level = std::move(counted[l].level);
    }
  }
  *count_seconds = watch.seconds();
  return levels;
}

}  // namespace csrkit
