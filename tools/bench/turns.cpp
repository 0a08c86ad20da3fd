#include "tools/bench/turns.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>

#include "core/base/error.h"
#include "tools/bench/record_schema.h"
#include "tools/cli/log.h"
#include "tools/cli/provenance.h"
#include "tools/operation/machine.h"
#include "tools/operation/tuning.h"

namespace csrkit {

namespace {

std::string current_folder() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

/// What the orders of a matrix cost that were computed since it was imported; 0 in natural order,
/// nothing if a file does not say (SOURCE_DATE_EPOCH).
std::optional<double> reordering_seconds(const Json& history) {
  double seconds = 0;
  for (const Json& step : history) {
    const Json& words = step["command_line"];
    const bool is_order = step["tool"] == "csr-reorder" &&
                          std::find(words.begin(), words.end(), "--undo") == words.end();
    if (is_order && !step.contains("order_seconds")) return std::nullopt;
    seconds += step.value("order_seconds", 0.0);
  }
  return seconds;
}

/// "2026-11-22T10:00:00Z-77-3": no other rounds, of this process or another, have this name.
std::string new_id() {
  static int count = 0;
  return utc_time_stamp() + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

void prepare(BenchMatrix& matrix, BenchCase& of) {
  const NamedKernel* used = &of.kernel->named;
  TunedKernel tuned;
  const Operands operands = matrix.operands(of.request);
  if (!of.kernel->tune.empty()) {
    tuned = tuned_kernel(of.kernel->tune, {used->operation, used->room, operands, of.request,
                                           matrix.digest().xxh3_128,
                                           device_name(used->room, of.request.plan.where)});
    used = &tuned.kernel;
  }
  of.run = used->operation->prepare(*used, operands, of.request);
  if (tuned.because.empty()) return;
  Outcome& outcome = of.run->outcome;
  outcome.choice = tuned.because + (outcome.choice.empty() ? "" : "; ") + outcome.choice;
  if (outcome.kernel_run.empty()) outcome.kernel_run = used->full_name();
}

/// A case while it is measured.
class Contender {
 public:
  Contender(BenchCase* of, const BenchPlace& place)
      : of_(of),
        request_(of->request),
        watch_(of->kernel->named.needs_gpu() ? place.read_gpu : ReadDeviceClocks()) {
    request_.between_samples = [this] { watch_.look(); };
    request_.measures_reuse = request_.measures_reuse && of->kernel->named.kernel->can(kReuse);
  }

  /// What was planned before is measured again.
  void plan(BenchMatrix& matrix) {
    if (of_->run == nullptr) prepare(matrix, *of_);
    outcome_ = of_->run->outcome;
    say_choice(outcome_, of_->kernel->named.full_name());
  }
  bool is_measurable() const {
    return reason_.empty() && !is_short_of_memory_ && outcome_.passed();
  }
  bool is_short_of_memory() const { return is_short_of_memory_; }

  void warm_up() {
    for (int i = 0; i < request_.warmup; ++i) of_->run->time();
  }

  bool has_enough(double seconds) const {
    return is_enough(request_.stop, outcome_.samples, seconds);
  }

  void take_sample(bool is_alone) {
    watch_.look();
    if (request_.is_cold) {
      of_->run->plan().evict_caches();
    } else if (!is_alone) {
      of_->run->time();
    }
    outcome_.samples.seconds.push_back(of_->run->time());
  }

  void complete() { of_->run->complete(request_, &outcome_); }

  /// Calls `step`; what it throws becomes the result. Too little memory beside others does not: the
  /// case can be tried again when they are gone.
  template <class Step>
  void attempt(bool is_alone, Step&& step) {
    try {
      step();
      return;
    } catch (const NoDeviceError&) {
      throw;
    } catch (const MemoryError& error) {
      reason_ = error.what();
      is_short_of_memory_ = !is_alone;
    } catch (const std::bad_alloc&) {
      reason_ = "not enough memory";
      is_short_of_memory_ = !is_alone;
    } catch (const Error& error) {
      reason_ = error.what();
    }
    of_->run.reset();
  }

  Json results() const {
    if (!reason_.empty()) return {{"status", "failed"}, {"reason", reason_}};
    Json results{{"status", outcome_.passed() ? "done" : "check failed"},
                 {"reason", outcome_.passed() ? "" : outcome_.check->failure}};
    results.update(to_json(outcome_));
    return results;
  }

  Json clocks() { return watch_.finish(); }

 private:
  BenchCase* of_;
  Request request_;
  ClockWatch watch_;
  Outcome outcome_;
  std::string reason_;  // of a failure
  bool is_short_of_memory_ = false;
};

/// Those of the group that can be measured, in rounds.
void take_turns(const std::vector<Contender*>& group, std::uint64_t seed) {
  const bool is_alone = group.size() == 1;
  std::vector<Contender*> running = group;
  const auto drop_failed = [&running] {
    running.erase(std::remove_if(running.begin(), running.end(),
                                 [](Contender* c) { return !c->is_measurable(); }),
                  running.end());
  };
  drop_failed();
  for (Contender* c : running) c->attempt(is_alone, [c] { c->warm_up(); });
  drop_failed();
  std::mt19937_64 random(seed);
  const Stopwatch watch;
  const auto is_done = [&] {
    // The request's limit of time is that of one case.
    const double seconds_each = watch.seconds() / static_cast<double>(running.size());
    return std::all_of(running.begin(), running.end(),
                       [&](const Contender* c) { return c->has_enough(seconds_each); });
  };
  while (!running.empty() && !is_done()) {
    std::shuffle(running.begin(), running.end(), random);
    for (Contender* c : running) c->attempt(is_alone, [&] { c->take_sample(is_alone); });
    drop_failed();
  }
  for (Contender* c : running) c->attempt(is_alone, [c] { c->complete(); });
}

Json record_of(const BenchMatrix& matrix, const BenchCase& of, Contender& measured,
               const BenchPlace& place, const Json& turns) {
  Json record{{"schema", kRecordSchema},
              {"matrix", matrix.digest().path},
              {"folder", current_folder()},
              {"case", identity_of(matrix.digest(), *of.kernel, of.request, place.machine)},
              {"history", matrix.history()},
              {"role", name_of(of.kernel->named.kernel->role)}};
  record.update(measured.results());
  const std::optional<double> ordering = reordering_seconds(matrix.history());
  if (record.contains("phases") && ordering) record["phases"]["reordering_seconds"] = *ordering;
  record["turns"] = turns;
  record["clocks"] = measured.clocks();
  record["machine"] = place.machine;
  record["time"] = utc_time_stamp();
  record["command_line"] = place.command_line;
  if (record["status"] != "done") {
    log_error(name_of_case(record) + ": " + record["status"].get<std::string>() + ": " +
              record["reason"].get<std::string>());
  } else if (record["clocks"]["throttled"].get<bool>()) {
    log_warning(name_of_case(record) +
                ": the clocks were held back while it was measured; the record says by what");
  } else if (const std::string others = disturbed_by(record["clocks"]["others"]); !others.empty()) {
    log_debug(name_of_case(record) + ": other processes kept " + others +
              " busy while it was measured; measure again where nothing else runs");
  }
  return record;
}

/// Plans as many of the waiting cases as memory holds together, and measures those. Returns the
/// cases that have to wait for the others to be gone.
std::vector<std::size_t> record_some(BenchMatrix& matrix, std::vector<BenchCase>& cases,
                                     const std::vector<std::size_t>& waiting,
                                     const BenchPlace& place, std::vector<Json>* records) {
  std::vector<std::size_t> late;
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<Contender*> group;
  for (const std::size_t i : waiting) {
    contenders.push_back(std::make_unique<Contender>(&cases[i], place));
    Contender& contender = *contenders.back();
    contender.attempt(group.empty(), [&] { contender.plan(matrix); });
    if (contender.is_measurable()) group.push_back(&contender);
  }
  take_turns(group, cases[waiting.front()].request.seed);
  const Json turns{{"id", new_id()}, {"cases", group.size()}};
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (contenders[i]->is_short_of_memory()) {
      late.push_back(waiting[i]);
    } else {
      (*records)[waiting[i]] = record_of(matrix, cases[waiting[i]], *contenders[i], place, turns);
    }
  }
  if (!late.empty()) {
    for (const std::size_t i : waiting) cases[i].run.reset();
  }
  return late;
}

}  // namespace

std::vector<Json> record_cases(BenchMatrix& matrix, std::vector<BenchCase>& cases,
                               const BenchPlace& place) {
  std::vector<Json> records(cases.size());
  std::vector<std::size_t> waiting(cases.size());
  std::iota(waiting.begin(), waiting.end(), 0);
  while (!waiting.empty()) waiting = record_some(matrix, cases, waiting, place, &records);
  return records;
}

}  // namespace csrkit
