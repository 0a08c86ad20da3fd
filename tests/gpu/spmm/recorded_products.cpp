#include "tests/gpu/spmm/recorded_products.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/spmm/row_panels/panel.h"
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

/// Its lines have the facts of their matrices, and all of its kernels are as they are now.
constexpr const char* kNewest = "h200/data/spmm_choices_sets";
constexpr const char* kTwelfth = "h200/data/spmm_choices_twelfth";
constexpr const char* kFifteenth = "h200/data/spmm_choices_fifteenth";

/// Whether both kernels of a record are as they are now.
bool is_of_today(const std::string& record_name) {
  return record_name == kNewest || record_name == kTwelfth || record_name == kFifteenth ||
         record_name == "h100/data/spmm_choices_landed" ||
         record_name == "h100/data/spmm_choices_more" ||
         record_name == "h100/data/spmm_choices_slices" ||
         record_name == "h200/data/spmm_choices_more";
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
bool has_one_slice_since(const SpmmProfile& profile) {
  constexpr Offset kSliceBytes = 256, kLineBytes = 128;
  const Offset bytes = Offset{profile.dense_cols} * profile.b_bytes;
  return profile.b_bytes >= 4 && !profile.has_pieces() && bytes > kSliceBytes &&
         bytes < 2 * kSliceBytes && bytes % kLineBytes != 0;
}

/// What row_bins takes in f64 over what it took when the records were made: entries of A go through
/// shared memory, which saves the more the more of B is found in L1. Within 0.03 of what was seen
/// on most of 26 matrices (docs/lab/2026-11-26-spmm-last-lost.md).
double times_by_shared_memory(const SpmmProfile& profile) {
  constexpr double kSaved = 0.065;
  if (profile.b_bytes != 8 || profile.has_pieces()) return 1;
  const double part = profile.dense_cols >= 32 ? 1 : profile.dense_cols >= 16 ? 0.7 : 0.45;
  return std::pow(profile.near.of_16, -kSaved * part);
}

std::string key_of(const nlohmann::json& record) {
  return record["matrix"].get<std::string>() + " " + record["kinds"].get<std::string>() + " " +
         std::to_string(record["k"].get<int>()) + " " +
         std::to_string(record.value("transpose", 0)) + " " +
         std::to_string(record.value("padding", 0));
}

/// What is found in the matrices of all records, whatever they tell of them.
struct SeenSince {
  Offset longest = 0;
  Neighbourhood near;
  std::map<int, PanelSample> of_panels;  // of so many rows
  bool is_kept_out = false;
};
using MatrixKey = std::pair<std::string, bool>;  // its name, and whether it is transposed
const std::map<MatrixKey, SeenSince>& seen_since() {
  static const std::map<MatrixKey, SeenSince> all = [] {
    std::map<MatrixKey, SeenSince> seen;
    for (const nlohmann::json& line : lines_of("h100/data/spmm_choices_matrices")) {
      SeenSince& matrix = seen[{line["matrix"], line["transpose"] != 0}];
      matrix.longest = line["longest"];
      matrix.near = {line["of_16"], line["of_64"]};
      matrix.is_kept_out = line.contains("kept_out");
      for (const int rows : {4, 8}) {
        const nlohmann::json& panels = line["panels_of_" + std::to_string(rows)];
        matrix.of_panels[rows] = {panels[0], panels[1], panels[2]};
      }
    }
    for (const char* record : {kNewest, kTwelfth, kFifteenth}) {
      for (const nlohmann::json& line : lines_of(record)) {
        if (!line.contains("matrix")) continue;
        SeenSince& matrix = seen[{line["matrix"], line["transpose"] != 0}];
        matrix.longest = line["longest"];
        matrix.near = {line["of_16"], line["of_64"]};
        matrix.is_kept_out = line.contains("kept_out");
        matrix.of_panels[line["kinds"] == "f16" ? 8 : 4] = {line["entries"], line["distinct"],
                                                            line["places"]};
      }
    }
    return seen;
  }();
  return all;
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
    if (record["k"] == 1) continue;  // SpMV, which has a chooser of its own
    if (record.value("padding", 0) != padding) continue;
    const std::string kinds = record["kinds"];
    const bool has_16_bits = kinds.find("16") != std::string::npos;
    RecordedProduct item;
    item.matrix = record["matrix"];
    item.is_transposed = record.value("transpose", 0) != 0;
    item.profile.rows = record["rows"];
    item.profile.cols = record["cols"];
    item.profile.nnz = record["nnz"];
    item.profile.dense_cols = record["k"];
    item.profile.b_bytes = has_16_bits ? 2 : kinds == "f64" ? 8 : 4;
    const SeenSince& since = seen_since().at({item.matrix, item.is_transposed});
    item.profile.longest = since.longest;
    item.profile.near = since.near;
    item.profile.sample = since.of_panels.at(panel_rows(item.profile.b_bytes));
    item.profile.sample.all_finite = record.value("finite", 1) != 0;
    item.profile.multiprocessors = multiprocessors;
    item.profile.l2_bytes = l2_bytes;
    const bool is_new = is_of_today(record_name);
    // Rows that begin anywhere have new kernels since.
    const bool is_odd = padding > 0 || item.profile.has_pieces();
    if (!is_new && (has_one_slice_since(item.profile) || (is_odd && !has_16_bits))) continue;
    item.bins = record["row_bins"];
    if (record_name != kNewest && record_name != kTwelfth && record_name != kFifteenth)
      item.bins *= times_by_shared_memory(item.profile);
    if (!is_new && has_ranges_since(item.profile)) {
      const auto seen = times_in_ranges().find(key_of(record));
      if (seen == times_in_ranges().end() || record_name.find("h200") != 0) continue;
      item.bins *= seen->second;
    }
    item.panels = record["row_panels"];
    item.windows = record.value("dense_windows", 0.0);
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

bool is_kept_out(const std::string& matrix) { return seen_since().at({matrix, false}).is_kept_out; }

}  // namespace csrkit::gpu
