#include "tools/support/tuning.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "tools/support/json.h"
#include "tools/support/log.h"

namespace csrkit {

namespace {

constexpr char kFormatKey[] = "csrkit_tuning";
constexpr int kFormat = 1;
constexpr int kWarmup = 2, kRuns = 9;

[[noreturn]] void refuse(const std::string& path, std::size_t byte, const std::string& found) {
  throw InputError(path + ": byte " + std::to_string(byte) +
                   ": expected a file made by --tune, found " + found +
                   "; delete it, or give --tune another name");
}

/// The entries of the cache, none if there is no such file.
Json read_entries(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    if (errno == ENOENT) return Json::array();
    throw IoError(path + ": cannot be read: " + std::strerror(errno));
  }
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  if (stream.bad()) throw IoError(path + ": cannot be read");
  Json file;
  try {
    file = Json::parse(text);
  } catch (const Json::parse_error& error) {
    refuse(path, error.byte, text.empty() ? "nothing" : "what is no JSON");
  }
  if (!file.is_object() || file.value(kFormatKey, Json()) != kFormat) {
    refuse(path, 0, "JSON without \"" + std::string(kFormatKey) + "\": " + std::to_string(kFormat));
  }
  Json entries = file.value("entries", Json());
  bool is_whole = entries.is_array();
  for (std::size_t i = 0; is_whole && i < entries.size(); ++i) {
    const Json& entry = entries[i];
    is_whole = entry.is_object() && entry.value("case", Json()).is_object() &&
               entry.value("kernel", Json()).is_string() &&
               entry.value("variant", Json("")).is_string() &&
               entry.value("median_seconds", Json()).is_object();
    if (!is_whole) refuse(path, 0, "entry " + std::to_string(i) + " without case, kernel or times");
  }
  if (!is_whole) refuse(path, 0, "no list of \"entries\"");
  return entries;
}

void write_entries(const std::string& path, const Json& entries) {
  const std::string text = Json{{kFormatKey, kFormat}, {"entries", entries}}.dump(1) + "\n";
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

/// "row_bins", "nnz_balanced tile=64,stores=stream".
std::string label_of(const std::string& kernel, const std::string& variant) {
  return variant.empty() ? kernel : kernel + " " + variant;
}

/// Median seconds by kernel and variant, in the table's order.
Json race(const KernelRoom& room, const CsrMatrix& a, const MultiplyRequest& request) {
  MultiplyRequest measured = request;
  measured.check = CheckKind::none;  // the winner's product is judged where it is used
  measured.output.clear();
  measured.warmup = kWarmup;
  measured.stop = {};
  measured.stop.repeat = measured.stop.max_repeat = kRuns;
  Json seconds = Json::object();
  std::string last_failure;
  for (const SpmmKernel& kernel : *room.table) {
    if (kernel.role != Role::production || std::string(kernel.name) == "auto") continue;
    if (!kernel.can(needed_for(problem_of(a, request), request.plan))) continue;
    std::vector<std::string> variants{""};
    if (kernel.variants != nullptr) variants = kernel.variants(problem_of(a, request));
    for (const std::string& variant : variants) {
      const std::string label = label_of(kernel.name, variant);
      measured.plan.variant = variant;
      try {
        seconds[label] = run_multiply(kernel, a, measured).samples.median_seconds();
        log_debug("tuning: " + room.full_name(kernel) + " " + variant + ": " +
                  std::to_string(seconds[label].get<double>() * 1e3) + " ms");
      } catch (const MemoryError& error) {
        last_failure = error.what();
        log_warning("tuning: " + room.full_name(kernel) + " is out: " + error.what());
        break;
      }
    }
  }
  if (seconds.empty()) throw MemoryError(last_failure);
  return seconds;
}

}  // namespace

void require_tuning_cache(const std::string& cache) { read_entries(cache); }

TunedKernel tuned_kernel(const std::string& cache, const ProblemPlace& place,
                         const KernelRoom& room, const CsrMatrix& a,
                         const MultiplyRequest& request) {
  Json entries = read_entries(cache);
  Json key = problem_key(place, room, problem_of(a, request), request.plan.deterministic);
  key["caches"] = request.is_cold ? "cold" : "warm";
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Json& entry) { return entry["case"] == key; });
  if (found != entries.end()) {
    const std::string name = (*found)["kernel"];
    for (const SpmmKernel& kernel : *room.table) {
      if (name == kernel.name) {
        return {&kernel, "tuned: remembered in " + cache, found->value("variant", "")};
      }
    }
    throw InputError(cache + ": byte 0: names a kernel '" + name +
                     "' that is not in this csrkit; delete the file, or give --tune another name");
  }

  const Json seconds = race(room, a, request);
  std::string fastest = seconds.begin().key();
  for (const auto& [name, median] : seconds.items()) {
    if (median < seconds[fastest]) fastest = name;
  }
  // Another process may have tuned meanwhile: what it wrote is kept.
  entries = read_entries(cache);
  const std::size_t blank = std::min(fastest.find(' '), fastest.size());
  const std::string kernel = fastest.substr(0, blank);
  const std::string variant = fastest.substr(std::min(blank + 1, fastest.size()));
  entries.push_back(
      {{"case", key}, {"kernel", kernel}, {"variant", variant}, {"median_seconds", seconds}});
  write_entries(cache, entries);
  return {
      &find_kernel(*room.table, kernel),
      "tuned: " + fastest + " was the fastest of " + std::to_string(seconds.size()) + " kernels",
      variant};
}

}  // namespace csrkit
