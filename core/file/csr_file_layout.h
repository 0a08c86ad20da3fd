// The header of the .csr format, version 1, and where its sections lie: what reader and writer
// share. Internal to core/file/csr_file*.cpp; docs/csr_file_format.md is the same in words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/file/csr_file_header.h"

namespace csrkit::csr_layout {

inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kHeaderBytes = 4096;
inline constexpr std::uint64_t kAlignment = 4096;  // a page, so that mapped arrays are aligned
// Small enough to be validated while in a core's cache, big enough that a call per chunk costs
// nothing and the table stays below a 100,000th of the file.
inline constexpr std::uint64_t kChunkBytes = 1 << 20;
inline constexpr std::uint64_t kMaxProvenanceBytes = 16 << 20;
inline constexpr std::uint64_t kMaxFileBytes = 1ull << 60;  // keeps every sum below 2^64
inline constexpr std::array<unsigned char, 8> kMagic = {0x89, 'C',  'S',  'R',
                                                        '\r', '\n', 0x1a, '\n'};

/// Positions of header fields; integers are little-endian.
enum FieldOffset : std::uint64_t {
  kVersionAt = 8,
  kHeaderBytesAt = 12,
  kValueKindAt = 16,
  kIndexBytesAt = 20,
  kOffsetBytesAt = 24,
  kFlagsAt = 28,
  kRowsAt = 32,
  kColsAt = 40,
  kNnzAt = 48,
  kFileBytesAt = 56,
  kChunkBytesAt = 64,
  kTableChecksumAt = 72,
  kSectionCountAt = 80,
  kSectionsAt = 128,
  kHeaderChecksumAt = 4088,
};
inline constexpr int kSectionSlots = 16;
inline constexpr std::uint64_t kSlotBytes = 32;  // name[16], offset u64, size u64
inline constexpr std::uint64_t kSlotNameBytes = 16;

enum Flag : std::uint32_t { kSorted = 1, kUnique = 2, kPatternSymmetric = 4, kValueSymmetric = 8 };

inline constexpr const char* kRowOffsets = "row_offsets";
inline constexpr const char* kColIndices = "col_indices";
inline constexpr const char* kValues = "values";
inline constexpr const char* kRowOrder = "row_new_of_old";
inline constexpr const char* kColOrder = "col_new_of_old";
inline constexpr const char* kPartition = "partition";
inline constexpr const char* kPartBorders = "part_borders";
inline constexpr const char* kRankHeads = "rank_heads";
inline constexpr const char* kRankLists = "rank_lists";
inline constexpr const char* kSplitRows = "split_rows";
inline constexpr const char* kProvenance = "provenance";
inline constexpr const char* kChecksums = "checksums";

/// Which optional sections there are.
struct Extras {
  bool has_row_order = false;
  bool has_col_order = false;
  bool has_partition = false;
  std::uint64_t part_borders_bytes = 0;  // 0 = none
  std::uint64_t rank_heads_bytes = 0;    // 0 = neither heads nor lists
  std::uint64_t rank_lists_bytes = 0;    // 0 if no part has a halo
  std::uint64_t split_rows_bytes = 0;    // 0 = none
  std::uint64_t provenance_bytes = 0;    // 0 = none
};

inline std::uint64_t align_up(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Part borders are one number and one for each part, of which there are no more than rows.
inline bool is_part_borders_size(std::uint64_t bytes, std::uint64_t rows) {
  return bytes % sizeof(Offset) == 0 && bytes >= sizeof(Offset) &&
         bytes / sizeof(Offset) <= rows + 1;
}

/// Every section of such a file, in order. Sizes follow from the arguments alone, so a header that
/// says anything else is wrong. The arguments must be in range (nnz below kMaxFileBytes / 4).
std::vector<CsrSection> lay_out(ValueKind kind, Index rows, Index cols, Offset nnz,
                                const Extras& extras);

/// The section of that name, or null.
const CsrSection* find(const std::vector<CsrSection>& sections, const char* name);

/// XXH3-64 with seed 0.
std::uint64_t checksum_of(const void* data, std::uint64_t bytes);

std::array<unsigned char, kHeaderBytes> encode_header(const CsrFileHeader& header,
                                                      std::uint64_t table_checksum);

struct DecodedHeader {
  CsrFileHeader header;
  std::uint64_t table_checksum = 0;
};

/// Checks everything that can be known from the first `available` (at most kHeaderBytes) bytes and
/// the size of the file. Throws InputError.
DecodedHeader decode_header(const unsigned char* bytes, std::uint64_t available,
                            std::uint64_t file_bytes, const std::string& path);

/// Well-formed UTF-8 without NUL: position of the first byte that is not, or `bytes`.
std::uint64_t first_invalid_utf8(const char* text, std::uint64_t bytes);

}  // namespace csrkit::csr_layout
