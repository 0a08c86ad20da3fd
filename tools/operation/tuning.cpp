#include "tools/operation/tuning.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/input_file.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/log.h"
#include "tools/cli/version.h"
#include "tools/operation/operations.h"

namespace csrkit {

namespace {

constexpr char kFormatKey[] = "csrkit_tuning";
constexpr int kFormat = 1;
constexpr int kWarmup = 2, kRuns = 9;

constexpr char kCacheAdvice[] = "give --tune another name, or delete this file if --tune made it";

/// The entries of the cache, none if there is no such file.
Json read_entries(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 && errno == ENOENT) return Json::array();
  const Json file = parse_json(read_whole_file(path, kMaxJsonBytes), path, kCacheAdvice);
  const JsonField field(file, path, kCacheAdvice);
  if (!file.is_object() || file.value(kFormatKey, Json()) != kFormat) {
    field.refuse("a file made by --tune, with \"" + std::string(kFormatKey) +
                 "\": " + std::to_string(kFormat));
  }
  field["entries"].array().for_each([](const JsonField& entry) {
    entry["case"].object();
    entry["kernel"].text();
    if (const auto variant = entry.find("variant")) variant->text();
    entry["median_seconds"].object().for_each(
        [](const JsonField& seconds) { seconds.number_from(0); });
  });
  return file["entries"];
}

/// What was remembered, if this csrkit still has it.
TunedKernel remembered(const Json& entry, const std::string& cache, const TuningCase& asked) {
  const JsonField field(entry, cache, kCacheAdvice);
  const std::string& name = field["kernel"].text();
  const auto kernels = asked.operation->kernels(asked.room);
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelInfo* row) { return name == row->name; });
  if (found == kernels.end()) field["kernel"].refuse("a kernel of this csrkit");
  TunedKernel tuned{{asked.operation, asked.room, *found}, "tuned: remembered in " + cache};
  const auto variant = field.find("variant");
  if (!variant || variant->text().empty()) return tuned;
  const auto known = asked.operation->variants(**found, asked.operands, asked.request);
  if (std::find(known.begin(), known.end(), variant->text()) == known.end()) {
    variant->refuse("a variant of " + name);
  }
  tuned.kernel.variant = variant->text();
  return tuned;
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
Json race(const TuningCase& asked) {
  const Operation& operation = *asked.operation;
  Request request = asked.request;
  request.check = CheckKind::none;  // the winner's product is judged where it is used
  request.output.clear();
  request.warmup = kWarmup;
  request.stop = {};
  request.stop.repeat = request.stop.max_repeat = kRuns;
  Json seconds = Json::object();
  std::exception_ptr last_failure;
  for (const KernelInfo* kernel : operation.kernels(asked.room)) {
    NamedKernel named{&operation, asked.room, kernel};
    if (kernel->role != Role::production || named.is_auto()) continue;
    if (!kernel->can(operation.needs(asked.operands, request))) continue;
    const auto leave_out = [&](const Error& error) {
      last_failure = std::current_exception();
      log_warning("tuning: " + named.full_name() + " is out: " + error.what());
    };
    try {
      for (const std::string& variant : operation.variants(*kernel, asked.operands, request)) {
        named.variant = variant;
        const auto run = operation.prepare(named, asked.operands, request);
        const double median = measured(*run, request).samples.median_seconds();
        seconds[label_of(kernel->name, variant)] = median;
        log_debug("tuning: " + named.full_name() + ": " + std::to_string(median * 1e3) + " ms");
      }
    } catch (const MemoryError& error) {
      leave_out(error);
    } catch (const UsageError& error) {  // this matrix is not for this kernel
      leave_out(error);
    }
  }
  if (seconds.empty() && last_failure) std::rethrow_exception(last_failure);
  if (seconds.empty()) throw UsageError("tuning: no production kernel can do this product");
  return seconds;
}

}  // namespace

Json case_key(const TuningCase& asked) {
  Json key{{"matrix_xxh3_128", asked.matrix_xxh3_128},
           {"room", asked.room + "." + asked.operation->name()},
           {"device", asked.device}};
  key.update(asked.operation->problem_key(asked.operands, asked.request));
  key["deterministic"] = asked.request.plan.deterministic;
  key["version"] = version();
  return key;
}

void require_tuning_cache(const std::string& cache) { read_entries(cache); }

TunedKernel tuned_kernel(const std::string& cache, const TuningCase& asked) {
  Json entries = read_entries(cache);
  Json key = case_key(asked);
  key["caches"] = asked.request.is_cold ? "cold" : "warm";
  const auto is_same = [&](const Json& entry) { return entry["case"] == key; };
  const auto found = std::find_if(entries.begin(), entries.end(), is_same);
  if (found != entries.end()) return remembered(*found, cache, asked);

  const Json seconds = race(asked);
  std::string fastest = seconds.begin().key();
  for (const auto& [name, median] : seconds.items()) {
    if (median < seconds[fastest]) fastest = name;
  }
  // Another process may have tuned meanwhile: what it wrote is kept, but no case is there twice.
  entries = read_entries(cache);
  entries.erase(std::remove_if(entries.begin(), entries.end(), is_same), entries.end());
  const std::size_t blank = std::min(fastest.find(' '), fastest.size());
  NamedKernel kernel = find_kernel(*asked.operation, asked.room, fastest.substr(0, blank));
  kernel.variant = fastest.substr(std::min(blank + 1, fastest.size()));
  entries.push_back({{"case", key},
                     {"kernel", kernel.kernel->name},
                     {"variant", kernel.variant},
                     {"median_seconds", seconds}});
  write_entries(cache, entries);
  return {kernel, "tuned: " + fastest + " was the fastest of " + std::to_string(seconds.size()) +
                      " kernels"};
}

}  // namespace csrkit
