// Which ordering, if any: forecasts for every method, without running them on the whole matrix.
#pragma once

#include <string>
#include <vector>

#include "core/facts/machine_profile.h"
#include "preprocess/reorder/reorder.h"
#include "tools/cli/report.h"

namespace csrkit {

struct AdviseRequest {
  std::vector<Index> dense_cols = {32, 128, 256};
  MachineProfile machine;
  /// Nonzeros of the sample that methods are tried on; a smaller matrix is its own sample.
  Offset sample_entries = 2'000'000;
  /// Spread the cost of the ordering over so many products; 0: only the time of products counts.
  double multiplications = 0;
  ReorderOptions reorder;  // parameters go to the methods that take them
};

struct MethodForecast {
  std::string method;
  std::string refused;          // why there is no forecast; "" if there is one
  double cost_seconds = 0;      // of the ordering and the move
  std::vector<double> seconds;  // of one product, by dense_cols
};

/// One device's view.
struct Advice {
  std::string device;
  std::vector<double> seconds_now;  // as the matrix lies, by dense_cols
  std::vector<MethodForecast> methods;
  std::vector<int> recommended;  // by dense_cols: index into methods; -1: leave it
};

struct AdviceReport {
  bool is_whole = true;
  double sampled_share = 1;
  std::vector<Advice> devices;
};

/// Tries every available method on a snowball sample. What it gains there, the share of reads that
/// miss in a random order and hit in its own, is carried over to the whole. Methods whose cost does
/// not depend on the nonzeros run on the whole.
AdviceReport advise(const CsrMatrix& matrix, const AdviseRequest& request);

/// The index of the method to take, -1 for none. Of the methods within 2 % of the best it is the
/// cheapest, if the gain is at least 3 %: forecasts are no more precise than that. With
/// `multiplications`, times are those of the ordering plus so many products.
int recommended_method(const std::vector<MethodForecast>& methods, std::size_t width,
                       double seconds_now, double multiplications);

void add_advice(Report& report, const AdviceReport& advice, const AdviseRequest& request);

}  // namespace csrkit
