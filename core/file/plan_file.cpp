#include "core/file/plan_file.h"

#include <algorithm>
#include <limits>

#include "core/base/atomic_file.h"
#include "core/base/error.h"
#include "core/base/file_digest.h"
#include "core/base/input_file.h"

namespace csrkit {

namespace {

// Line 1: "csrkit-plan 2 <digest of all that follows this line>". Then a line "kernel <name>", a
// line "<name> <value>" for each part of the key, an empty line, and the analysis.
constexpr char kMagic[] = "csrkit-plan 2 ";
constexpr std::size_t kMagicSize = sizeof kMagic - 1, kDigestSize = 32;
constexpr std::size_t kBodyAt = kMagicSize + kDigestSize + 1;
constexpr char kKernel[] = "kernel";

[[noreturn]] void refuse(const std::string& path, std::size_t byte, const std::string& what) {
  throw InputError(path + ": byte " + std::to_string(byte) + ": " + what +
                   "; make the plan again and save it");
}

/// The lines from `at` to the empty one, which it leaves `at` behind.
PlanKey read_lines(const std::string& path, const std::string& bytes, std::size_t* at) {
  PlanKey lines;
  for (;;) {
    const std::size_t begin = *at, end = bytes.find('\n', begin);
    if (end == std::string::npos) refuse(path, begin, "expected the end of a line, found none");
    *at = end + 1;
    if (end == begin) return lines;
    const std::size_t blank = bytes.find(' ', begin);
    if (blank >= end) refuse(path, begin, "expected a name and a value, found no blank");
    lines.emplace_back(bytes.substr(begin, blank - begin),
                       bytes.substr(blank + 1, end - blank - 1));
  }
}

}  // namespace

void write_plan(const std::string& path, const PlanKey& key, const SavedPlan& plan) {
  std::string body = std::string(kKernel) + " " + plan.kernel + "\n";
  for (const auto& [name, value] : key) body += name + " " + value + "\n";
  body += "\n";
  body.append(reinterpret_cast<const char*>(plan.analysis.data()), plan.analysis.size());
  const std::string head = kMagic + digest_bytes(body.data(), body.size()) + "\n";
  AtomicFile file(path);
  file.write(head.data(), head.size());
  file.write(body.data(), body.size());
  file.commit();
}

SavedPlan read_plan(const std::string& path, const PlanKey& key) {
  const std::string bytes = read_whole_file(path, std::numeric_limits<std::uint64_t>::max());
  if (bytes.compare(0, kMagicSize, kMagic) != 0 || bytes.size() < kBodyAt) {
    refuse(path, 0, "expected '" + std::string(kMagic) + "' and a digest, found something else");
  }
  const std::string digest = digest_bytes(bytes.data() + kBodyAt, bytes.size() - kBodyAt);
  if (bytes.compare(kMagicSize, kDigestSize, digest) != 0 || bytes[kBodyAt - 1] != '\n') {
    refuse(path, kMagicSize, "the digest is not that of the file, which was damaged or cut short");
  }
  std::size_t at = kBodyAt;
  const PlanKey lines = read_lines(path, bytes, &at);
  if (lines.empty() || lines.front().first != kKernel) {
    refuse(path, kBodyAt, "expected the name of a kernel, found something else");
  }
  for (const auto& [name, wanted] : key) {
    const auto line = std::find_if(lines.begin() + 1, lines.end(),
                                   [&, name = &name](const auto& l) { return l.first == *name; });
    const std::string found = line == lines.end() ? "nothing" : line->second;
    if (found == wanted) continue;
    throw UsageError(path + ": this plan was made for " + name + " " + found +
                     ", this multiplication has " + wanted + "; make one for it and save it");
  }
  SavedPlan plan;
  plan.kernel = lines.front().second;
  plan.analysis.assign(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end());
  return plan;
}

}  // namespace csrkit
