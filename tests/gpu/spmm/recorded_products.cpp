#include "tests/gpu/spmm/recorded_products.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "gpu/spmm/row_tasks/ranges.h"

namespace csrkit::gpu {

namespace {

/// The lines of a record, unpacked.
std::vector<nlohmann::json> lines_of(const std::string& record_name) {
  const std::string unpack =
      "gzip -dc " CSRKIT_SOURCE_DIR "/docs/results/" + record_name + ".jsonl.gz";
  const std::unique_ptr<FILE, int (*)(FILE*)> lines(popen(unpack.c_str(), "r"), &pclose);
  std::vector<nlohmann::json> records;
  char line[4096];
  while (lines && std::fgets(line, sizeof line, lines.get()) != nullptr) {
    records.push_back(nlohmann::json::parse(line));
  }
  return records;
}

constexpr const char* kOneSliceRecord = "h100/data/spmm_choices_one_slice";

/// Whether all kernels of a record are as they are now, but for row_bins at the widths below.
bool is_of_today(const std::string& record_name) {
  return record_name == "h100/data/spmm_choices_again" || record_name == kOneSliceRecord;
}

/// Whether row_bins has since become another kernel: it visited rows within ranges from operands of
/// 230 MB on.
bool has_ranges_since(const SpmmProfile& profile) {
  constexpr double kLargeThen = 230e6;
  constexpr Offset kManyEntries = 5'000'000, kShortMean = 4;
  const double operand_bytes =
      (static_cast<double>(profile.rows) + profile.cols) * profile.dense_cols * profile.b_bytes;
  return operand_bytes < kLargeThen && profile.nnz < kManyEntries &&
         profile.nnz > kShortMean * profile.rows &&
         has_ranges({profile.rows, profile.cols, profile.nnz, profile.dense_cols}, profile.b_bytes);
}

/// Whether row_bins has since become another kernel: 256 to 512 bytes of a row, aligned, were two
/// slices and are one.
bool has_one_slice_since(const SpmmProfile& profile, bool is_unaligned) {
  constexpr Offset kSliceBytes = 256, kLineBytes = 128;
  const Offset bytes = Offset{profile.dense_cols} * profile.b_bytes;
  return profile.b_bytes >= 4 && !is_unaligned && bytes > kSliceBytes && bytes < 2 * kSliceBytes &&
         bytes % kLineBytes != 0;
}

std::string key_of(const nlohmann::json& record) {
  return record["matrix"].get<std::string>() + " " + record["kinds"].get<std::string>() + " " +
         std::to_string(record["k"].get<int>()) + " " +
         std::to_string(record.value("transpose", 0)) + " " +
         std::to_string(record.value("padding", 0));
}

/// What row_bins takes in ranges over what it took without, of products seen both ways in one run.
const std::map<std::string, double>& times_in_ranges() {
  static const std::map<std::string, double> times = [] {
    std::map<std::string, double> seen;
    for (const nlohmann::json& record : lines_of("h200/data/spmm_ranges")) {
      if (!record.contains("row_bins")) continue;
      double before = 0;
      for (const double each : record["row_bins before"]) before += each;
      before /= static_cast<double>(record["row_bins before"].size());
      seen[key_of(record)] = record["row_bins"].get<double>() / before;
    }
    return seen;
  }();
  return times;
}

}  // namespace

std::vector<RecordedProduct> recorded_products(const std::string& record_name, int padding) {
  std::vector<RecordedProduct> cases;
  int multiprocessors = 132;
  double l2_bytes = 60 << 20;
  for (const nlohmann::json& record : lines_of(record_name)) {
    if (record.contains("device")) {
      multiprocessors = record["multiprocessors"];
      l2_bytes = record["l2_bytes"];
    }
    if (!record.contains("row_bins") || !record.contains("row_panels")) continue;
    // In 16 bits row_panels has since become another kernel.
    if (record_name == "h200/data/spmm_choices" && record["kinds"] == "f16") continue;
    if (record["k"] == 1) continue;  // SpMV, which has a chooser of its own
    if (record.value("padding", 0) != padding) continue;
    const std::string kinds = record["kinds"];
    const bool has_16_bits = kinds.find("16") != std::string::npos;
    const int vector = kinds == "f64" ? 2 : 4, few_cols = 8;
    const bool is_unaligned =
        record["k"] > few_cols && (padding > 0 || record["k"].get<int>() % vector != 0);
    // There both have since become other kernels.
    const bool is_new = is_of_today(record_name);
    const bool has_pieces = is_new || record_name == "h100/data/spmm_choices_odd";
    if (is_unaligned && !has_16_bits && !has_pieces) continue;
    RecordedProduct item;
    item.matrix = record["matrix"];
    item.is_transposed = record.value("transpose", 0) != 0;
    item.profile.rows = record["rows"];
    item.profile.cols = record["cols"];
    item.profile.nnz = record["nnz"];
    item.profile.dense_cols = record["k"];
    item.profile.b_bytes = has_16_bits ? 2 : kinds == "f64" ? 8 : 4;
    item.profile.longest_seen = item.profile.longest_found = record["longest"];
    item.profile.multiprocessors = multiprocessors;
    item.profile.l2_bytes = l2_bytes;
    item.profile.sample = {record["panels"], record["entries"], record["distinct"],
                           record["places"], record.value("finite", 1) != 0};
    if (record_name != kOneSliceRecord && has_one_slice_since(item.profile, is_unaligned)) continue;
    item.bins = record["row_bins"];
    if (!is_new && has_ranges_since(item.profile)) {
      const auto seen = times_in_ranges().find(key_of(record));
      if (seen == times_in_ranges().end() || record_name.find("h200") != 0) continue;
      item.bins *= seen->second;
    }
    item.panels = record["row_panels"];
    item.best = std::min(item.bins, item.panels);
    for (const char* other : {"dense_windows", "spmv.stencil"}) {
      if (!record.contains(other)) continue;
      item.best = std::min(item.best, record[other].get<double>());
      if (record.value("chosen", std::string()) == other) item.other_chosen = record[other];
    }
    cases.push_back(item);
  }
  return cases;
}

bool is_kept_out(const std::string& matrix) {
  int sum = 0;
  for (const char each : matrix) sum += static_cast<unsigned char>(each);
  return sum % 3 == 1;
}

}  // namespace csrkit::gpu
