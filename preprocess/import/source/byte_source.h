// Opens a file, or one member of an archive, as a ByteSource: plain, or decompressed on the way.
//
// Compression and archives are told by content, never by name. Plain files are mapped; gzip is
// inflated by gzip_source; zstd, bzip2, xz and lzma go through libarchive, as do the members of tar
// (compressed or not) and zip files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "preprocess/import/source/archive_walk.h"
#include "preprocess/import/source/byte_stream.h"
#include "preprocess/import/source/compression.h"

namespace csrkit {

/// Opens a regular file. IoError if it cannot be opened or is no regular file, InputError if it is
/// compressed more than once.
std::unique_ptr<ByteSource> open_file(const std::string& path, const SourceLimits& limits = {});

/// An archive: a file, or a member of one, as data.npz in the zip file that is downloaded.
struct ArchivePlace {
  // NOLINTNEXTLINE(google-explicit-constructor): mostly it is a file
  ArchivePlace(std::string path, std::string member_of_it = {})
      : file(std::move(path)), member(std::move(member_of_it)) {}

  std::string file;
  std::string member;  // "": the file itself

  /// Its name in messages: "arxiv.zip(arxiv/raw/data.npz)".
  std::string name() const { return member.empty() ? file : file + "(" + member + ")"; }
};

/// The regular files in a tar (plain or compressed) or zip file, in archive order. For an archive
/// inside an archive all bytes are read.
std::vector<ArchiveMember> list_archive(const ArchivePlace& archive,
                                        const SourceLimits& limits = {});

/// Opens one member by its exact name; InputError if there is none. Reading is sequential, so each
/// open of a compressed tar, or of an archive within an archive, decompresses what lies before the
/// member.
std::unique_ptr<ByteSource> open_archive_member(const ArchivePlace& archive,
                                                const std::string& member,
                                                const SourceLimits& limits = {});

}  // namespace csrkit
