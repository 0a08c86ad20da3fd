#include "tools/operation/plan_file.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/error.h"
#include "core/base/file_digest.h"
#include "core/base/input_file.h"
#include "tools/cli/json_reader.h"

namespace csrkit {

namespace {

// Line 1: "csrkit-plan 1 <digest of all that follows this line>". Line 2: JSON. Then the bytes.
constexpr char kMagic[] = "csrkit-plan 1 ";
constexpr std::size_t kMagicSize = sizeof kMagic - 1, kDigestSize = 32;
constexpr std::size_t kBodyAt = kMagicSize + kDigestSize + 1;

constexpr char kPlanAdvice[] = "make the plan again with --save-plan";

[[noreturn]] void refuse(const std::string& path, std::size_t byte, const std::string& what) {
  throw InputError(path + ": byte " + std::to_string(byte) + ": " + what + "; " + kPlanAdvice);
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
  const std::string bytes = read_whole_file(path, std::numeric_limits<std::uint64_t>::max());
  if (bytes.compare(0, kMagicSize, kMagic) != 0 || bytes.size() < kBodyAt) {
    refuse(path, 0, "expected '" + std::string(kMagic) + "' and a digest, found something else");
  }
  const std::string digest = digest_bytes(bytes.data() + kBodyAt, bytes.size() - kBodyAt);
  if (bytes.compare(kMagicSize, kDigestSize, digest) != 0 || bytes[kBodyAt - 1] != '\n') {
    refuse(path, kMagicSize, "the digest is not that of the file, which was damaged or cut short");
  }
  const std::size_t line_end = bytes.find('\n', kBodyAt);
  if (line_end == std::string::npos) refuse(path, kBodyAt, "expected a line of JSON, found no end");
  const Json head = parse_json(std::string_view(bytes).substr(kBodyAt, line_end - kBodyAt),
                               path + ":2", kPlanAdvice);
  const JsonField field(head, path + ":2", kPlanAdvice);
  field["case"].object();
  const std::uint64_t analysis_bytes = bytes.size() - line_end - 1;
  if (field["analysis_bytes"].unsigned_integer() != analysis_bytes) {
    field["analysis_bytes"].refuse(std::to_string(analysis_bytes) + ", the bytes that follow");
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
  plan.kernel = field["kernel"].text();
  plan.analysis.assign(bytes.begin() + static_cast<std::ptrdiff_t>(line_end) + 1, bytes.end());
  return plan;
}

}  // namespace csrkit
