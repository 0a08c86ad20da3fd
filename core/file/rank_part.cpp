// Reading pieces of a .csr file: the history, the orders, the heads, of rows and lists what belongs
// to one part, or only some rows. Each chunk that covers any of these bytes is checked; damage
// elsewhere is other ranks' business.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/lower_to.h"
#include "core/base/team_errors.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_checks.h"
#include "core/file/csr_rows.h"
#include "core/file/file_memory.h"

namespace csrkit {

using namespace csr_layout;

namespace {

/// A file of which ranges are fetched and checked.
class RangeReader {
 public:
  explicit RangeReader(const std::string& path)
      : path_(path), file_(path), decoded_(read_header(file_)) {
    const CsrSection& table = header().sections.back();
    checksums_ = Buffer<std::uint64_t>(static_cast<Offset>(table.size_bytes / 8));
    file_.read_at(table.offset_bytes, checksums_.data(), table.size_bytes);
    require_table_checksum(path_, decoded_, checksums_.data());
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
    range.memory->read_ahead();
    const std::uint64_t* expected = checksums_.data() + first_chunk_of(section) + first;
    TeamErrors errors;
    std::atomic<std::uint64_t> first_damaged{last};
#pragma omp parallel for schedule(dynamic, 1) if (last - first >= kThreadsFromChunks)
    for (std::uint64_t chunk = first; chunk < last; ++chunk) {
      errors.guard([&] {
        const std::uint64_t at = section.offset_bytes + chunk * kChunkBytes;
        const std::uint64_t bytes = std::min(kChunkBytes, padded - chunk * kChunkBytes);
        range.memory->fetch(file_, at, bytes);
        if (checksum_of(range.memory->at(at), bytes) == expected[chunk - first]) return;
        lower_to(first_damaged, chunk);
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

  rank_layout::Heads heads() {
    if (find(header().sections, kRankHeads) == nullptr) return {};
    const CsrSection& heads = section(kRankHeads);
    const Range range = fetch(heads, 0, heads.size_bytes, false);
    rank_layout::StoredWords split;
    Range split_range;
    if (const CsrSection* words = find(header().sections, kSplitRows)) {
      split_range = fetch(*words, 0, words->size_bytes, false);
      split = {split_range.as<std::int64_t>(), words->size_bytes, {path_, words->offset_bytes}};
    }
    return rank_layout::decode_heads(
        {range.as<std::int64_t>(), heads.size_bytes, {path_, heads.offset_bytes}}, header().rows,
        header().cols, header().nnz, section(kRankLists).size_bytes, split);
  }

 private:
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
    const std::string wanted = std::to_string(parts);
    throw UsageError(
        "'" + path + "' holds " +
        (levels.empty()
             ? "no parts for ranks"
             : "parts for " + numbers_of_parts(levels) +
                   (levels.size() == 1 && levels[0].parts.size() == 1 ? " rank" : " ranks") +
                   ", not for " + wanted) +
        "; run csr-partition --method blocks --parts " + wanted);
  }
  if (part < 0 || part >= parts) {
    throw UsageError("parts are numbered from 0 to " + std::to_string(parts - 1) + ", not " +
                     std::to_string(part));
  }
  *at = static_cast<std::size_t>(level - levels.begin());
  return *level;
}

PartLists fetch_lists(RangeReader& reader, const std::string& path, const rank_layout::Heads& heads,
                      std::size_t at, Index part, bool is_mapped) {
  const PartLevel& level = heads.levels[at];
  const CsrSection& section = reader.section(kRankLists);
  const std::uint64_t begin = rank_layout::list_begin(heads.levels, at, part);
  const std::uint64_t bytes =
      rank_layout::record_bytes(level.parts[static_cast<std::size_t>(part)]);
  const auto range = reader.fetch(section, begin, begin + bytes, is_mapped);
  PartLists lists = rank_layout::decode_lists(level, part, range.as<unsigned char>(),
                                              {path, section.offset_bytes + begin});
  list_pieces(heads.split, level, part, &lists);
  return lists;
}

std::string fetch_provenance(RangeReader& reader, const std::string& path) {
  const CsrSection* section = find(reader.header().sections, kProvenance);
  if (section == nullptr) return "";
  const auto range = reader.fetch(*section, 0, section->size_bytes, false);
  const char* text = range.as<char>();
  require_utf8(path, *section, text);
  return {text, section->size_bytes};
}

/// Where the entries of rows begin and end.
struct EntryRange {
  Offset first, last;
};

/// The row offsets of rows whose entries lie within `limits`; `is_exact`: begin and end there.
RangeReader::Range fetch_offsets(RangeReader& reader, const std::string& path, Index begin,
                                 Index end, const EntryRange& limits, bool is_exact,
                                 bool is_mapped) {
  const CsrSection& section = reader.section(kRowOffsets);
  const auto row = static_cast<std::uint64_t>(begin);
  auto range = reader.fetch(section, row * sizeof(Offset),
                            (static_cast<std::uint64_t>(end) + 1) * sizeof(Offset), is_mapped);
  const auto* const row_offsets = range.as<Offset>();
  for (Index i = 0; i <= end - begin; ++i) {
    const Offset least = i == 0 ? limits.first : row_offsets[i - 1];
    const Offset most = i == 0 && is_exact ? limits.first : limits.last;
    if (row_offsets[i] < least || row_offsets[i] > most ||
        (is_exact && i == end - begin && row_offsets[i] != most)) {
      fail_at(path, section.offset_bytes + (row + static_cast<std::uint64_t>(i)) * sizeof(Offset),
              "expected row_offsets that lead from " + std::to_string(limits.first) + " to " +
                  std::to_string(limits.last) + " in the rows from " + std::to_string(begin) +
                  " to " + std::to_string(end) + ", found " + std::to_string(row_offsets[i]) +
                  "; create the file again");
    }
  }
  return range;
}

/// Entries as they stand in the file, and the memory that they are in.
struct FetchedEntries {
  RangeReader::Range columns, values;
  EntryRun run;
};

FetchedEntries fetch_entries(RangeReader& reader, Offset first, Offset last, bool is_mapped) {
  FetchedEntries fetched;
  const auto range_of = [&](const char* name, std::uint64_t width) {
    return reader.fetch(reader.section(name), static_cast<std::uint64_t>(first) * width,
                        static_cast<std::uint64_t>(last) * width, is_mapped);
  };
  fetched.columns = range_of(kColIndices, sizeof(Index));
  fetched.run.col_indices = fetched.columns.as<Index>();
  const ValueKind kind = reader.header().value_kind;
  if (kind != ValueKind::none) {
    fetched.values = range_of(kValues, static_cast<std::uint64_t>(size_of(kind)));
    fetched.run.values = fetched.values.as<unsigned char>();
  }
  return fetched;
}

}  // namespace

std::vector<PartLevel> read_rank_heads(const std::string& path) {
  return RangeReader(path).heads().levels;
}

std::string read_csr_provenance(const std::string& path) {
  RangeReader reader(path);
  return fetch_provenance(reader, path);
}

CsrFile read_csr_beside(const std::string& path) {
  RangeReader reader(path);
  const auto order = [&](const char* name) -> std::optional<Permutation> {
    const CsrSection* section = find(reader.header().sections, name);
    if (section == nullptr) return std::nullopt;
    const auto range = reader.fetch(*section, 0, section->size_bytes, false);
    return order_in(path, *section, range.as<Index>());
  };
  CsrFile beside;
  beside.row_order = order(kRowOrder);
  beside.col_order = order(kColOrder);
  beside.provenance = fetch_provenance(reader, path);
  return beside;
}

RankPart read_rank_part(const std::string& path, Index parts, Index part, FileIo io, int threads,
                        PartColumns columns) {
  RangeReader reader(path);
  const rank_layout::Heads heads = reader.heads();
  std::size_t at = 0;
  const PartLevel& level = find_level(heads.levels, path, parts, part, &at);
  const PartHead& head = level.parts[static_cast<std::size_t>(part)];
  const bool is_mapped = io != FileIo::read;

  PartLists lists = fetch_lists(reader, path, heads, at, part, is_mapped);
  const auto entries_of = [&](Index p) {
    return level.parts[static_cast<std::size_t>(p)].entries +
           entries_elsewhere(heads.split, level, p);
  };
  Offset first = 0;
  for (Index p = 0; p < part; ++p) first += entries_of(p);
  const auto offsets = fetch_offsets(reader, path, head.row_begin, head.row_end,
                                     {first, first + entries_of(part)}, true, is_mapped);
  FetchedEntries last_fetched;  // until the next are asked for
  const EntrySource entries = [&](Offset begin, Offset end) {
    return (last_fetched = fetch_entries(reader, begin, end, is_mapped)).run;
  };
  return gather_part(offsets.as<Offset>(), reader.header().value_kind, entries, std::move(lists),
                     reader.header().cols, path, threads, columns);
}

CsrMatrix read_csr_rows(const std::string& path, Index begin, Index end, FileIo io) {
  RangeReader reader(path);
  const CsrFileHeader& header = reader.header();
  if (begin < 0 || end < begin || end > header.rows) {
    throw UsageError("'" + path + "' has " + counted(header.rows, "row") + ", not those from " +
                     std::to_string(begin) + " to " + std::to_string(end));
  }
  const bool is_mapped = io != FileIo::read;
  const auto range = fetch_offsets(reader, path, begin, end, {0, header.nnz}, false, is_mapped);
  const auto* const stored = range.as<Offset>();
  auto fetched = std::make_shared<FetchedEntries>(
      fetch_entries(reader, stored[0], stored[end - begin], is_mapped));
  const Index rows = end - begin;
  auto offsets = std::make_shared<Buffer<Offset>>(Offset{rows} + 1);
  for (Index i = 0; i <= rows; ++i) {
    (*offsets)[i] = stored[i] - stored[0];
  }
  struct Owner {
    std::shared_ptr<FetchedEntries> fetched;
    std::shared_ptr<Buffer<Offset>> offsets;
  };
  CsrMatrix matrix(rows, header.cols, offsets->data(), fetched->run.col_indices, header.value_kind,
                   fetched->run.values, std::make_shared<Owner>(Owner{fetched, offsets}));
  validate(matrix, path + ", counted from row " + std::to_string(begin));
  return matrix;
}

StoredPart read_stored_part(const std::string& path, Index parts, Index part, FileIo io) {
  StoredPart stored;
  {
    RangeReader reader(path);
    const rank_layout::Heads heads = reader.heads();
    std::size_t at = 0;
    if (has_pieces(find_level(heads.levels, path, parts, part, &at))) {
      throw UsageError("'" + path +
                       "' splits rows among its parts, and whole rows are needed here; make parts "
                       "without csr-partition --split-hubs");
    }
    stored.lists = fetch_lists(reader, path, heads, at, part, io != FileIo::read);
  }
  const PartHead& head = stored.lists.head;
  stored.rows = read_csr_rows(path, head.row_begin, head.row_end, io);
  std::vector<bool> is_here(static_cast<std::size_t>(stored.rows.cols()), false);
  for (Index col = head.col_begin; col < head.col_end; ++col) {
    is_here[static_cast<std::size_t>(col)] = true;
  }
  for (const Index col : stored.lists.halo) is_here[static_cast<std::size_t>(col)] = true;
  for (Offset at = 0; at < stored.rows.nnz(); ++at) {
    const Index col = stored.rows.col_indices()[at];
    if (is_here[static_cast<std::size_t>(col)]) continue;
    throw InputError(path + ": part " + std::to_string(part) + " of " + std::to_string(parts) +
                     ": expected entries in its own columns or in its halo, found one in column " +
                     std::to_string(col) + "; run csr-partition again");
  }
  return stored;
}

Buffer<Offset> read_row_offsets(const std::string& path) {
  RangeReader reader(path);
  const CsrSection& section = reader.section(kRowOffsets);
  const auto range = reader.fetch(section, 0, section.size_bytes, true);
  const auto* const offsets = range.as<Offset>();
  const auto count = static_cast<Offset>(section.size_bytes / sizeof(Offset));
  for (Offset i = 0; i < count; ++i) {
    const Offset least = i == 0 ? 0 : offsets[i - 1];
    const Offset most = i == 0 ? 0 : reader.header().nnz;
    if (offsets[i] < least || offsets[i] > most || (i + 1 == count && offsets[i] != most)) {
      fail_at(path, section.offset_bytes + static_cast<std::uint64_t>(i) * sizeof(Offset),
              "expected row_offsets that ascend from 0 to " + std::to_string(reader.header().nnz) +
                  ", found " + std::to_string(offsets[i]) + "; create the file again");
    }
  }
  return Buffer<Offset>::copy_of(offsets, count);
}

}  // namespace csrkit
