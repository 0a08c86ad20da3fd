// A product that was made and judged, ready to be timed; and what is known of it, the same for
// every operation: in records, in reports, and for people.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/operator.h"
#include "core/contract/plan.h"
#include "core/facts/matrix_stats.h"
#include "core/judge/compare.h"
#include "tools/cli/json.h"
#include "tools/cli/report.h"
#include "tools/operation/product/request.h"

namespace csrkit {

struct Outcome {
  /// Of A and of what was made of it: rows, cols, nnz, kinds and what the operation adds.
  Json facts = Json::object();
  bool is_deterministic = true;  // as the kernel declares itself
  std::string choice;            // what the kernel decided inside
  std::string kernel_run;        // full name of the kernel that a chooser chose, else ""
  bool has_run = false;          // false where only a forecast was asked for
  std::optional<CheckResult> check;
  Samples samples;  // empty if the check failed: what is wrong is not timed
  /// Of one product: "flops", and under names that end in "_bytes" what it moves.
  std::vector<std::pair<const char*, double>> cost;
  NamedSeconds phases;           // of the first product and of all that came before it
  std::uint64_t peak_bytes = 0;  // most memory that the plan held

  // For people only.
  std::vector<std::pair<std::string, std::string>> columns;  // of the table: sizes that matter here
  std::vector<std::pair<std::string, std::string>> lines;    // after all others
  std::string memory_note;                                   // behind the peak

  bool passed() const { return !check || check->passed; }
};

/// Rows, columns and nonzeros.
Json shape_of(const CsrMatrix& matrix);
/// Of the operands, the result and the sums, by their names.
Json kinds_of(ValueKind a, ValueKind b, ValueKind c, ValueKind accumulate);
/// Of a product of `a` and dense matrices that has run: all but kinds.
void describe_product(const CsrMatrix& a, Index dense_cols, const SpmmCost& cost,
                      const Phases& phases, Outcome* outcome);

/// A plan whose first product is made and, if it passed the check, written: ready to be timed.
class Run {
 public:
  virtual ~Run() = default;
  virtual Plan& plan() = 0;
  /// Seconds of one product, by the plan's own clock.
  virtual double time() = 0;
  /// Adds what is known, or has to be measured, after the samples in `outcome`.
  virtual void complete(const Request& request, Outcome* outcome) = 0;

  /// Times `run_once` as the request asks, the caches cold or warm.
  Samples samples(const Request& request, const std::function<double()>& run_once);

  Outcome outcome;  // of the first product
};

/// Samples as the request asks, and all that is known then. Nothing is timed that failed its check.
Outcome measured(Run& run, const Request& request);

/// The same keys in all reports and records; docs/benchmarking.md and docs/record.schema.json.
Json to_json(const Outcome& outcome);

/// Adds `<prefix>samples_seconds` and its statistics.
void add_samples(Json* json, const std::string& prefix, const Samples& samples);

/// A table of one row if there are samples, then lines: choice, caches, check, phases, memory.
void add_outcome(Report* report, const Outcome& outcome, const std::string& kernel, bool is_cold);

/// Says with --verbose which kernel runs as `kernel`, and why.
void say_choice(const Outcome& outcome, const std::string& kernel);

/// "ok, worst error 0.02 of the bound (all rows)", "FAILED: ...", or "not checked".
std::string check_text(const std::optional<CheckResult>& check);

}  // namespace csrkit
