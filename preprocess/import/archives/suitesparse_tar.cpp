// The SuiteSparse collection's archives: <name>/<name>.mtx, with right-hand sides and notes beside
// it.
#include <string>
#include <vector>

#include "core/base/text.h"
#include "preprocess/import/text/matrix_market.h"

namespace csrkit {

namespace {

/// Whether the member is <folder>/<folder>.mtx.
bool is_main_member(const std::string& member) {
  const std::size_t slash = member.rfind('/');
  if (slash == std::string::npos || !ends_with(member, ".mtx")) return false;
  const std::size_t before = member.rfind('/', slash == 0 ? 0 : slash - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  if (begin > slash) return false;
  return member.substr(slash + 1) == member.substr(begin, slash - begin) + ".mtx";
}

std::string choose_member(const std::string& path, const SourceLimits& limits) {
  std::vector<std::string> mains, matrices;
  for (const ArchiveMember& member : list_archive(path, limits)) {
    if (ends_with(member.name, ".mtx")) matrices.push_back(member.name);
    if (is_main_member(member.name)) mains.push_back(member.name);
  }
  if (mains.size() == 1) return mains[0];
  if (mains.empty() && matrices.size() == 1) return matrices[0];
  std::string found;
  for (const std::string& name : matrices) append_item(found, name);
  throw InputError(path + ": expected an archive with one member <name>/<name>.mtx, found " +
                   (found.empty() ? "no .mtx file" : found) +
                   "; unpack the archive and import the file you mean");
}

}  // namespace

bool matches_suitesparse_tar(const Peek& peek) { return peek.is_tar; }

ImportResult read_suitesparse_tar(const std::string& path, const ReadRequest& request) {
  ImportResult result;
  result.inputs.push_back({path, 0, {}});
  const std::string member = choose_member(path, request.limits);
  const std::unique_ptr<ByteSource> source = open_archive_member(path, member, request.limits);
  read_matrix_market_source(*source, request, result);
  result.notes["member"] = member;
  return result;
}

}  // namespace csrkit
