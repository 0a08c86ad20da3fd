// Reading one part of a .csr file: the heads, and of rows and lists what belongs to the part. Each
// chunk that covers any of these bytes is checked; damage elsewhere is other ranks' business.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/team_errors.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_layout.h"
#include "core/file/file_memory.h"

namespace csrkit {

using namespace csr_layout;

namespace {

/// A file of which ranges are fetched and checked.
class RangeReader {
 public:
  explicit RangeReader(const std::string& path) : path_(path), file_(path) {
    std::array<unsigned char, kHeaderBytes> bytes;
    const std::uint64_t available = std::min(file_.size_bytes(), kHeaderBytes);
    file_.read_at(0, bytes.data(), available);
    decoded_ = decode_header(bytes.data(), available, file_.size_bytes(), path_);
    read_checksums();
  }

  const CsrFileHeader& header() const { return decoded_.header; }
  const CsrSection& section(const char* name) const { return *find(header().sections, name); }

  /// The bytes [begin, end) of a section, inside the memory that holds them. The range is widened
  /// to whole chunks, whose checksums are compared.
  struct Range {
    std::shared_ptr<FileMemory> memory;
    std::uint64_t offset = 0;
    template <class T>
    const T* as() const {
      return reinterpret_cast<const T*>(memory->at(offset));
    }
  };
  Range fetch(const CsrSection& section, std::uint64_t begin, std::uint64_t end, bool is_mapped) {
    Range range;
    range.offset = section.offset_bytes + begin;
    const std::uint64_t padded = align_up(section.size_bytes);
    const std::uint64_t first = begin / kChunkBytes;
    const std::uint64_t last = end == begin ? first : (end + kChunkBytes - 1) / kChunkBytes;
    range.memory = std::make_shared<FileMemory>(
        file_, section.offset_bytes + first * kChunkBytes,
        section.offset_bytes + std::min(last * kChunkBytes, padded), is_mapped);
    const std::uint64_t* expected = checksums_.data() + first_chunk_of(section) + first;
    TeamErrors errors;
    std::atomic<std::uint64_t> first_damaged{last};
#pragma omp parallel for schedule(dynamic, 1) if (last - first >= 8)
    for (std::uint64_t chunk = first; chunk < last; ++chunk) {
      errors.guard([&] {
        const std::uint64_t at = section.offset_bytes + chunk * kChunkBytes;
        const std::uint64_t bytes = std::min(kChunkBytes, padded - chunk * kChunkBytes);
        range.memory->fetch(file_, at, bytes);
        if (checksum_of(range.memory->at(at), bytes) == expected[chunk - first]) return;
        std::uint64_t seen = first_damaged;
        while (chunk < seen && !first_damaged.compare_exchange_weak(seen, chunk)) {
        }
      });
    }
    errors.rethrow();
    if (first_damaged < last) {
      const std::uint64_t at = section.offset_bytes + first_damaged * kChunkBytes;
      const std::uint64_t bytes = std::min(kChunkBytes, padded - first_damaged * kChunkBytes);
      fail_checksum(path_, section.name, at, at + bytes, expected[first_damaged - first],
                    checksum_of(range.memory->at(at), bytes));
    }
    return range;
  }

  std::vector<PartLevel> levels() {
    if (find(header().sections, kRankHeads) == nullptr) return {};
    const CsrSection& heads = section(kRankHeads);
    const Range range = fetch(heads, 0, heads.size_bytes, false);
    return rank_layout::decode_heads(range.as<std::int64_t>(), heads.size_bytes, header().rows,
                                     header().cols, header().nnz, section(kRankLists).size_bytes,
                                     {path_, heads.offset_bytes});
  }

 private:
  void read_checksums() {
    const CsrSection& table = header().sections.back();
    checksums_ = Buffer<std::uint64_t>(static_cast<Offset>(table.size_bytes / 8));
    file_.read_at(table.offset_bytes, checksums_.data(), table.size_bytes);
    const std::uint64_t found = checksum_of(checksums_.data(), table.size_bytes);
    if (found == decoded_.table_checksum) return;
    fail_at(path_, table.offset_bytes,
            "expected section checksums with checksum " + hex_word(decoded_.table_checksum) +
                ", found " + hex_word(found) + "; the file is damaged, copy or create it again");
  }

  std::uint64_t first_chunk_of(const CsrSection& wanted) const {
    std::uint64_t chunks = 0;
    for (const CsrSection& section : header().sections) {
      if (section.name == wanted.name) break;
      chunks += (align_up(section.size_bytes) + kChunkBytes - 1) / kChunkBytes;
    }
    return chunks;
  }

  const std::string& path_;
  InputFile file_;
  DecodedHeader decoded_;
  Buffer<std::uint64_t> checksums_;
};

std::string numbers_of_parts(const std::vector<PartLevel>& levels) {
  std::string text;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (l > 0) text += l + 1 == levels.size() ? " and " : ", ";
    text += std::to_string(levels[l].parts.size());
  }
  return text;
}

const PartLevel& find_level(const std::vector<PartLevel>& levels, const std::string& path,
                            Index parts, Index part, std::size_t* at) {
  const auto level = std::find_if(levels.begin(), levels.end(), [&](const PartLevel& candidate) {
    return candidate.parts.size() == static_cast<std::size_t>(parts);
  });
  if (level == levels.end()) {
    throw UsageError("'" + path + "' holds " +
                     (levels.empty() ? std::string("no parts for ranks")
                                     : "parts for " + numbers_of_parts(levels) + " ranks") +
                     ", not for " + std::to_string(parts) + "; run csr-partition --parts " +
                     std::to_string(parts));
  }
  if (part < 0 || part >= parts) {
    throw UsageError("parts are numbered from 0 to " + std::to_string(parts - 1) + ", not " +
                     std::to_string(part));
  }
  *at = static_cast<std::size_t>(level - levels.begin());
  return *level;
}

}  // namespace

std::vector<PartLevel> read_rank_heads(const std::string& path) {
  return RangeReader(path).levels();
}

RankPart read_rank_part(const std::string& path, Index parts, Index part, FileIo io, int threads) {
  RangeReader reader(path);
  const std::vector<PartLevel> levels = reader.levels();
  std::size_t at = 0;
  const PartLevel& level = find_level(levels, path, parts, part, &at);
  const PartHead& head = level.parts[static_cast<std::size_t>(part)];
  const bool is_mapped = io != FileIo::read;

  const CsrSection& lists_section = reader.section(kRankLists);
  const std::uint64_t list_begin = rank_layout::list_begin(levels, at, part);
  PartLists lists;
  {
    const auto range = reader.fetch(lists_section, list_begin,
                                    list_begin + rank_layout::record_bytes(head), is_mapped);
    lists = rank_layout::decode_lists(level, part, range.as<unsigned char>(),
                                      {path, lists_section.offset_bytes + list_begin});
  }

  const CsrSection& offsets_section = reader.section(kRowOffsets);
  const auto row = static_cast<std::uint64_t>(head.row_begin);
  const auto offsets =
      reader.fetch(offsets_section, row * sizeof(Offset),
                   (static_cast<std::uint64_t>(head.row_end) + 1) * sizeof(Offset), is_mapped);
  Offset first = 0;
  for (Index p = 0; p < part; ++p) first += level.parts[static_cast<std::size_t>(p)].entries;
  const Offset* row_offsets = offsets.as<Offset>();
  for (Index i = 0; i <= head.rows(); ++i) {
    const Offset least = i == 0 ? first : row_offsets[i - 1];
    const Offset most = i == 0 ? first : first + head.entries;
    if (row_offsets[i] < least || row_offsets[i] > most ||
        (i == head.rows() && row_offsets[i] != most)) {
      fail_at(path,
              offsets_section.offset_bytes + (row + static_cast<std::uint64_t>(i)) * sizeof(Offset),
              "expected row_offsets that lead from " + std::to_string(first) + " to " +
                  std::to_string(first + head.entries) + " in part " + std::to_string(part) +
                  " of " + std::to_string(parts) + ", found " + std::to_string(row_offsets[i]) +
                  "; create the file again");
    }
  }

  const auto entries_of = [&](const char* name, std::uint64_t width) {
    return reader.fetch(reader.section(name), static_cast<std::uint64_t>(first) * width,
                        static_cast<std::uint64_t>(first + head.entries) * width, is_mapped);
  };
  const CsrFileHeader& header = reader.header();
  const auto columns = entries_of(kColIndices, sizeof(Index));
  PartRows rows;
  rows.row_offsets = row_offsets;
  rows.col_indices = columns.as<Index>();
  rows.kind = header.value_kind;
  RangeReader::Range values;
  if (rows.kind != ValueKind::none) {
    values = entries_of(kValues, static_cast<std::uint64_t>(size_of(rows.kind)));
    rows.values = values.as<unsigned char>();
  }
  return split_part(rows, std::move(lists), header.cols, path, threads);
}

}  // namespace csrkit
