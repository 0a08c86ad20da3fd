#include "tools/support/plan_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/file_digest.h"

namespace csrkit {

namespace {

// Line 1: "csrkit-plan 1 <digest of all that follows this line>". Line 2: JSON. Then the bytes.
constexpr char kMagic[] = "csrkit-plan 1 ";
constexpr std::size_t kMagicSize = sizeof kMagic - 1, kDigestSize = 32;
constexpr std::size_t kBodyAt = kMagicSize + kDigestSize + 1;

[[noreturn]] void refuse(const std::string& path, std::size_t byte, const std::string& what) {
  throw InputError(path + ": byte " + std::to_string(byte) + ": " + what +
                   "; make the plan again with --save-plan");
}

std::string read_whole(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw IoError(path + ": cannot be read: " + std::strerror(errno));
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) throw IoError(path + ": cannot be read");
  return bytes;
}

}  // namespace

void write_plan(const std::string& path, const Json& key, const SavedPlan& plan) {
  std::string body =
      Json{{"case", key}, {"kernel", plan.kernel}, {"analysis_bytes", plan.analysis.size()}}
          .dump() +
      "\n";
  body.append(reinterpret_cast<const char*>(plan.analysis.data()), plan.analysis.size());
  const std::string head = kMagic + digest_bytes(body.data(), body.size()) + "\n";
  AtomicFile file(path);
  file.write(head.data(), head.size());
  file.write(body.data(), body.size());
  file.commit();
}

SavedPlan read_plan(const std::string& path, const Json& key) {
  const std::string bytes = read_whole(path);
  if (bytes.compare(0, kMagicSize, kMagic) != 0 || bytes.size() < kBodyAt) {
    refuse(path, 0, "expected '" + std::string(kMagic) + "' and a digest, found something else");
  }
  const std::string digest = digest_bytes(bytes.data() + kBodyAt, bytes.size() - kBodyAt);
  if (bytes.compare(kMagicSize, kDigestSize, digest) != 0 || bytes[kBodyAt - 1] != '\n') {
    refuse(path, kMagicSize, "the digest is not that of the file, which was damaged or cut short");
  }
  const std::size_t line_end = bytes.find('\n', kBodyAt);
  const Json head =
      Json::parse(bytes.substr(kBodyAt, line_end - kBodyAt), nullptr, /*allow_exceptions=*/false);
  if (line_end == std::string::npos || !head.is_object() ||
      !head.value("case", Json()).is_object() || !head.value("kernel", Json()).is_string() ||
      head.value("analysis_bytes", Json()) != bytes.size() - line_end - 1) {
    refuse(path, kBodyAt, "expected a line of JSON with case, kernel and analysis_bytes");
  }
  for (const auto& [name, wanted] : key.items()) {
    const Json found = head["case"].value(name, Json());
    if (found != wanted) {
      throw UsageError(path + ": this plan was made for " + name + " " + found.dump() +
                       ", this multiplication has " + wanted.dump() +
                       "; make one for it with --save-plan");
    }
  }
  SavedPlan plan;
  plan.kernel = head["kernel"];
  plan.analysis.assign(bytes.begin() + static_cast<std::ptrdiff_t>(line_end) + 1, bytes.end());
  return plan;
}

}  // namespace csrkit
