#include "tools/bench/case.h"

#include "core/base/counted.h"
#include "core/base/text.h"
#include "tools/cli/provenance.h"
#include "tools/operation/operations.h"

namespace csrkit {

namespace {

constexpr char kAsStored[] = "as stored";

/// What a record may hold of a provenance, which may be larger than the longest line of records.
constexpr std::size_t kMostSteps = 1000, kMostHistoryBytes = 1 << 20;

/// The steps of a provenance; none if another program wrote it.
Json history_of(const std::string& path, const std::string& provenance) {
  Json history = Json::array();
  const std::optional<Json> document = parse_provenance(provenance);
  if (!document) return history;
  const JsonField steps =
      JsonField(*document, path + ": provenance", "csr-info --provenance shows it")["steps"];
  if (steps.size() > kMostSteps) steps.refuse("at most 1000 steps");
  steps.for_each([&](const JsonField& step) {
    Json inputs = Json::array();
    if (const auto digests = step.find("inputs")) {
      digests->array().for_each(
          [&](const JsonField& input) { inputs.push_back(input["xxh3_128"].text()); });
    }
    Json words = Json::array();
    if (const auto command_line = step.find("command_line")) {
      command_line->array().for_each([&](const JsonField& word) { words.push_back(word.text()); });
    }
    const auto tool = step.find("tool");
    history.push_back(
        {{"tool", tool ? tool->text() : ""}, {"command_line", words}, {"inputs_xxh3_128", inputs}});
    const auto details = step.find("details");
    if (const auto seconds = details ? details->find("order_seconds") : std::nullopt) {
      history.back()["order_seconds"] = seconds->number_from(0);
    }
  });
  if (history.dump().size() > kMostHistoryBytes) steps.refuse("at most 1 MiB of steps");
  return history;
}

}  // namespace

BenchMatrix::BenchMatrix(const std::string& path, const CsrReadOptions& read)
    : name_("'" + path + "'") {
  CsrReadOptions how = read;
  how.digest = &digest_;
  const CsrFile file = read_csr_file(path, how);
  stored_ = file.matrix;
  history_ = history_of(path, file.provenance);
}

Operands BenchMatrix::operands(const Request& request) {
  if (!request.value_kind || *request.value_kind == stored_.value_kind()) {
    return {stored_, stored_, {}, name_, name_};
  }
  if (!converted_ || converted_->value_kind() != *request.value_kind) {
    converted_.reset();  // not two of them at once
    converted_ = converted(stored_, request, name_);
  }
  return {*converted_, *converted_, {}, name_, name_};
}

Json identity_of(const FileDigest& matrix, const BenchKernel& kernel, const Request& request,
                 const Json& machine) {
  Json identity{{"operation", kernel.named.operation->name()},
                {"matrix_xxh3_128", matrix.xxh3_128},
                {"kernel", kernel.named.full_name()},
                {"dense_cols", nullptr},
                {"caches", request.is_cold ? "cold" : "warm"},
                {"value_kind", request.value_kind ? name_of(*request.value_kind) : kAsStored},
                {"transpose", request.transpose},
                {"semiring", name_of(request.semiring)},
                {"deterministic", request.plan.deterministic},
                {"warmup", request.warmup},
                {"repeat", request.stop.repeat},
                {"median_within", request.stop.uncertainty},
                {"max_repeat", request.stop.max_repeat},
                {"seed", request.seed},
                {"memory_limit_bytes", request.plan.memory_limit_bytes},
                {"threads", machine["threads"]},
                {"cpu", machine["cpu"]},
                {"gpu", kernel.named.needs_gpu() ? machine["gpu"] : Json(nullptr)}};
  if (!kernel.tune.empty()) identity["tuned"] = true;
  kernel.named.operation->write_case(request, &identity);
  return identity;
}

std::string key_of(const Json& identity) { return nlohmann::json(identity).dump(); }

Request request_of(const JsonField& identity) {
  // All types before any word: one that is not known is no fault of the record, and it is shown.
  for (const char* name :
       {"matrix_xxh3_128", "kernel", "cpu", "caches", "value_kind", "semiring"}) {
    identity[name].text();
  }
  for (const char* name : {"transpose", "deterministic"}) identity[name].boolean();
  for (const char* name : {"unsorted", "reuse"}) {
    if (const auto found = identity.find(name)) found->boolean();
  }
  identity["memory_limit_bytes"].unsigned_integer();
  identity["threads"].integer(1, kMaxThreads);
  if (const auto tuned = identity.find("tuned")) tuned->boolean();
  Request request;
  const std::string& caches = identity["caches"].text();
  if (caches != "warm" && caches != "cold") {
    throw UsageError("'" + caches + "' is no state of the caches; use warm or cold");
  }
  request.is_cold = caches == "cold";
  if (identity["value_kind"].text() != kAsStored) {
    request.value_kind = parse_value_kind(identity["value_kind"].text());
  }
  request.transpose = identity["transpose"].boolean();
  request.semiring = parse_semiring(identity["semiring"].text());
  request.plan.deterministic = identity["deterministic"].boolean();
  request.warmup = static_cast<int>(identity["warmup"].integer(0, kMaxRuns));
  request.stop.repeat = static_cast<int>(identity["repeat"].integer(1, kMaxRuns));
  request.stop.uncertainty = identity["median_within"].number_from(0);
  request.stop.max_repeat = static_cast<int>(identity["max_repeat"].integer(0, kMaxRuns));
  request.seed = identity["seed"].unsigned_integer();
  request.plan.memory_limit_bytes = identity["memory_limit_bytes"].unsigned_integer();
  const auto operation = identity.find("operation");  // the oldest records have none
  (operation ? find_operation(operation->text()) : *operations().front())
      .read_case(identity, &request);
  return request;
}

bool is_judged_enough(const JsonField& record, CheckKind asked) {
  // A mark leaves C alone: there is nothing to judge.
  const auto role = record.find("role");
  if (asked == CheckKind::none || (role && role->text() == name_of(Role::mark))) return true;
  const auto check = record.find("check");
  return check && (asked != CheckKind::full || !(*check)["sampled"].boolean());
}

void require_repeatable(const JsonField& record) {
  record["matrix"].text();
  if (record.has("folder")) record["folder"].text();
  const JsonField identity = record["case"];
  if (!identity["gpu"].value().is_null()) identity["gpu"].object();
  try {
    request_of(identity);
  } catch (const UsageError&) {
    // A word that another version knows is no fault here: the case becomes NOT RUN in its turn.
  }
  record["samples_seconds"].array().for_each([](const JsonField& field) { field.number_from(0); });
  if (record["samples_seconds"].size() == 0) record["samples_seconds"].refuse("samples");
  record["median_seconds"].number_from(0);
}

void require_results(const JsonField& record) {
  record["samples_seconds"].array();
  for (const char* name : {"median_seconds", "min_seconds", "spread", "gflops"}) {
    record[name].number();
  }
  const JsonField interval = record["median_interval_seconds"].array();
  if (interval.size() != 2) interval.refuse("two numbers");
  interval.for_each([](const JsonField& field) { field.number(); });
  if (record.has("role")) record["role"].text();
  if (record.has("gather_gb_per_second")) record["gather_gb_per_second"].number();
  if (!record["check"].value().is_null()) record["check"]["sampled"].boolean();
}

std::string how_cell(const Json& identity) {
  std::string words;
  const auto add = [&](const std::string& word) { append_item(words, word); };
  if (identity["transpose"].get<bool>()) add("transposed");
  const auto semiring = identity["semiring"].get<std::string>();
  if (semiring != name_of(Semiring::plus_times)) add(semiring);
  if (identity.value("unsorted", false)) add("unsorted");
  if (identity.value("reuse", false)) add("with reuse");
  if (!identity["deterministic"].get<bool>()) add("nondeterministic");
  const auto limit = identity["memory_limit_bytes"].get<std::uint64_t>();
  if (limit > 0) add("within " + counted(limit, "byte"));
  return words;
}

std::string name_of_case(const Json& record) {
  const Json& identity = record["case"];
  const auto kind = identity["value_kind"].get<std::string>();
  const std::string how = how_cell(identity);
  return record["matrix"].get<std::string>() + ": " + identity["kernel"].get<std::string>() +
         (identity["dense_cols"].is_null() ? "" : ", K " + identity["dense_cols"].dump()) + ", " +
         identity["caches"].get<std::string>() +
         (kind == kAsStored                  ? ""
          : kind == name_of(ValueKind::none) ? ", without values"
                                             : ", " + kind) +
         (how.empty() ? "" : ", " + how);
}

}  // namespace csrkit
