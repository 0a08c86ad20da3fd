// What ranks tell rank 0 of a run, each in a JSON object, and what reports of all distributed
// products make of it.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/report.h"
#include "tools/operation/product/measure.h"

namespace csrkit {

/// Of a phase that every sample has.
template <class Phases>
double median_of(const std::vector<Phases>& samples, double Phases::*phase) {
  Samples all;
  for (const Phases& sample : samples) all.seconds.push_back(sample.*phase);
  return all.median_seconds();
}

std::vector<Json> parsed_records(const std::vector<std::string>& texts);

/// A product is over when its slowest rank is done.
Samples slowest_of(const std::vector<Json>& records);

/// "launcher": what started the ranks, or "threads".
void add_launcher(Report* report);

/// "bytes": of all ranks and of the one that gets most. `when` and `note` are for people.
void add_bytes_moved(Report* report, const std::vector<Json>& records, const std::string& when,
                     const std::string& note);

/// "check": the rows that ranks checked, and the worst error of all.
void add_rank_checks(Report* report, const std::vector<Json>& records);

/// The end: times, rate, output, machine, and the records themselves. `label` says of what.
void add_rank_times(Report* report, const std::vector<Json>& records, const std::string& label,
                    double flops, const std::string& output, int threads);

}  // namespace csrkit
