#include "tools/support/bench_case.h"

#include <unistd.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "tools/support/log.h"
#include "tools/support/provenance.h"
#include "tools/support/tuning.h"

namespace csrkit {

namespace {

constexpr char kGpuPrefix[] = "gpu.";
constexpr int kSchema = 1;  // of records; see docs/benchmarking.md
constexpr char kAsStored[] = "as stored";

std::string current_folder() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

Json history_of(const std::string& provenance) {
  Json history = Json::array();
  const Json document = Json::parse(provenance, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("steps") || !document["steps"].is_array()) {
    return history;
  }
  for (const Json& step : document["steps"]) {
    Json inputs = Json::array();
    for (const Json& input : step.value("inputs", Json::array())) {
      inputs.push_back(input.value("xxh3_128", ""));
    }
    history.push_back({{"tool", step.value("tool", "")},
                       {"command_line", step.value("command_line", Json::array())},
                       {"inputs_xxh3_128", inputs}});
    const Json details = step.value("details", Json::object());
    if (details.is_object() && details.contains("order_seconds")) {
      history.back()["order_seconds"] = details["order_seconds"];
    }
  }
  return history;
}

/// What the orders of a matrix cost that were computed since it was imported; 0 in natural order.
double reordering_seconds(const Json& history) {
  double seconds = 0;
  for (const Json& step : history) seconds += step.value("order_seconds", 0.0);
  return seconds;
}

/// The model that runs the kernel, for which tuning holds.
std::string device_of(const BenchKernel& kernel, const Json& machine) {
  if (kernel.needs_gpu()) return machine["gpu"]["name"];
  return machine["cpu"].get<std::string>() + ", " + machine["threads"].dump() + " threads";
}

/// `cold`, if given: the samples with evicted caches, too, by the same plan.
Json spmm_record(const BenchKernel& kernel, const CsrMatrix& a, const MultiplyRequest& request,
                 const ProblemPlace& place, Json* cold) {
  TunedKernel used{kernel.kernel, ""};
  if (!kernel.tune.empty()) used = tuned_kernel(kernel.tune, place, kernel.room, a, request);
  MultiplyRequest as_tuned = request;
  if (!used.variant.empty()) as_tuned.plan.variant = used.variant;
  Samples cold_samples;
  if (cold != nullptr) {
    as_tuned.on_right = [&](SpmmPlan& plan) { cold_samples = measure_plan(plan, as_tuned, true); };
  }
  MultiplyOutcome outcome = run_multiply(*used.kernel, a, as_tuned);
  if (!used.because.empty()) {
    outcome.choice = used.because + (outcome.choice.empty() ? "" : "; ") + outcome.choice;
  }
  Json record{{"role", name_of(kernel.kernel->role)},
              {"status", outcome.passed() ? "done" : "check failed"},
              {"reason", outcome.passed() ? "" : outcome.check->failure}};
  if (cold != nullptr) *cold = record;
  record.update(to_json(outcome));
  if (cold != nullptr) {
    outcome.samples = cold_samples;
    cold->update(to_json(outcome));
  }
  return record;
}

/// A * A, or A * A^T where the request transposes: the operand that every matrix has.
Json spgemm_record(const BenchKernel& kernel, const CsrMatrix& a, const MultiplyRequest& request) {
  SpgemmRequest product;
  product.transpose_b = request.transpose_a;
  product.measures_reuse = request.measures_reuse && kernel.spgemm->can(kReuse);
  product.semiring = request.semiring;
  product.warmup = request.warmup;
  product.stop = request.stop;
  product.between_samples = request.between_samples;
  product.is_cold = request.is_cold;
  product.check = request.check;
  product.plan = request.plan;
  const SpgemmOutcome outcome = run_spgemm(*kernel.spgemm, a, a, std::nullopt, product);
  Json record{{"role", name_of(kernel.spgemm->role)},
              {"status", outcome.passed() ? "done" : "check failed"},
              {"reason", outcome.passed() ? "" : outcome.check->failure},
              {"rows", a.rows()},
              {"cols", a.cols()},
              {"nnz", a.nnz()}};
  record.update(to_json(outcome));
  const Interval interval = outcome.samples.median_interval();
  record["median_interval_seconds"] = {interval.low, interval.high};
  return record;
}

Json measured(const BenchKernel& kernel, const CsrMatrix& a, const MultiplyRequest& request,
              const ProblemPlace& place, Json* cold) {
  Json failure{{"status", "failed"}, {"reason", "not enough memory"}};
  try {
    return kernel.spgemm != nullptr ? spgemm_record(kernel, a, request)
                                    : spmm_record(kernel, a, request, place, cold);
  } catch (const NoDeviceError&) {
    throw;
  } catch (const Error& error) {
    failure["reason"] = error.what();
  } catch (const std::bad_alloc&) {
    // as the failure says already
  }
  if (cold != nullptr) *cold = failure;
  return failure;
}

}  // namespace

bool BenchKernel::needs_gpu() const { return full_name.rfind(kGpuPrefix, 0) == 0; }

bool BenchKernel::is_auto() const {
  return std::string(spgemm != nullptr ? spgemm->name : kernel->name) == "auto";
}

BenchKernel find_in_rooms(const BenchRooms& rooms, const std::string& name, const char* what) {
  for (const SpgemmRoom& room : rooms.spgemm) {
    if (name.rfind(room.name + ".spgemm.", 0) != 0) continue;
    const SpgemmKernel& kernel = room.find(name);
    return {room.full_name(kernel), nullptr, {}, "", &kernel};
  }
  for (const KernelRoom& room : rooms.spmm) {
    if (name.rfind(room.name + ".", 0) != 0) continue;
    const SpmmKernel& kernel = room.find(name);
    return {room.full_name(kernel), &kernel, room, "", nullptr};
  }
  if (name.rfind(kGpuPrefix, 0) == 0) {
    throw UsageError(std::string(what) + ": '" + name +
                     "' needs a GPU build, and this one was made without CUDA");
  }
  throw UsageError(std::string(what) + ": '" + name +
                   "' does not say where; begin it with cpu. or gpu., --list shows the names");
}

BenchMatrix::BenchMatrix(const std::string& path, const CsrReadOptions& read)
    : BenchMatrix(digest_file(path), read) {}

BenchMatrix::BenchMatrix(FileDigest digest, const CsrReadOptions& read)
    : digest_(std::move(digest)), read_options_(read) {}

void BenchMatrix::read() {
  if (stored_) return;
  const CsrFile file = read_csr_file(digest_.path, read_options_);
  stored_ = file.matrix;
  history_ = std::make_shared<const Json>(history_of(file.provenance));
}

const CsrMatrix& BenchMatrix::matrix(const MultiplyRequest& request) {
  read();
  if (!request.value_kind || *request.value_kind == stored_->value_kind()) return *stored_;
  if (!converted_ || converted_->value_kind() != *request.value_kind) {
    converted_.reset();  // not two of them at once
    converted_ = converted(*stored_, request);
  }
  return *converted_;
}

const Json& BenchMatrix::history() {
  read();
  return *history_;
}

Json identity_of(const FileDigest& matrix, const BenchKernel& kernel,
                 const MultiplyRequest& request, const Json& machine) {
  Json identity{{"operation", kernel.spgemm != nullptr ? "spgemm" : "spmm"},
                {"matrix_xxh3_128", matrix.xxh3_128},
                {"kernel", kernel.full_name},
                {"dense_cols", kernel.spgemm != nullptr ? Json(nullptr) : Json(request.dense_cols)},
                {"caches", request.is_cold ? "cold" : "warm"},
                {"value_kind", request.value_kind ? name_of(*request.value_kind) : kAsStored},
                {"transpose", request.transpose_a},
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
                {"gpu", kernel.needs_gpu() ? machine["gpu"] : Json(nullptr)}};
  if (!kernel.tune.empty()) identity["tuned"] = true;
  if (kernel.spgemm != nullptr && request.measures_reuse) identity["reuse"] = true;
  return identity;
}

MultiplyRequest request_of(const Json& identity) {
  MultiplyRequest request;
  if (!identity.at("dense_cols").is_null()) {
    request.dense_cols = identity.at("dense_cols").get<Index>();
  }
  request.is_cold = identity.at("caches") == "cold";
  const std::string value_kind = identity.at("value_kind").get<std::string>();
  if (value_kind != kAsStored) request.value_kind = parse_value_kind(value_kind);
  request.transpose_a = identity.at("transpose").get<bool>();
  request.measures_reuse = identity.value("reuse", false);
  request.semiring = parse_semiring(identity.at("semiring").get<std::string>());
  request.plan.deterministic = identity.at("deterministic").get<bool>();
  request.warmup = identity.at("warmup").get<int>();
  request.stop.repeat = identity.at("repeat").get<int>();
  request.stop.uncertainty = identity.at("median_within").get<double>();
  request.stop.max_repeat = identity.at("max_repeat").get<int>();
  request.seed = identity.at("seed").get<std::uint64_t>();
  request.plan.memory_limit_bytes = identity.at("memory_limit_bytes").get<std::uint64_t>();
  return request;
}

bool is_judged_enough(const Json& record, CheckKind asked) {
  // A mark leaves C alone: there is nothing to judge.
  if (asked == CheckKind::none || record.value("role", "") == name_of(Role::mark)) return true;
  const Json check = record.value("check", Json());
  if (!check.is_object()) return false;
  return asked != CheckKind::full || !check.value("sampled", true);
}

Json record_case(BenchMatrix& matrix, const BenchKernel& kernel, const MultiplyRequest& request,
                 const BenchPlace& place, Json* cold) {
  const auto frame_of = [&](const MultiplyRequest& asked) {
    return Json{{"schema", kSchema},
                {"matrix", matrix.digest().path},
                {"folder", current_folder()},
                {"case", identity_of(matrix.digest(), kernel, asked, place.machine)},
                {"history", matrix.history()}};
  };
  ClockWatch watch(kernel.needs_gpu() ? place.read_gpu : ReadDeviceClocks());
  MultiplyRequest watched = request;
  watched.between_samples = [&watch] { watch.look(); };
  Json record = frame_of(request), cold_results;
  record.update(measured(kernel, matrix.matrix(request), watched,
                         {matrix.digest().xxh3_128, device_of(kernel, place.machine)},
                         cold == nullptr ? nullptr : &cold_results));
  const Json clocks = watch.finish();
  const auto complete = [&](Json& made) {
    if (made.contains("phases")) {
      made["phases"]["reordering_seconds"] = reordering_seconds(matrix.history());
    }
    made["clocks"] = clocks;
    made["machine"] = place.machine;
    made["time"] = utc_time_stamp();
    made["command_line"] = place.command_line;
    if (made["status"] != "done") {
      log_error(name_of_case(made) + ": " + made["status"].get<std::string>() + ": " +
                made["reason"].get<std::string>());
    } else if (made["clocks"]["throttled"].get<bool>()) {
      log_warning(name_of_case(made) +
                  ": the clocks were held back while it was measured; the record says by what");
    }
  };
  complete(record);
  if (cold != nullptr) {
    MultiplyRequest asked = request;
    asked.is_cold = true;
    *cold = frame_of(asked);
    cold->update(cold_results);
    complete(*cold);
  }
  return record;
}

std::string name_of_case(const Json& record) {
  const Json& identity = record["case"];
  const std::string kind = identity["value_kind"].get<std::string>();
  return record["matrix"].get<std::string>() + ": " + identity["kernel"].get<std::string>() +
         (identity["dense_cols"].is_null() ? "" : ", K " + identity["dense_cols"].dump()) + ", " +
         identity["caches"].get<std::string>() + (kind == kAsStored ? "" : ", " + kind);
}

}  // namespace csrkit
