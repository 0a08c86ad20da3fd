#include "core/file/csr_file_layout.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace csrkit::csr_layout {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the arrays of a .csr file are little-endian and are used in place");
static_assert(sizeof(Index) == 4 && sizeof(Offset) == 8);

namespace {

template <class Integer>
void put(unsigned char* header, std::uint64_t at, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    header[at + i] = static_cast<unsigned char>(value >> (8 * i));
  }
}

}  // namespace

std::vector<CsrSection> lay_out(ValueKind kind, Index rows, Index cols, Offset nnz,
                                const Extras& extras) {
  const auto row_count = static_cast<std::uint64_t>(rows),
             col_count = static_cast<std::uint64_t>(cols);
  const auto entries = static_cast<std::uint64_t>(nnz);
  std::vector<CsrSection> sections;
  std::uint64_t end = kHeaderBytes, chunks = 0;
  const auto add = [&](const char* name, std::uint64_t bytes) {
    sections.push_back({name, end, bytes});
    chunks += (align_up(bytes) + kChunkBytes - 1) / kChunkBytes;
    end += align_up(bytes);
  };
  add(kRowOffsets, (row_count + 1) * sizeof(Offset));
  add(kColIndices, entries * sizeof(Index));
  if (kind != ValueKind::none) add(kValues, entries * static_cast<std::uint64_t>(size_of(kind)));
  if (extras.has_row_order) add(kRowOrder, row_count * sizeof(Index));
  if (extras.has_col_order) add(kColOrder, col_count * sizeof(Index));
  if (extras.has_partition) add(kPartition, (row_count + 1) * sizeof(Index));
  if (extras.part_borders_bytes > 0) add(kPartBorders, extras.part_borders_bytes);
  if (extras.rank_heads_bytes > 0) {
    add(kRankHeads, extras.rank_heads_bytes);
    add(kRankLists, extras.rank_lists_bytes);
    if (extras.split_rows_bytes > 0) add(kSplitRows, extras.split_rows_bytes);
  }
  if (extras.provenance_bytes > 0) add(kProvenance, extras.provenance_bytes);
  sections.push_back({kChecksums, end, chunks * sizeof(std::uint64_t)});
  return sections;
}

const CsrSection* find(const std::vector<CsrSection>& sections, const char* name) {
  for (const CsrSection& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::uint64_t checksum_of(const void* data, std::uint64_t bytes) {
  return XXH3_64bits(data, bytes);
}

std::array<unsigned char, kHeaderBytes> encode_header(const CsrFileHeader& header,
                                                      std::uint64_t table_checksum) {
  std::array<unsigned char, kHeaderBytes> bytes{};
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  std::uint32_t flags = kSorted | kUnique;
  if (header.flags.is_pattern_symmetric) flags |= kPatternSymmetric;
  if (header.flags.is_value_symmetric) flags |= kValueSymmetric;
  put(bytes.data(), kVersionAt, kVersion);
  put(bytes.data(), kHeaderBytesAt, static_cast<std::uint32_t>(kHeaderBytes));
  put(bytes.data(), kValueKindAt, static_cast<std::uint32_t>(header.value_kind));
  put(bytes.data(), kIndexBytesAt, static_cast<std::uint32_t>(sizeof(Index)));
  put(bytes.data(), kOffsetBytesAt, static_cast<std::uint32_t>(sizeof(Offset)));
  put(bytes.data(), kFlagsAt, flags);
  put(bytes.data(), kRowsAt, static_cast<std::uint64_t>(header.rows));
  put(bytes.data(), kColsAt, static_cast<std::uint64_t>(header.cols));
  put(bytes.data(), kNnzAt, static_cast<std::uint64_t>(header.nnz));
  put(bytes.data(), kFileBytesAt, header.file_bytes);
  put(bytes.data(), kChunkBytesAt, kChunkBytes);
  put(bytes.data(), kTableChecksumAt, table_checksum);
  put(bytes.data(), kSectionCountAt, static_cast<std::uint64_t>(header.sections.size()));
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const CsrSection& section = header.sections[i];
    const std::uint64_t at = kSectionsAt + i * kSlotBytes;
    std::memcpy(bytes.data() + at, section.name.data(), section.name.size());
    put(bytes.data(), at + 16, section.offset_bytes);
    put(bytes.data(), at + 24, section.size_bytes);
  }
  put(bytes.data(), kHeaderChecksumAt, checksum_of(bytes.data(), kHeaderChecksumAt));
  return bytes;
}

std::uint64_t first_invalid_utf8(const char* text, std::uint64_t bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(text);
  std::uint64_t i = 0;
  while (i < bytes) {
    const unsigned char lead = at[i];
    const int length = lead < 0x80         ? 1
                       : (lead >> 5) == 6  ? 2
                       : (lead >> 4) == 14 ? 3
                       : (lead >> 3) == 30 ? 4
                                           : 0;
    if (lead == 0 || length == 0 || bytes - i < static_cast<std::uint64_t>(length)) return i;
    std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
    for (int k = 1; k < length; ++k) {
      if ((at[i + k] & 0xc0) != 0x80) return i;
      code = code << 6 | (at[i + k] & 0x3fu);
    }
    constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return i;
    i += static_cast<std::uint64_t>(length);
  }
  return bytes;
}

}  // namespace csrkit::csr_layout
