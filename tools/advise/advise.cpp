#include "tools/advise/advise.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/stopwatch.h"
#include "core/facts/spmm_forecast.h"
#include "preprocess/reorder/snowball.h"
#include "tools/advise/locality_report.h"

namespace csrkit {

namespace {

constexpr double kWorthIt = 0.03;
constexpr double kAsGood = 0.02;
constexpr const char* kTrialSeconds = "60";  // of a method that can be stopped, on a sample

ReadProfile reads_in_order(const CsrMatrix& matrix, const DeviceProfile& device,
                           const Permutation* order) {
  ReuseOptions options;
  if (order != nullptr) options.row_order = order->old_of_new();
  return read_profile(matrix, device, options);
}

/// What a method made of the sample.
struct Trial {
  const ReorderMethod* method;
  std::string refused;
  std::optional<Permutation> order;  // of the rows of the sample, or of the whole
  bool is_of_whole = false;
  double cost_seconds = 0;  // on the whole
};

Trial try_method(const ReorderMethod& method, const CsrMatrix& whole, const CsrMatrix& sample,
                 double sampled_share, const ReorderOptions& options) {
  Trial trial{&method, {}, {}, false, 0};
  // A method that looks at row lengths alone is cheaper than any sample.
  trial.is_of_whole = sampled_share == 1 || method.ns_per_entry == 0;
  const CsrMatrix& matrix = trial.is_of_whole ? whole : sample;
  const double scale = trial.is_of_whole ? 1 : 1 / sampled_share;
  try {
    const Stopwatch watch;
    trial.order = make_ordering(method.name, matrix, options).order;
    trial.cost_seconds = watch.seconds() * scale;
  } catch (const Error& error) {
    trial.refused = error.what();
  }
  return trial;
}

/// Hits of an order on the whole, when it was made for a sample only: the hits of a random order,
/// plus the share of its misses that the order turned into hits on the sample. A sample that fits
/// the cache says nothing; then the largest cache that it does not fit decides.
HitShare carried_over(const HitShare& random_whole, const HitShare& random_sample,
                      const HitShare& order_sample, double inside_share) {
  return [=](double bytes) {
    double up_to = bytes;
    while (up_to > 1024 && random_sample(up_to) > 0.9) up_to /= 2;
    const double misses = 1 - random_sample(up_to);
    const double gained =
        misses > 0 ? std::clamp(1 - (1 - order_sample(up_to)) / misses, 0.0, 1.0) : 0.0;
    const double random = random_whole(bytes);
    return random + inside_share * gained * (1 - random);
  };
}

Advice advice_for(const DeviceProfile& device, const CsrMatrix& matrix,
                  const reorder::Snowball& sample, const std::vector<Trial>& trials,
                  double move_seconds, const AdviseRequest& request) {
  Advice advice;
  advice.device = device.device;
  const ReadProfile now = reads_in_order(matrix, device, nullptr);
  const auto random = std::find_if(trials.begin(), trials.end(), [](const Trial& trial) {
    return std::string(trial.method->name) == "random";
  });
  const ReadProfile random_whole = reads_in_order(matrix, device, &*random->order);
  ReadProfile random_sample;
  if (!sample.is_whole) {
    ReorderOptions options;
    options.seed = request.reorder.seed;
    const Permutation order = make_ordering("random", sample.matrix, options).order;
    random_sample = reads_in_order(sample.matrix, device, &order);
  }
  const auto row_bytes = [&](Index dense_cols) { return b_row_bytes(matrix, dense_cols); };
  for (const Index dense_cols : request.dense_cols) {
    advice.seconds_now.push_back(forecast_spmm(device, now, row_bytes(dense_cols)).seconds);
  }
  for (const Trial& trial : trials) {
    MethodForecast forecast{trial.method->name, trial.refused, 0, {}};
    if (trial.refused.empty()) {
      forecast.cost_seconds = trial.cost_seconds + move_seconds;
      const ReadProfile reads =
          reads_in_order(trial.is_of_whole ? matrix : sample.matrix, device, &*trial.order);
      for (const Index dense_cols : request.dense_cols) {
        const double bytes = row_bytes(dense_cols);
        const HitShare own = hit_share(device, reads, bytes);
        const HitShare hits =
            trial.is_of_whole
                ? own
                : carried_over(hit_share(device, random_whole, bytes),
                               hit_share(device, random_sample, bytes), own, sample.inside_share);
        forecast.seconds.push_back(forecast_spmm(device, hits, matrix.rows(),
                                                 now.shared_reads.first_reads(),
                                                 static_cast<double>(matrix.nnz()), bytes)
                                       .seconds);
      }
    }
    advice.methods.push_back(std::move(forecast));
  }
  for (std::size_t width = 0; width < request.dense_cols.size(); ++width) {
    advice.recommended.push_back(recommended_method(
        advice.methods, width, advice.seconds_now[width], request.multiplications));
  }
  return advice;
}

}  // namespace

AdviceReport advise(const CsrMatrix& matrix, const AdviseRequest& request) {
  const reorder::Snowball sample =
      reorder::snowball(matrix, request.sample_entries, request.reorder.seed);
  AdviceReport report;
  report.is_whole = sample.is_whole;
  report.sampled_share = sample.is_whole ? 1 : sample.entry_share;
  std::vector<Trial> trials;
  const auto& methods = reorder_methods();
  for (const ReorderMethod& method : methods) {
    if (!method.is_available || std::string(method.name) == "identity") continue;
    if (request.reorder.progress) {
      request.reorder.progress(method.name, static_cast<std::uint64_t>(&method - methods.data()),
                               methods.size());
    }
    ReorderOptions options = request.reorder;
    options.progress = {};
    options.parameters = own_values(method.parameters, request.reorder.parameters);
    if (find_parameter(method.parameters, "time-limit") != nullptr) {
      options.parameters.emplace("time-limit", kTrialSeconds);
    }
    trials.push_back(try_method(method, matrix, sample.matrix, report.sampled_share, options));
  }
  // Every method moves the matrix in the same way, so one move tells the cost of all.
  const Permutation shuffle = make_ordering("random", sample.matrix, {}).order;
  const Stopwatch watch;
  if (matrix.rows() == matrix.cols()) {
    permute_both(sample.matrix, shuffle);
  } else {
    permute_rows(sample.matrix, shuffle);
  }
  const double move_seconds = watch.seconds() / report.sampled_share;
  for (const DeviceProfile& device : request.machine.devices) {
    report.devices.push_back(advice_for(device, matrix, sample, trials, move_seconds, request));
  }
  return report;
}

int recommended_method(const std::vector<MethodForecast>& methods, std::size_t width,
                       double seconds_now, double multiplications) {
  const auto cost = [&](const MethodForecast& method) {
    const double seconds = method.seconds[width];
    return multiplications > 0 ? method.cost_seconds + multiplications * seconds : seconds;
  };
  const double cost_now = multiplications > 0 ? multiplications * seconds_now : seconds_now;
  double best = cost_now;
  for (const MethodForecast& method : methods) {
    if (method.refused.empty()) best = std::min(best, cost(method));
  }
  if (!(best < cost_now * (1 - kWorthIt))) return -1;
  int choice = -1;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (!methods[i].refused.empty() || cost(methods[i]) > best * (1 + kAsGood)) continue;
    if (choice < 0 ||
        methods[i].cost_seconds < methods[static_cast<std::size_t>(choice)].cost_seconds) {
      choice = static_cast<int>(i);
    }
  }
  return choice;
}

namespace {

std::optional<double> products_to_pay(const MethodForecast& method, const Advice& device,
                                      std::size_t width) {
  return break_even(method.cost_seconds, device.seconds_now[width], method.seconds[width]);
}

/// The forecasts of a device: a row for the matrix as it is, then one for each method that can.
TextTable table_of(const Advice& device, const std::vector<Index>& dense_cols) {
  std::vector<std::string> headers{"method", "costs"};
  for (const Index width : dense_cols) {
    headers.push_back("K = " + std::to_string(width));
    headers.push_back("pays back");
  }
  TextTable table(headers);
  std::vector<std::string> now{"as it is", ""};
  for (const double seconds : device.seconds_now) {
    now.push_back(readable_seconds(seconds));
    now.emplace_back();
  }
  table.add(now);
  for (const MethodForecast& method : device.methods) {
    if (!method.refused.empty()) continue;
    std::vector<std::string> cells{method.method, readable_seconds(method.cost_seconds)};
    for (std::size_t i = 0; i < method.seconds.size(); ++i) {
      cells.push_back(readable_seconds(method.seconds[i]));
      cells.push_back(break_even_text(products_to_pay(method, device, i)));
    }
    table.add(cells);
  }
  return table;
}

std::string refusals_of(const Advice& device) {
  std::string lines;
  for (const MethodForecast& method : device.methods) {
    if (!method.refused.empty()) lines += "not " + method.method + ": " + method.refused + "\n";
  }
  return lines;
}

/// The names of the methods to take, by dense_cols.
std::vector<std::string> recommended_names(const Advice& device) {
  std::vector<std::string> names;
  for (const int choice : device.recommended) {
    names.push_back(choice < 0 ? "leave it"
                               : device.methods[static_cast<std::size_t>(choice)].method);
  }
  return names;
}

Json json_of(const MethodForecast& method, const Advice& device) {
  Json pays_back = Json::array();
  for (std::size_t i = 0; method.refused.empty() && i < method.seconds.size(); ++i) {
    const auto products = products_to_pay(method, device, i);
    pays_back.push_back(products ? Json(*products) : Json());
  }
  return {{"method", method.method},
          {"refused", method.refused},
          {"cost_seconds", method.cost_seconds},
          {"seconds", method.seconds},
          {"break_even", pays_back}};
}

Json json_of(const Advice& device, const std::vector<Index>& dense_cols) {
  Json methods = Json::array();
  for (const MethodForecast& method : device.methods) methods.push_back(json_of(method, device));
  return {{"device", device.device},
          {"dense_cols", dense_cols},
          {"seconds_now", device.seconds_now},
          {"methods", methods},
          {"recommended", recommended_names(device)}};
}

}  // namespace

void add_advice(Report& report, const AdviceReport& advice, const AdviseRequest& request) {
  report.add("sampled_share", "tried on", Json(advice.sampled_share),
             advice.is_whole
                 ? std::string("the whole matrix")
                 : "a sample of " + fixed(100 * advice.sampled_share, 1) + " % of the nonzeros");
  Json devices = Json::array();
  for (const Advice& device : advice.devices) {
    std::string take;
    const std::vector<std::string> names = recommended_names(device);
    for (std::size_t i = 0; i < names.size(); ++i) {
      take += "K = " + std::to_string(request.dense_cols[i]) + ": " + names[i] + "\n";
    }
    report.add_text("\nforecast SpMM times on the " + device.device + " of " +
                    request.machine.host + "\n" + table_of(device, request.dense_cols).text() +
                    refusals_of(device) + take);
    devices.push_back(json_of(device, request.dense_cols));
  }
  report.add_json("advice", devices);
}

}  // namespace csrkit
