#include "tools/forecast/cluster_profile.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/input_file.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/report.h"
#include "tools/forecast/profile_file.h"

namespace csrkit {

namespace {

constexpr const char* kClusterFormat = "csrkit cluster profile";
constexpr char kClusterAdvice[] = "docs/scaling.md lists what a cluster profile holds";

/// A curve from rates: bytes of rows of B a second, by the size of the table they are in.
GatherCurve curve_of(Index dense_cols, const std::vector<double>& table_mebibytes,
                     const std::vector<double>& bytes_per_second, double seconds_per_row) {
  GatherCurve curve;
  curve.dense_cols = dense_cols;
  curve.seconds_per_output_row = curve.seconds_per_streamed_row = seconds_per_row;
  for (std::size_t i = 0; i < table_mebibytes.size(); ++i) {
    curve.table_bytes.push_back(table_mebibytes[i] * (1 << 20));
    curve.seconds_per_read.push_back(static_cast<double>(sizeof(float)) * dense_cols /
                                     bytes_per_second[i]);
  }
  return curve;
}

/// Four H200 with NVLink in one host: NCCL was measured on four, the rest by csr-probe on two.
ClusterProfile h200x4() {
  ClusterProfile profile;
  profile.name = "h200x4";
  profile.nodes = 1;
  profile.ranks_per_node = 4;
  profile.cores_per_rank = 16;
  profile.rank_memory_bytes = 139.0 * (1 << 30);
  profile.link = {340e9, 33e-6, {}};  // NCCL's large exchanges, and its small ones
  profile.peers = {390e9, 15e-6, {{64, 279e9}, {128, 335e9}, {256, 331e9}}};
  DeviceProfile& device = profile.device;
  device.device = "gpu";
  device.name = "NVIDIA H200";
  device.kernel = "gpu.spmm.auto";
  device.workers = 132;
  device.rows_per_turn = 8;
  device.private_cache_bytes = 228 << 10;
  device.shared_cache_bytes = 60 << 20;
  device.copy_bytes_per_second = 4.21e12;
  device.fixed_seconds = 6e-6;
  device.gather = {
      curve_of(16, {0.125, 0.25, 1, 16, 32, 63, 111, 162, 241},
               {8.9e12, 8.08e12, 7.95e12, 7.53e12, 5.67e12, 3.69e12, 2.8e12, 2.46e12, 2.2e12},
               9.4e-12),
      curve_of(32, {0.125, 0.25, 1, 4, 16, 32, 64, 126, 221, 324, 453},
               {14.57e12, 11.97e12, 11.11e12, 9.56e12, 9.03e12, 8.27e12, 5.82e12, 4.83e12, 4.23e12,
                3.91e12, 3.72e12},
               2.15e-11),
      curve_of(128, {0.125, 0.25, 1, 4, 16, 64, 128, 256, 503, 885, 1295},
               {17.95e12, 16.58e12, 14.86e12, 12.42e12, 10.38e12, 9.68e12, 6.61e12, 5.39e12,
                4.69e12, 4.36e12, 4.22e12},
               1.09e-10),
      curve_of(512, {0.125, 0.5, 2, 8, 32, 128, 256, 503, 885, 1295},
               {22.55e12, 22.19e12, 18.3e12, 14.92e12, 11.14e12, 9.6e12, 8.97e12, 6.38e12, 5.25e12,
                4.59e12},
               5.05e-10)};
  return profile;
}

/// Nodes of 64 cores with a network of 100 Gb/s, four ranks on each: figures that are usual, not
/// measured on any machine.
ClusterProfile usual_cluster() {
  ClusterProfile profile;
  profile.name = "cluster";
  profile.ranks_per_node = 4;
  profile.cores_per_rank = 16;
  profile.rank_memory_bytes = 64.0 * (1 << 30);
  profile.link = {20e9, 5e-6, {}};
  profile.network = {12.5e9, 20e-6, {}};
  DeviceProfile& device = profile.device;
  device.device = "cpu";
  device.name = "16 cores";
  device.kernel = "gather";
  device.workers = 16;
  device.copy_bytes_per_second = 70e9;
  device.fixed_seconds = 10e-6;
  const std::vector<double> tables = {4, 32, 256, 4096};
  const double c_of_32 = 2 * 128 / 70e9;
  device.gather = {curve_of(32, tables, {250e9, 120e9, 40e9, 25e9}, c_of_32),
                   curve_of(256, tables, {300e9, 150e9, 70e9, 55e9}, 8 * c_of_32)};
  return profile;
}

LinkProfile link_from(const JsonField& field) {
  LinkProfile link{
      field["bytes_per_second"].number_from(1), field["seconds_per_exchange"].number_from(0), {}};
  if (link.bytes_per_second > kMostBytesPerSecond) {
    field["bytes_per_second"].refuse("a rate below 1e14");
  }
  if (!field.value().contains("rows")) return link;
  field["rows"].array().for_each([&](const JsonField& row) {
    link.rows.push_back({row["row_bytes"].number_from(1), row["bytes_per_second"].number_from(1)});
    const std::size_t count = link.rows.size();
    if (count > 1 && link.rows[count - 1].row_bytes <= link.rows[count - 2].row_bytes) {
      row["row_bytes"].refuse("rows of more bytes than those before");
    }
    if (link.rows.back().bytes_per_second > kMostBytesPerSecond) {
      row["bytes_per_second"].refuse("a rate below 1e14");
    }
  });
  return link;
}

Json to_json(const LinkProfile& link) {
  Json json = {{"bytes_per_second", link.bytes_per_second},
               {"seconds_per_exchange", link.seconds_per_exchange}};
  for (const RowRate& row : link.rows) {
    json["rows"].push_back(
        {{"row_bytes", count_json(row.row_bytes)}, {"bytes_per_second", row.bytes_per_second}});
  }
  return json;
}

}  // namespace

ClusterProfile read_cluster_profile(const std::string& name) {
  if (name == "h200x4") return h200x4();
  if (name == "cluster") return usual_cluster();
  struct stat info {};
  if (name.find_first_of("./") == std::string::npos && ::stat(name.c_str(), &info) != 0) {
    throw UsageError("--profile is '" + name + "'; it must be h200x4, cluster or a JSON file");
  }
  const Json json = parse_json(read_whole_file(name, kMaxJsonBytes), name, kClusterAdvice);
  const JsonField field(json, name, kClusterAdvice);
  if (!json.is_object() || json.value("format", Json()) != kClusterFormat) {
    field.refuse("a cluster profile (\"format\": \"" + std::string(kClusterFormat) + "\")");
  }
  if (field["version"].value() != 1) field["version"].refuse("version 1 of the format");
  constexpr std::int64_t kMostRanks = 1 << 20;
  ClusterProfile profile;
  profile.name = field["name"].text();
  profile.nodes = static_cast<Index>(field["nodes"].integer(0, kMostRanks));
  profile.ranks_per_node = static_cast<Index>(field["ranks_per_node"].integer(1, kMostRanks));
  profile.cores_per_rank = static_cast<Index>(field["cores_per_rank"].integer(1, kMostRanks));
  profile.rank_memory_bytes = field["rank_memory_bytes"].number_from(1);
  profile.link = link_from(field["link"]);
  if (json.contains("peers")) profile.peers = link_from(field["peers"]);
  if (profile.nodes != 1) profile.network = link_from(field["network"]);
  profile.device = device_profile_from(field["device"]);
  validate(MachineProfile{profile.name, {profile.device}}, name);
  return profile;
}

Json to_json(const ClusterProfile& profile) {
  Json json = {{"format", kClusterFormat},
               {"version", 1},
               {"name", profile.name},
               {"nodes", profile.nodes},
               {"ranks_per_node", profile.ranks_per_node},
               {"cores_per_rank", profile.cores_per_rank},
               {"rank_memory_bytes", count_json(profile.rank_memory_bytes)},
               {"link", to_json(profile.link)},
               {"device", to_json(MachineProfile{profile.name, {profile.device}})["devices"][0]}};
  if (profile.peers.bytes_per_second > 0) json["peers"] = to_json(profile.peers);
  if (profile.network.bytes_per_second > 0) json["network"] = to_json(profile.network);
  return json;
}

void write_cluster_profile(const std::string& path, const ClusterProfile& profile,
                           const Json& facts) {
  Json json = to_json(profile);
  json["measured_on"] = facts;
  AtomicFile file(path);
  const std::string text = json.dump(2) + "\n";
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace csrkit
