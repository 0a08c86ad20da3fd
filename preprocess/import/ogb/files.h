// The files of an Open Graph Benchmark data set, in a folder or in the archive as it is downloaded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/import/source/byte_source.h"

namespace csrkit {

class OgbFiles {
 public:
  /// Finds raw/ in the folder or zip archive at `path`: the path may also name raw/ itself, its
  /// edge.csv(.gz), or one relation of raw/relations. Nothing if it is none of these. Never throws.
  static std::optional<OgbFiles> find(const std::string& path);

  /// Name of the folder above raw/, "ogbn_arxiv".
  const std::string& dataset() const { return dataset_; }
  /// Path of raw/, to begin messages with.
  const std::string& where() const { return where_; }
  /// "author___writes___paper" if the path names that relation, else "".
  const std::string& relation() const { return relation_; }

  /// Whether there is raw/<name>.csv.gz or raw/<name>.csv.
  bool has_table(const std::string& name) const { return !table_file(name).empty(); }
  /// The path of that table, for messages and digests; of the archive if it is in one.
  std::string table_path(const std::string& name) const;
  /// Opens it, decompressed. InputError if it is not there, with its name.
  std::unique_ptr<ByteSource> open_table(const std::string& name, const SourceLimits& limits) const;

  /// raw/data.npz, if there is one.
  std::optional<ArchivePlace> binary() const;

  /// Files below split/, as "time/train.csv.gz", sorted.
  std::vector<std::string> splits() const;
  std::unique_ptr<ByteSource> open_split(const std::string& file, const SourceLimits& limits) const;

 private:
  bool is_archive() const { return !members_.empty(); }
  bool has_file(const std::string& file) const;
  std::string table_file(const std::string& name) const;
  std::unique_ptr<ByteSource> open(const std::string& file, const SourceLimits& limits) const;
  static std::optional<OgbFiles> find_in_archive(const std::string& path);
  bool holds_graph() const;

  std::string
      top_;  // folder above raw/, or the same in an archive, with a slash; "" for raw/ alone
  std::string archive_;  // path; "" for folders
  std::vector<std::string> members_;
  std::string dataset_, where_, relation_;
  std::string raw_;  // path of raw/ with a slash
};

}  // namespace csrkit
