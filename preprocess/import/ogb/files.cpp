#include "preprocess/import/ogb/files.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "preprocess/import/source/gzip_source.h"

namespace csrkit {

namespace {

namespace fs = std::filesystem;

/// The name of a folder, whatever way it was written.
std::string name_of_folder(const fs::path& path) {
  std::error_code failed;
  const fs::path canonical = fs::canonical(path, failed);
  const fs::path& folder = failed ? path : canonical;
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

bool is_triplet(const std::string& name) {
  const std::size_t first = name.find("___");
  return first != std::string::npos && name.find("___", first + 3) != std::string::npos;
}

}  // namespace

bool OgbFiles::has_file(const std::string& file) const {
  if (is_archive()) return std::count(members_.begin(), members_.end(), file) > 0;
  std::error_code ignored;
  return fs::is_regular_file(file, ignored);
}

std::string OgbFiles::table_file(const std::string& name) const {
  for (const char* suffix : {".csv.gz", ".csv"}) {
    if (has_file(raw_ + name + suffix)) return raw_ + name + suffix;
  }
  return {};
}

bool OgbFiles::holds_graph() const {
  return has_table("num-node-list") || has_table("edge") || has_table("triplet-type-list") ||
         has_table("num-node-dict") || has_file(raw_ + "data.npz");
}

std::optional<OgbFiles> OgbFiles::find_in_archive(const std::string& path) {
  OgbFiles files;
  try {
    for (const ArchiveMember& member : list_archive(path)) files.members_.push_back(member.name);
  } catch (const std::exception&) {
    return std::nullopt;  // who reads it will say why
  }
  for (const std::string& member : files.members_) {
    const std::size_t raw = starts_with(member, "raw/") ? 0 : member.find("/raw/") + 1;
    if (raw == 0 && !starts_with(member, "raw/")) continue;
    files.top_ = member.substr(0, raw);
    files.raw_ = files.top_ + "raw/";
    files.dataset_ = files.top_.empty() ? fs::path(path).stem().string()
                                        : fs::path(files.top_).parent_path().filename().string();
    files.archive_ = path;
    files.where_ = path + "(" + files.raw_ + ")";
    if (files.holds_graph()) return files;
  }
  return std::nullopt;
}

std::optional<OgbFiles> OgbFiles::find(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    const std::string name = fs::path(path).filename().string();
    if (ends_with(name, ".zip")) return find_in_archive(path);
    if (name != "edge.csv.gz" && name != "edge.csv") return std::nullopt;
    OgbFiles beside;
    beside.raw_ = fs::path(path).parent_path().string() + "/";
    // Any table may be called edge.csv: the counts beside it tell.
    if (beside.raw_ == "/") beside.raw_ = "./";
    const bool is_ogb = beside.has_table("num-node-list") || beside.has_table("num-edge-list");
    return is_ogb ? find(beside.raw_) : std::nullopt;
  }
  OgbFiles files;
  fs::path raw = fs::path(path) / "raw";
  if (!fs::is_directory(raw, ignored)) raw = path;
  if (is_triplet(name_of_folder(raw)) && name_of_folder(raw / "..") == "relations") {
    files.relation_ = name_of_folder(raw);
    raw = (raw / "../..").lexically_normal();
  }
  files.where_ = raw.string();
  files.raw_ = raw.string() + (raw.has_filename() ? "/" : "");
  const bool is_raw = name_of_folder(raw) == "raw";
  files.top_ = is_raw ? (fs::path(raw) / "..").string() + "/" : files.raw_;
  files.dataset_ = name_of_folder(is_raw ? fs::path(files.top_) : raw);
  if (!files.holds_graph()) return std::nullopt;
  return files;
}

std::string OgbFiles::table_path(const std::string& name) const {
  return is_archive() ? archive_ : table_file(name);
}

std::unique_ptr<ByteSource> OgbFiles::open(const std::string& file,
                                           const SourceLimits& limits) const {
  if (!is_archive()) return open_file(file, limits);
  std::unique_ptr<ByteSource> member = open_archive_member(archive_, file, limits);
  if (!ends_with(file, ".gz")) return member;
  std::error_code ignored;
  return gunzipped(std::move(member), limits.decompressed_bytes(fs::file_size(archive_, ignored)));
}

std::unique_ptr<ByteSource> OgbFiles::open_table(const std::string& name,
                                                 const SourceLimits& limits) const {
  const std::string file = table_file(name);
  if (file.empty()) {
    throw InputError(where_ + ": byte 0: expected " + name +
                     ".csv.gz there, found none; was the archive unpacked completely?");
  }
  return open(file, limits);
}

std::optional<ArchivePlace> OgbFiles::binary() const {
  const std::string file = raw_ + "data.npz";
  if (!has_file(file)) return std::nullopt;
  return is_archive() ? ArchivePlace(archive_, file) : ArchivePlace(file);
}

std::vector<std::string> OgbFiles::splits() const {
  const std::string folder = top_ + "split/";
  std::vector<std::string> found;
  if (is_archive()) {
    for (const std::string& member : members_) {
      if (starts_with(member, folder)) found.push_back(member.substr(folder.size()));
    }
  } else {
    std::error_code failed;
    for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
      if (at->is_regular_file(failed)) {
        found.push_back(at->path().lexically_relative(folder).string());
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::unique_ptr<ByteSource> OgbFiles::open_split(const std::string& file,
                                                 const SourceLimits& limits) const {
  return open(top_ + "split/" + file, limits);
}

}  // namespace csrkit
