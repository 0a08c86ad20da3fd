#include "tools/forecast/profile_file.h"

#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/input_file.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/report.h"

namespace csrkit {

namespace {

constexpr const char* kFormat = "csrkit machine profile";
constexpr int kVersion = 1;

constexpr char kAdvice[] = "csr-probe --output makes one";
constexpr std::int64_t kMaxWorkers = 1 << 20;

std::vector<double> numbers(const JsonField& field) {
  std::vector<double> result;
  field.array().for_each([&](const JsonField& number) { result.push_back(number.number()); });
  return result;
}

/// A spread that older profiles do not have.
double spread_if_any(const JsonField& field, const char* name) {
  return field.value().contains(name) ? field[name].number() : 0;
}

/// Numbers of a member that older profiles do not have.
std::vector<double> numbers_if_any(const JsonField& field, const char* name) {
  return field.value().contains(name) ? numbers(field[name]) : std::vector<double>();
}

GatherCurve curve_from(const JsonField& field) {
  GatherCurve curve;
  curve.dense_cols = static_cast<Index>(field["dense_cols"].integer(1, kMaxIndex));
  curve.seconds_per_output_row = field["seconds_per_output_row"].number();
  curve.seconds_per_streamed_row = field["seconds_per_streamed_row"].number();
  curve.table_bytes = numbers(field["table_bytes"]);
  curve.seconds_per_read = numbers(field["seconds_per_read"]);
  curve.spread = numbers_if_any(field, "spread");
  curve.output_row_spread = spread_if_any(field, "output_row_spread");
  curve.streamed_row_spread = spread_if_any(field, "streamed_row_spread");
  return curve;
}

}  // namespace

DeviceProfile device_profile_from(const JsonField& field) {
  DeviceProfile device;
  device.device = field["device"].text();
  device.name = field["name"].text();
  device.kernel = field["kernel"].text();
  device.workers = static_cast<int>(field["workers"].integer(1, kMaxWorkers));
  device.rows_per_turn = static_cast<Index>(field["rows_per_turn"].integer(0, kMaxIndex));
  device.private_cache_bytes = field["private_cache_bytes"].number();
  device.shared_cache_bytes = field["shared_cache_bytes"].number();
  device.memory_bytes = field["memory_bytes"].number();
  device.copy_bytes_per_second = field["copy_bytes_per_second"].number();
  device.copy_spread = spread_if_any(field, "copy_spread");
  device.fixed_seconds = field["fixed_seconds"].number();
  device.fixed_spread = spread_if_any(field, "fixed_spread");
  field["gather"].array().for_each(
      [&](const JsonField& curve) { device.gather.push_back(curve_from(curve)); });
  return device;
}

Json to_json(const MachineProfile& profile) {
  Json devices = Json::array();
  for (const DeviceProfile& device : profile.devices) {
    Json gather = Json::array();
    for (const GatherCurve& curve : device.gather) {
      gather.push_back({{"dense_cols", curve.dense_cols},
                        {"seconds_per_output_row", curve.seconds_per_output_row},
                        {"output_row_spread", curve.output_row_spread},
                        {"seconds_per_streamed_row", curve.seconds_per_streamed_row},
                        {"streamed_row_spread", curve.streamed_row_spread},
                        {"table_bytes", curve.table_bytes},
                        {"seconds_per_read", curve.seconds_per_read},
                        {"spread", curve.spread}});
    }
    devices.push_back({{"device", device.device},
                       {"name", device.name},
                       {"kernel", device.kernel},
                       {"workers", device.workers},
                       {"rows_per_turn", device.rows_per_turn},
                       {"private_cache_bytes", count_json(device.private_cache_bytes)},
                       {"shared_cache_bytes", count_json(device.shared_cache_bytes)},
                       {"memory_bytes", count_json(device.memory_bytes)},
                       {"copy_bytes_per_second", device.copy_bytes_per_second},
                       {"copy_spread", device.copy_spread},
                       {"fixed_seconds", device.fixed_seconds},
                       {"fixed_spread", device.fixed_spread},
                       {"gather", gather}});
  }
  return {{"format", kFormat}, {"version", kVersion}, {"host", profile.host}, {"devices", devices}};
}

MachineProfile read_machine_profile(const std::string& path) {
  const Json json = parse_json(read_whole_file(path, kMaxJsonBytes), path, kAdvice);
  const JsonField field(json, path, kAdvice);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    field.refuse("a machine profile (\"format\": \"" + std::string(kFormat) + "\")");
  }
  if (field["version"].value() != kVersion) {
    field["version"].refuse("version " + std::to_string(kVersion) + " of the format");
  }
  MachineProfile profile;
  profile.host = field["host"].text();
  field["devices"].array().for_each(
      [&](const JsonField& device) { profile.devices.push_back(device_profile_from(device)); });
  validate(profile, path);
  return profile;
}

void write_machine_profile(const std::string& path, const MachineProfile& profile,
                           const Json& facts) {
  Json json = to_json(profile);
  json["measured_on"] = facts;
  const std::string text = json.dump(2) + "\n";
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace csrkit
