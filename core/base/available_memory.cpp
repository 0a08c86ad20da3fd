#include "core/base/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The number after `key` in a file of "key value" lines; kUnlimited if there is none.
std::uint64_t value_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t value = 0;
  while (file >> word) {
    if (word == key && file >> value) return value;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnlimited;
}

/// A file that holds one number, or "max".
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : kUnlimited;
}

/// The limit nearest to being reached, from the process's own group up to the root.
std::uint64_t left_in_control_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line, group;
  while (std::getline(groups, line)) {
    if (line.rfind("0::", 0) == 0) group = line.substr(3);
  }
  std::uint64_t left = kUnlimited;
  for (;;) {
    const std::string folder = "/sys/fs/cgroup" + group;
    const std::uint64_t limit = number_in(folder + "/memory.max");
    const std::uint64_t used = number_in(folder + "/memory.current");
    if (limit != kUnlimited && used != kUnlimited) {
      // Inactive file pages are given back before anything is killed.
      std::uint64_t cache = value_after(folder + "/memory.stat", "inactive_file");
      cache = cache == kUnlimited ? 0 : std::min(cache, used);
      left = std::min(left, limit - std::min(limit, used - cache));
    }
    const std::size_t slash = group.find_last_of('/');
    if (group.empty() || slash == std::string::npos) return left;
    group.resize(slash);
  }
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

}  // namespace

std::uint64_t available_memory_bytes() {
  const std::uint64_t kibibytes = value_after("/proc/meminfo", "MemAvailable:");
  const std::uint64_t machine = kibibytes == kUnlimited ? kUnlimited : kibibytes * 1024;
  return std::min(machine, left_in_control_groups());
}

void require_available_memory(std::uint64_t needed_bytes, const char* what, const char* advice) {
  const std::uint64_t available = available_memory_bytes();
  if (needed_bytes <= available) return;
  throw MemoryError(std::string(what) + " needs about " + mebibytes(needed_bytes) + ", " +
                    mebibytes(available) + " are available; " + advice);
}

}  // namespace csrkit
