#include "tools/support/profile_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"

namespace csrkit {

namespace {

constexpr const char* kFormat = "csrkit machine profile";
constexpr int kVersion = 1;

GatherCurve curve_from(const Json& json) {
  GatherCurve curve;
  json.at("dense_cols").get_to(curve.dense_cols);
  json.at("seconds_per_output_row").get_to(curve.seconds_per_output_row);
  json.at("seconds_per_streamed_row").get_to(curve.seconds_per_streamed_row);
  json.at("table_bytes").get_to(curve.table_bytes);
  json.at("seconds_per_read").get_to(curve.seconds_per_read);
  return curve;
}

DeviceProfile device_from(const Json& json) {
  DeviceProfile device;
  json.at("device").get_to(device.device);
  json.at("name").get_to(device.name);
  json.at("kernel").get_to(device.kernel);
  json.at("workers").get_to(device.workers);
  json.at("rows_per_turn").get_to(device.rows_per_turn);
  json.at("private_cache_bytes").get_to(device.private_cache_bytes);
  json.at("shared_cache_bytes").get_to(device.shared_cache_bytes);
  json.at("memory_bytes").get_to(device.memory_bytes);
  json.at("copy_bytes_per_second").get_to(device.copy_bytes_per_second);
  json.at("fixed_seconds").get_to(device.fixed_seconds);
  for (const Json& curve : json.at("gather")) device.gather.push_back(curve_from(curve));
  return device;
}

}  // namespace

Json to_json(const MachineProfile& profile) {
  Json devices = Json::array();
  for (const DeviceProfile& device : profile.devices) {
    Json gather = Json::array();
    for (const GatherCurve& curve : device.gather) {
      gather.push_back({{"dense_cols", curve.dense_cols},
                        {"seconds_per_output_row", curve.seconds_per_output_row},
                        {"seconds_per_streamed_row", curve.seconds_per_streamed_row},
                        {"table_bytes", curve.table_bytes},
                        {"seconds_per_read", curve.seconds_per_read}});
    }
    devices.push_back({{"device", device.device},
                       {"name", device.name},
                       {"kernel", device.kernel},
                       {"workers", device.workers},
                       {"rows_per_turn", device.rows_per_turn},
                       {"private_cache_bytes", device.private_cache_bytes},
                       {"shared_cache_bytes", device.shared_cache_bytes},
                       {"memory_bytes", device.memory_bytes},
                       {"copy_bytes_per_second", device.copy_bytes_per_second},
                       {"fixed_seconds", device.fixed_seconds},
                       {"gather", gather}});
  }
  return {{"format", kFormat}, {"version", kVersion}, {"host", profile.host}, {"devices", devices}};
}

MachineProfile read_machine_profile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot open '" + path + "': " + std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw IoError("cannot read '" + path + "'");
  MachineProfile profile;
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", Json()) != kFormat) {
      throw InputError(path + ": byte 0: expected a machine profile (\"format\": \"" +
                       std::string(kFormat) +
                       "\"), found other JSON; csr-probe --output makes one");
    }
    if (json.at("version") != kVersion) {
      throw InputError(path + ": version " + json.at("version").dump() + " of the format, this " +
                       "csrkit reads version " + std::to_string(kVersion) +
                       "; measure the machine again with csr-probe");
    }
    json.at("host").get_to(profile.host);
    for (const Json& device : json.at("devices")) profile.devices.push_back(device_from(device));
  } catch (const Json::parse_error& error) {
    throw InputError(path + ": byte " + std::to_string(error.byte) +
                     ": expected the JSON of a machine profile, found something else; csr-probe " +
                     "--output makes one");
  } catch (const Json::exception& error) {
    throw InputError(path + ": not a whole machine profile: " + error.what() +
                     "; csr-probe --output makes one");
  }
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
