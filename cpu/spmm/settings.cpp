#include "cpu/spmm/settings.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace csrkit::cpu {

namespace {

/// Narrower rows of C have no bands of columns of A.
constexpr Index kFewestBanded = 32;

/// Sets what `key` names. Returns false for a key or a value that is none.
bool set_one(const std::string& key, const std::string& value, Settings* settings) {
  const auto choose = [&](const char* off, const char* on, bool* to) {
    *to = value == on;
    return value == off || value == on;
  };
  if (key == "stores") {
    settings->rows.streams_c = value != "cached";
    settings->rows.stages_c = value != "aligned";
    return value == "cached" || value == "aligned" || value == "stream";
  }
  if (key == "b") return choose("strided", "packed", &settings->packs_b);
  if (key == "rows") return choose("single", "joined", &settings->joins_rows);

  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return false;
  if (key == "prefetch") {
    settings->rows.prefetch_bytes = number;
    return true;
  }
  if (key == "tile") {
    settings->tile_cols = number;
    return number % kNarrowestTile == 0;
  }
  if (key == "bands") {
    settings->bands = number;
    return number > 0;
  }
  return false;
}

}  // namespace

bool may_have_bands(const SpmmProblem& problem) {
  return problem.semiring == Semiring::plus_times && problem.dense_cols >= kFewestBanded &&
         size_of(problem.b) >= 4;
}

Settings parse_settings(const std::string& text) {
  Settings settings;
  std::set<std::string> given;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string key = part.substr(0, equals);
    const bool is_setting = equals < part.size() && given.insert(key).second &&
                            set_one(key, part.substr(equals + 1), &settings);
    if (!is_setting || (settings.joins_rows && settings.bands > 1)) {
      throw UsageError(
          "'" + text +
          "' is no variant of nnz_balanced; expected the form "
          "tile=64,prefetch=4096,stores=stream,b=packed,rows=joined,bands=1 (tile 0 or a multiple "
          "of 32, prefetch in bytes, stores cached, aligned or stream, b strided or packed, rows "
          "single or joined, bands of columns of A at least 1 and not with rows=joined)");
    }
  }
  return settings;
}

std::string text_of(const Settings& settings) {
  const RowSettings& rows = settings.rows;
  const char* const stores = !rows.streams_c ? "cached" : rows.stages_c ? "stream" : "aligned";
  return "tile=" + std::to_string(settings.tile_cols) +
         ",prefetch=" + std::to_string(rows.prefetch_bytes) + ",stores=" + stores +
         (settings.packs_b ? ",b=packed" : "") + (settings.joins_rows ? ",rows=joined" : "") +
         (settings.bands > 1 ? ",bands=" + std::to_string(settings.bands) : "");
}

}  // namespace csrkit::cpu
