// The header of a .csr file that is read: every field is checked, and an error names the byte.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <tuple>

#include "core/base/counted.h"
#include "core/file/csr_file_layout.h"
#include "core/file/rank_sections.h"

namespace csrkit::csr_layout {

namespace {

template <class Integer>
Integer get(const unsigned char* header, std::uint64_t at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= Integer{header[at + i]} << (8 * i);
  return value;
}

[[noreturn]] void fail(const std::string& path, std::uint64_t at, const std::string& what) {
  throw InputError(path + ": byte " + std::to_string(at) + ": " + what);
}

bool starts_with(const unsigned char* bytes, std::uint64_t size, const char* prefix,
                 std::size_t length) {
  return size >= length && std::memcmp(bytes, prefix, length) == 0;
}

/// What a file that does not begin with the magic looks like, and what to do about it.
std::string describe_other_file(const unsigned char* bytes, std::uint64_t size) {
  const auto is = [&](const char* prefix, std::size_t length) {
    return starts_with(bytes, size, prefix, length);
  };
  if (is("\x89"
         "CSR",
         4)) {
    return "a .csr file whose line endings were changed on the way (text-mode transfer); copy it "
           "again in binary mode";
  }
  if (is("\x09"
         "CSR",
         4)) {
    return "a .csr file that lost its eighth bits on the way; copy it again in binary mode";
  }
  if (is("\x1f\x8b", 2)) return "gzip data; decompress it, or import it with csr-import";
  if (is("\x28\xb5\x2f\xfd", 4)) {
    return "Zstandard data; decompress it, or import it with csr-import";
  }
  if (is("PK\x03\x04", 4)) return "a zip or .npz archive; import it with csr-import";
  if (is("\x93NUMPY", 6)) return "a NumPy .npy array; import it with csr-import";
  if (is("%%", 2)) return "Matrix Market text; import it with csr-import";
  const std::uint64_t sample = std::min<std::uint64_t>(size, 256);
  const bool is_text = std::all_of(bytes, bytes + sample, [](unsigned char c) {
    return (c >= 0x20 && c != 0x7f) || c == '\t' || c == '\n' || c == '\r';
  });
  if (is_text) return "text; import it with csr-import";
  char hex[3 * 8 + 1] = {};
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size, 8); ++i) {
    std::snprintf(hex + 3 * i, 4, "%02x ", bytes[i]);
  }
  return std::string("bytes ") + hex + "; if it is a matrix, import it with csr-import";
}

void check_magic(const unsigned char* bytes, std::uint64_t available, std::uint64_t file_bytes,
                 const std::string& path) {
  if (file_bytes == 0) {
    fail(path, 0, "expected a .csr file, found an empty file; create it again");
  }
  const std::uint64_t compared = std::min<std::uint64_t>(available, kMagic.size());
  if (!std::equal(kMagic.begin(), kMagic.begin() + compared, bytes)) {
    fail(path, 0,
         "expected a .csr file (89 43 53 52 0d 0a 1a 0a), found " +
             describe_other_file(bytes, available));
  }
  if (available < kHeaderBytes) {
    fail(path, file_bytes,
         "expected a header of 4096 bytes, found the end of the file; it was truncated, copy or "
         "create it again");
  }
}

std::string printable(const unsigned char* name) {
  std::string text;
  for (std::uint64_t i = 0; i < kSlotNameBytes && name[i] != 0; ++i) {
    text += name[i] >= 0x20 && name[i] < 0x7f ? static_cast<char>(name[i]) : '?';
  }
  return text;
}

bool slot_is_named(const unsigned char* slot, const char* name) {
  char padded[kSlotNameBytes] = {};
  std::memcpy(padded, name, std::strlen(name));
  return std::memcmp(slot, padded, kSlotNameBytes) == 0;
}

constexpr char kUpdate[] = "update csrkit or create the file again";
constexpr char kCreate[] = "create the file again";

/// A header that is being read: its fields, and errors that name where they lie.
struct HeaderReader {
  const unsigned char* bytes;
  const std::string& path;

  std::uint32_t u32(std::uint64_t at) const { return get<std::uint32_t>(bytes, at); }
  std::uint64_t u64(std::uint64_t at) const { return get<std::uint64_t>(bytes, at); }

  [[noreturn]] void refuse(std::uint64_t at, const std::string& expected, const std::string& found,
                           const char* advice) const {
    fail(path, at, "expected " + expected + ", found " + found + "; " + advice);
  }
  void require(std::uint64_t at, const char* what, std::uint64_t expected, std::uint64_t found,
               const char* advice) const {
    if (found == expected) return;
    refuse(at, std::string(what) + " " + std::to_string(expected), std::to_string(found), advice);
  }
};

/// Notes what the section of a slot says about the file: which of the optional ones there are, and
/// the size of those whose size does not follow from the dimensions.
void note_section(const HeaderReader& reader, std::uint64_t at, const CsrFileHeader& header,
                  Extras* noted) {
  Extras& extras = *noted;
  const unsigned char* slot = reader.bytes + at;
  const std::uint64_t size = reader.u64(at + 24);
  const auto refuse_size = [&](const std::string& expected) {
    reader.refuse(at + 24, expected, counted(size, "byte"), kCreate);
  };
  if (slot_is_named(slot, kRowOrder)) {
    extras.has_row_order = true;
  } else if (slot_is_named(slot, kColOrder)) {
    extras.has_col_order = true;
  } else if (slot_is_named(slot, kPartition)) {
    extras.has_partition = true;
  } else if (slot_is_named(slot, kPartBorders)) {
    if (!is_part_borders_size(size, static_cast<std::uint64_t>(header.rows))) {
      refuse_size("part borders of 8 bytes and 8 for each of at most " +
                  counted(header.rows, "part"));
    }
    extras.part_borders_bytes = size;
  } else if (slot_is_named(slot, kRankHeads)) {
    if (!rank_layout::is_rank_heads_size(size, static_cast<std::uint64_t>(header.rows))) {
      refuse_size("rank heads of words for at most " + counted(header.rows, "part") + " a level");
    }
    extras.rank_heads_bytes = size;
  } else if (slot_is_named(slot, kRankLists)) {
    if (size % rank_layout::kListAlignment != 0 || size > header.file_bytes) {
      refuse_size("rank lists of a multiple of 64 bytes within the file");
    }
    extras.rank_lists_bytes = size;
  } else if (slot_is_named(slot, kSplitRows)) {
    if (!rank_layout::is_split_rows_size(size))
      refuse_size("split rows of words with their places");
    extras.split_rows_bytes = size;
  } else if (slot_is_named(slot, kProvenance)) {
    if (size == 0 || size > kMaxProvenanceBytes) {
      reader.refuse(at + 24, "a provenance of 1 to 16777216 bytes", std::to_string(size), kCreate);
    }
    extras.provenance_bytes = size;
  } else if (!slot_is_named(slot, kRowOffsets) && !slot_is_named(slot, kColIndices) &&
             !slot_is_named(slot, kValues) && !slot_is_named(slot, kChecksums)) {
    reader.refuse(at, "a section of format version 1", "'" + printable(slot) + "'",
                  "a newer csrkit may know it");
  }
}

void require_section(const HeaderReader& reader, std::uint64_t at, const CsrSection& want) {
  const std::uint64_t offset = reader.u64(at + 16), size = reader.u64(at + 24);
  if (!slot_is_named(reader.bytes + at, want.name.c_str())) {
    reader.refuse(at, "section " + want.name, "'" + printable(reader.bytes + at) + "'", kCreate);
  }
  if (offset != want.offset_bytes || size != want.size_bytes) {
    reader.refuse(at + (offset != want.offset_bytes ? 16 : 24),
                  "section " + want.name + " to be the " + counted(want.size_bytes, "byte") +
                      " from byte " + std::to_string(want.offset_bytes),
                  counted(size, "byte") + " from byte " + std::to_string(offset), kCreate);
  }
}

/// The sections that the table names, checked against what the dimensions demand.
std::vector<CsrSection> decode_sections(const HeaderReader& reader, const CsrFileHeader& header) {
  const std::uint64_t count = reader.u64(kSectionCountAt);
  if (count > kSectionSlots) {
    reader.refuse(kSectionCountAt, "at most 16 sections", std::to_string(count), kCreate);
  }
  Extras extras;
  for (std::uint64_t i = 0; i < count; ++i) {
    note_section(reader, kSectionsAt + i * kSlotBytes, header, &extras);
  }
  std::vector<CsrSection> expected =
      lay_out(header.value_kind, header.rows, header.cols, header.nnz, extras);
  if (count != expected.size()) {
    reader.refuse(kSectionCountAt, counted(expected.size(), "section"), std::to_string(count),
                  kCreate);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    require_section(reader, kSectionsAt + i * kSlotBytes, expected[i]);
  }
  return expected;
}

void require_known_version(const HeaderReader& reader) {
  const std::uint32_t version = reader.u32(kVersionAt);
  if (version == __builtin_bswap32(kVersion)) {
    reader.refuse(kVersionAt, "little-endian integers", "big-endian ones",
                  "write the file on a little-endian machine");
  }
  if (version != kVersion) {
    reader.refuse(kVersionAt, "format version 1", std::to_string(version),
                  version > kVersion ? "a newer csrkit wrote the file, or it is damaged: update "
                                       "csrkit or copy the file again"
                                     : "the file is damaged, copy or create it again");
  }
}

void require_header_checksum(const HeaderReader& reader) {
  const std::uint64_t written = reader.u64(kHeaderChecksumAt);
  const std::uint64_t checksum = checksum_of(reader.bytes, kHeaderChecksumAt);
  if (checksum == written) return;
  char text[96];
  std::snprintf(text, sizeof text, "expected header checksum %016llx, found %016llx",
                static_cast<unsigned long long>(written),
                static_cast<unsigned long long>(checksum));
  fail(reader.path, kHeaderChecksumAt,
       std::string(text) + "; the header is damaged, copy or create the file again");
}

void require_known_encoding(const HeaderReader& reader) {
  reader.require(kHeaderBytesAt, "a header size of", kHeaderBytes, reader.u32(kHeaderBytesAt),
                 kUpdate);
  if (const std::uint32_t kind = reader.u32(kValueKindAt); kind > 4) {
    reader.refuse(kValueKindAt, "a value kind from 0 to 4 (none, f32, f64, f16, bf16)",
                  std::to_string(kind), kUpdate);
  }
  reader.require(kIndexBytesAt, "column indices of bytes:", sizeof(Index),
                 reader.u32(kIndexBytesAt), kUpdate);
  reader.require(kOffsetBytesAt, "row offsets of bytes:", sizeof(Offset),
                 reader.u32(kOffsetBytesAt), kUpdate);
}

void require_meant_flags(const HeaderReader& reader) {
  const std::uint32_t flags = reader.u32(kFlagsAt);
  const std::string found = std::to_string(flags);
  if ((flags & ~std::uint32_t{kSorted | kUnique | kPatternSymmetric | kValueSymmetric}) != 0) {
    reader.refuse(kFlagsAt, "no flags but 1, 2, 4 and 8", found, kUpdate);
  }
  if ((flags & kSorted) == 0 || (flags & kUnique) == 0) {
    reader.refuse(kFlagsAt, "the flags sorted (1) and unique (2)", found, kCreate);
  }
  if ((flags & kValueSymmetric) != 0 && (flags & kPatternSymmetric) == 0) {
    reader.refuse(kFlagsAt, "a value-symmetric matrix (8) to be pattern-symmetric (4) too",
                  "flags " + found, kCreate);
  }
}

/// The size that the header promises is that of the file.
void require_file_bytes(const HeaderReader& reader, std::uint64_t file_bytes) {
  const std::uint64_t promised = reader.u64(kFileBytesAt);
  if (promised > file_bytes) {
    reader.refuse(file_bytes, counted(promised, "byte"), "the end of the file",
                  "it was truncated or is still being copied, copy it again");
  }
  if (promised < file_bytes) {
    reader.refuse(promised, "the end of the file", counted(file_bytes - promised, "more byte"),
                  "something was appended, copy or create the file again");
  }
  if (file_bytes > kMaxFileBytes) {
    reader.refuse(kFileBytesAt, "at most 2^60 bytes", std::to_string(file_bytes), kCreate);
  }
}

/// The dimensions are possible, before anything is derived from them.
void require_dimensions(const HeaderReader& reader, std::uint64_t file_bytes) {
  const std::uint64_t rows = reader.u64(kRowsAt), cols = reader.u64(kColsAt),
                      nnz = reader.u64(kNnzAt);
  for (const auto& [at, what, found] :
       {std::tuple{kRowsAt, "rows", rows}, {kColsAt, "columns", cols}}) {
    if (found > static_cast<std::uint64_t>(kMaxIndex)) {
      reader.refuse(at, std::string("at most 2147483647 ") + what, std::to_string(found), kCreate);
    }
  }
  const std::string shape = std::to_string(rows) + " x " + std::to_string(cols);
  if ((reader.u32(kFlagsAt) & kPatternSymmetric) != 0 && rows != cols) {
    reader.refuse(kFlagsAt, "a symmetric matrix to be square", shape, kCreate);
  }
  // The file's true size stands against every number before anything is derived from it.
  require_file_bytes(reader, file_bytes);
  // 31-bit factors: the product fits.
  if (nnz > rows * cols || nnz > file_bytes / sizeof(Index)) {
    reader.refuse(
        kNnzAt,
        "at most as many entries as fit a " + shape + " matrix and " + counted(file_bytes, "byte"),
        std::to_string(nnz), kCreate);
  }
}

/// What no field of the header uses is 0.
void require_reserved_zeros(const HeaderReader& reader, std::size_t sections) {
  const std::uint64_t slots_end = kSectionsAt + sections * kSlotBytes;
  for (const auto& [from, to] :
       {std::pair<std::uint64_t, std::uint64_t>{kSectionCountAt + 8, kSectionsAt},
        {slots_end, kHeaderChecksumAt}}) {
    const unsigned char* stray = std::find_if(reader.bytes + from, reader.bytes + to,
                                              [](unsigned char c) { return c != 0; });
    if (stray != reader.bytes + to) {
      reader.refuse(static_cast<std::uint64_t>(stray - reader.bytes), "a reserved byte to be 0",
                    std::to_string(*stray), kUpdate);
    }
  }
}

}  // namespace

DecodedHeader decode_header(const unsigned char* bytes, std::uint64_t available,
                            std::uint64_t file_bytes, const std::string& path) {
  check_magic(bytes, available, file_bytes, path);
  const HeaderReader reader{bytes, path};
  // The version comes before the checksum: a newer header may be laid out in another way.
  require_known_version(reader);
  require_header_checksum(reader);
  require_known_encoding(reader);
  require_meant_flags(reader);
  require_dimensions(reader, file_bytes);
  reader.require(kChunkBytesAt, "a checksum chunk size of", kChunkBytes, reader.u64(kChunkBytesAt),
                 kUpdate);

  DecodedHeader decoded;
  CsrFileHeader& header = decoded.header;
  const std::uint32_t flags = reader.u32(kFlagsAt);
  header.version = kVersion;
  header.value_kind = static_cast<ValueKind>(reader.u32(kValueKindAt));
  header.rows = static_cast<Index>(reader.u64(kRowsAt));
  header.cols = static_cast<Index>(reader.u64(kColsAt));
  header.nnz = static_cast<Offset>(reader.u64(kNnzAt));
  header.flags.is_pattern_symmetric = (flags & kPatternSymmetric) != 0;
  header.flags.is_value_symmetric = (flags & kValueSymmetric) != 0;
  header.file_bytes = file_bytes;
  header.sections = decode_sections(reader, header);
  const CsrSection& last = header.sections.back();
  reader.require(kFileBytesAt, "a total size of", last.offset_bytes + last.size_bytes, file_bytes,
                 kCreate);
  require_reserved_zeros(reader, header.sections.size());
  decoded.table_checksum = reader.u64(kTableChecksumAt);
  return decoded;
}

}  // namespace csrkit::csr_layout
