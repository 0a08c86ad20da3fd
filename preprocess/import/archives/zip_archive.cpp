// A zip archive with one matrix in it as text, as the Network Repository and others give them:
// Matrix Market or a list of edges, perhaps compressed once more, with notes beside it.
#include <algorithm>
#include <filesystem>

#include "core/base/text.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/name_promise.h"
#include "preprocess/import/source/byte_source.h"
#include "preprocess/import/source/gzip_source.h"
#include "preprocess/import/source/headed_source.h"

namespace csrkit {

namespace {

bool may_be_matrix(const std::string& member, const std::vector<const char*>& endings) {
  std::string name = std::filesystem::path(member).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool is_note = name.find("readme") != std::string::npos || name[0] == '.' ||
                       name.find("license") != std::string::npos;
  if (ends_with(name, ".gz")) name.resize(name.size() - 3);
  return !is_note && std::any_of(endings.begin(), endings.end(),
                                 [&](const char* ending) { return ends_with(name, ending); });
}

/// Matrix Market before lists of edges; names of archives from some systems hold "__MACOSX/._...".
std::vector<std::string> matrices_in(const std::vector<std::string>& members) {
  for (const auto& endings :
       {std::vector<const char*>{".mtx"}, {".edges", ".edgelist", ".el", ".tsv", ".csv", ".txt"}}) {
    std::vector<std::string> found;
    for (const std::string& member : members) {
      if (may_be_matrix(member, endings)) found.push_back(member);
    }
    if (!found.empty()) return found;
  }
  return {};
}

const FormatReader& reader_of(const HeadedSource& source, const std::string& member) {
  Peek peek;
  peek.path = member;
  peek.head = peek.disk_head = source.head();
  peek.head_is_whole = source.head_is_whole();
  for (const FormatReader& reader : format_readers()) {
    if (!reader.format.can_stream || !reader.matches(peek)) continue;
    const std::string found = reader.format.name;
    if (promises(member, "matrix-market") && found != "matrix-market") {
      throw InputError(source.name() +
                       ":1: expected Matrix Market, as the name says, whose first line begins with "
                       "%%MatrixMarket, found " +
                       found + " in its content; unpack the archive, and say --format=" + found +
                       " if that is what the file is");
    }
    return reader;
  }
  throw InputError(source.name() + ": byte 0: expected Matrix Market or a list of edges, found " +
                   "something else; unpack the archive and import the file you mean");
}

}  // namespace

bool matches_zip_archive(const Peek& peek) {
  return peek.is_zip && !matrices_in(peek.members).empty();
}

ImportResult read_zip_archive(const std::string& path, const ReadRequest& request) {
  std::vector<std::string> members;
  for (const ArchiveMember& member : list_archive(path, request.limits)) {
    members.push_back(member.name);
  }
  const std::vector<std::string> matrices = matrices_in(members);
  if (matrices.size() != 1) {
    std::string found;
    for (const std::string& name : matrices) append_item(found, name);
    throw InputError(path + ": byte 0: expected an archive with one matrix in it, found " +
                     (found.empty() ? "none" : found) +
                     "; unpack the archive and import the file you mean");
  }
  const std::string& member = matrices[0];
  std::unique_ptr<ByteSource> source = open_archive_member(path, member, request.limits);
  if (ends_with(member, ".gz")) {
    std::error_code ignored;
    source =
        gunzipped(std::move(source),
                  request.limits.decompressed_bytes(std::filesystem::file_size(path, ignored)));
  }
  const auto headed = std::make_shared<HeadedSource>(std::move(source));
  const FormatReader& reader = reader_of(*headed, member);
  for (const char* name : {"base", "rows", "cols"}) {
    if (reader.format.parameters.empty() && request.parameters.is_set(name)) {
      request.parameters.refuse_all(std::string(name) + " is for lists of edges, and " + member +
                                    " is " + reader.format.name + "; leave it out");
    }
  }
  ImportResult result =
      reader.read(path, {request.parameters, request.duplicates, request.value_kind,
                         request.progress, request.limits, headed});
  result.notes["member"] = member;
  result.notes["format of the member"] = reader.format.name;
  return result;
}

}  // namespace csrkit
