// Reading .csr files: one pass over the bytes that fetches, hashes and validates each chunk while
// it is in a core's cache. core/file/csr_file_writer.cpp is the other direction.
#include "core/file/csr_file.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/input_file.h"
#include "core/base/lower_to.h"
#include "core/base/team_errors.h"
#include "core/file/csr_file_checks.h"
#include "core/file/file_memory.h"

namespace csrkit {

using namespace csr_layout;

namespace {

constexpr std::uint64_t kMapAbove = 64ull << 20;  // FileIo::automatic

/// One checksummed piece of the file.
struct Chunk {
  std::uint32_t section;
  std::uint64_t offset;
  std::uint64_t bytes;  // padding included
};

class Reader {
 public:
  Reader(const std::string& path, const CsrReadOptions& options)
      : path_(path), options_(options), file_(path), decoded_(read_header(file_)) {}

  CsrFile read() {
    const bool is_mapped = !options_.is_checked || options_.io == FileIo::mmap ||
                           (options_.io == FileIo::automatic && file_.size_bytes() > kMapAbove);
    memory_ = std::make_shared<FileMemory>(file_, 0, file_.size_bytes(), is_mapped);
    if (!options_.is_checked) return assemble();
    memory_->read_ahead();
    read_checksums();
    list_chunks();
    if (options_.digest != nullptr) begin_digest();
    // Offsets first: only sound offsets make it safe to follow them into the columns.
    const std::size_t offset_chunks = static_cast<std::size_t>(std::count_if(
        chunks_.begin(), chunks_.end(), [](const Chunk& c) { return c.section == 0; }));
    check_chunks(0, offset_chunks);
    check_offset_seams(offset_chunks);
    check_chunks(offset_chunks, chunks_.size());
    check_column_seams();
    if (options_.digest != nullptr) end_digest();
    return assemble();
  }

 private:
  const CsrFileHeader& header() const { return decoded_.header; }
  const Offset* row_offsets() const { return array<Offset>(*find(header().sections, kRowOffsets)); }
  const Index* col_indices() const { return array<Index>(*find(header().sections, kColIndices)); }
  template <class T>
  const T* array(const CsrSection& section) const {
    return reinterpret_cast<const T*>(memory_->at(section.offset_bytes));
  }

  void read_checksums() {
    const CsrSection& table = header().sections.back();
    memory_->fetch(file_, table.offset_bytes, table.size_bytes);
    checksums_ = array<std::uint64_t>(table);
    require_table_checksum(path_, decoded_, checksums_);
  }

  void list_chunks() {
    const std::vector<CsrSection>& sections = header().sections;
    for (std::uint32_t s = 0; s + 1 < sections.size(); ++s) {
      const std::uint64_t end = sections[s + 1].offset_bytes;
      for (std::uint64_t at = sections[s].offset_bytes; at < end; at += kChunkBytes) {
        chunks_.push_back({s, at, std::min(kChunkBytes, end - at)});
      }
    }
  }

  /// What stands before the first chunk and after the last one belongs to the file's digest, too.
  void begin_digest() {
    digest_.emplace();
    const std::uint64_t first = header().sections.front().offset_bytes;
    memory_->fetch(file_, 0, first);
    digest_->add(memory_->at(0), first);
  }
  void end_digest() {
    const std::uint64_t last = header().sections.back().offset_bytes;
    memory_->fetch(file_, last, file_.size_bytes() - last);
    digest_->add(memory_->at(last), file_.size_bytes() - last);
    *options_.digest = {path_, file_.size_bytes(), digest_->hex()};
  }

  /// Fetches, hashes and validates the chunks [begin, end), whatever their order. The digest of the
  /// file takes them in order, each while it is in the cache of the core that validated it.
  void check_chunks(std::size_t begin, std::size_t end) {
    std::atomic<std::size_t> first_damaged{end}, first_suspect{end};
    TeamErrors errors;
    const bool is_worth_threads = end - begin >= kThreadsFromChunks;
#pragma omp parallel for ordered schedule(dynamic, 1) if (is_worth_threads)
    for (std::size_t i = begin; i < end; ++i) {
      if (errors.has_error()) continue;
      errors.guard([&] {
        const Chunk& chunk = chunks_[i];
        memory_->fetch(file_, chunk.offset, chunk.bytes);
        if (checksum_of(memory_->at(chunk.offset), chunk.bytes) != checksums_[i]) {
          lower_to(first_damaged, i);
        } else if (!is_sound(chunk)) {
          lower_to(first_suspect, i);
        }
        done_bytes_ += chunk.bytes;
        if (options_.progress && omp_get_thread_num() == 0) {
          options_.progress("reading", done_bytes_, file_.size_bytes());
        }
      });
      if (digest_ && !errors.has_error()) {
#pragma omp ordered
        digest_->add(memory_->at(chunks_[i].offset), chunks_[i].bytes);
      }
    }
    errors.rethrow();
    if (first_damaged < end) {
      const Chunk& chunk = chunks_[first_damaged];
      const std::uint64_t found = checksum_of(memory_->at(chunk.offset), chunk.bytes);
      fail_checksum(path_, header().sections[chunk.section].name, chunk.offset,
                    chunk.offset + chunk.bytes, checksums_[first_damaged], found);
    }
    if (first_suspect < end) explain(chunks_[first_suspect]);
  }

  bool is_sound(const Chunk& chunk) const {
    const CsrSection& section = header().sections[chunk.section];
    const std::uint64_t section_end = section.offset_bytes + section.size_bytes;
    const std::uint64_t data_end = std::min(chunk.offset + chunk.bytes, section_end);
    for (std::uint64_t at = data_end; at < chunk.offset + chunk.bytes; ++at) {
      if (*memory_->at(at) != 0) return false;
    }
    if (data_end <= chunk.offset) return true;
    const std::uint64_t data_bytes = data_end - chunk.offset;
    if (section.name == kRowOffsets) return offsets_are_sound(chunk.offset, data_bytes);
    if (section.name == kColIndices) return columns_are_sound(chunk.offset, data_bytes);
    return true;
  }

  bool offsets_are_sound(std::uint64_t at, std::uint64_t bytes) const {
    const auto* offsets = reinterpret_cast<const Offset*>(memory_->at(at));
    const auto count = static_cast<Offset>(bytes / sizeof(Offset));
    std::uint32_t descents = 0;
    for (Offset i = 1; i < count; ++i) descents += offsets[i] < offsets[i - 1];
    return descents == 0;
  }

  /// Instead of walking short rows one by one: count the places in the chunk where a column does
  /// not exceed its predecessor, in one loop that compilers vectorise, then count those of them
  /// that are starts of rows. Equal counts mean that every row ascends.
  bool columns_are_sound(std::uint64_t at, std::uint64_t bytes) const {
    const Offset* offsets = row_offsets();
    const Index* cols = col_indices();
    const auto base = reinterpret_cast<const Index*>(memory_->at(at));
    const Offset first = base - cols, count = static_cast<Offset>(bytes / sizeof(Index));
    const auto last_col = static_cast<std::uint32_t>(header().cols - 1);
    std::uint32_t out_of_range =
        static_cast<std::uint32_t>(base[0]) | (last_col - static_cast<std::uint32_t>(base[0]));
    std::uint32_t descents = 0;
#pragma omp simd reduction(+ : descents) reduction(| : out_of_range)
    for (Offset i = 1; i < count; ++i) {
      const auto col = static_cast<std::uint32_t>(base[i]);
      out_of_range |= col | (last_col - col);  // the top bit: negative, or above last_col
      descents += base[i] <= base[i - 1];
    }
    if (out_of_range >> 31 != 0) return false;
    std::uint32_t descents_at_row_starts = 0;
    const Offset* row_end = offsets + header().rows + 1;
    for (const Offset* row = std::upper_bound(offsets, row_end, first);
         row < row_end && *row < first + count; ++row) {
      const bool is_empty_row_before = *row == row[-1];  // the same place, counted already
      descents_at_row_starts += !is_empty_row_before && cols[*row] <= cols[*row - 1];
    }
    return descents == descents_at_row_starts;
  }

  /// What no chunk can see alone: the ends of the offsets and neighbours in different chunks.
  void check_offset_seams(std::size_t offset_chunks) const {
    const Offset* offsets = row_offsets();
    const std::uint64_t base = header().sections[0].offset_bytes;
    if (offsets[0] != 0) {
      fail_at(path_, base,
              "expected row_offsets to start with 0, found " + std::to_string(offsets[0]) +
                  "; create the file again");
    }
    for (std::size_t i = 1; i < offset_chunks; ++i) {
      const auto row = static_cast<Offset>((chunks_[i].offset - base) / sizeof(Offset));
      if (row <= header().rows && offsets[row] < offsets[row - 1]) fail_offset(row);
    }
    if (offsets[header().rows] != header().nnz) {
      fail_at(path_, base + static_cast<std::uint64_t>(header().rows) * sizeof(Offset),
              "expected row_offsets to end with the " + counted(header().nnz, "entry") +
                  " of the header, found " + std::to_string(offsets[header().rows]) +
                  "; create the file again");
    }
  }

  void check_column_seams() const {
    const CsrSection& section = *find(header().sections, kColIndices);
    const Offset* offsets = row_offsets();
    for (const Chunk& chunk : chunks_) {
      if (header().sections[chunk.section].name != kColIndices) continue;
      const auto entry = static_cast<Offset>((chunk.offset - section.offset_bytes) / sizeof(Index));
      if (entry == 0 || entry >= header().nnz) continue;
      if (col_indices()[entry - 1] < col_indices()[entry]) continue;
      if (!std::binary_search(offsets, offsets + header().rows + 1, entry)) fail_column(entry);
    }
  }

  [[noreturn]] void fail_offset(Offset row) const {
    fail_at(
        path_, header().sections[0].offset_bytes + static_cast<std::uint64_t>(row) * sizeof(Offset),
        "expected row_offsets not to decrease, found " + std::to_string(row_offsets()[row - 1]) +
            " and then " + std::to_string(row_offsets()[row]) + " at the end of row " +
            std::to_string(row - 1) + "; create the file again");
  }

  [[noreturn]] void fail_column(Offset entry) const {
    const Offset* offsets = row_offsets();
    const Offset row = std::upper_bound(offsets, offsets + header().rows + 1, entry) - offsets - 1;
    const Index col = col_indices()[entry];
    const std::string found = ", found " + std::to_string(col);
    const std::string wanted =
        col < 0 || col >= header().cols
            ? "a column in [0, " + std::to_string(header().cols) + ")" + found
            : "columns that ascend without repetition" + found + " after " +
                  std::to_string(col_indices()[entry - 1]);
    fail_at(path_,
            find(header().sections, kColIndices)->offset_bytes +
                static_cast<std::uint64_t>(entry) * sizeof(Index),
            "row " + std::to_string(row) + ", entry " + std::to_string(entry) + ": expected " +
                wanted + "; create the file again");
  }

  /// Names the first fault of a chunk that did not pass; slow and exact.
  [[noreturn]] void explain(const Chunk& chunk) const {
    const CsrSection& section = header().sections[chunk.section];
    const std::uint64_t chunk_end = chunk.offset + chunk.bytes;
    const std::uint64_t data_end = std::min(chunk_end, section.offset_bytes + section.size_bytes);
    for (std::uint64_t at = std::max(data_end, chunk.offset); at < chunk_end; ++at) {
      if (*memory_->at(at) != 0) {
        fail_at(path_, at,
                "expected padding of 0 after section " + section.name + ", found " +
                    std::to_string(*memory_->at(at)) + "; create the file again");
      }
    }
    if (section.name == kRowOffsets) {
      const auto first =
          static_cast<Offset>((chunk.offset - section.offset_bytes) / sizeof(Offset));
      const auto last = static_cast<Offset>((data_end - section.offset_bytes) / sizeof(Offset));
      for (Offset row = first + 1; row < last; ++row) {
        if (row_offsets()[row] < row_offsets()[row - 1]) fail_offset(row);
      }
    }
    const auto first = static_cast<Offset>((chunk.offset - section.offset_bytes) / sizeof(Index));
    const auto last = static_cast<Offset>((data_end - section.offset_bytes) / sizeof(Index));
    const Offset* offsets = row_offsets();
    const Index* cols = col_indices();
    for (Offset entry = first; entry < last; ++entry) {
      const bool is_in_range = cols[entry] >= 0 && cols[entry] < header().cols;
      if (!is_in_range || (entry > first && cols[entry] <= cols[entry - 1] &&
                           !std::binary_search(offsets, offsets + header().rows + 1, entry))) {
        fail_column(entry);
      }
    }
    fail_at(path_, chunk.offset, "the file changed while it was read; try again");
  }

  CsrFile assemble() const {
    const std::vector<CsrSection>& sections = header().sections;
    const CsrSection* values = find(sections, kValues);
    CsrFile file;
    file.matrix =
        CsrMatrix(header().rows, header().cols, row_offsets(), col_indices(), header().value_kind,
                  values ? memory_->at(values->offset_bytes) : nullptr, memory_);
    file.flags = header().flags;
    const auto order = [&](const char* name) -> std::optional<Permutation> {
      const CsrSection* section = find(sections, name);
      if (section == nullptr) return std::nullopt;
      return order_in(path_, *section, array<Index>(*section));
    };
    file.row_order = order(kRowOrder);
    // Where both sides moved together one order serves both.
    file.col_order = has_one_order() ? file.row_order : order(kColOrder);
    if (const CsrSection* section = find(sections, kPartition)) read_partition(*section, &file);
    if (const CsrSection* section = find(sections, kPartBorders)) {
      read_part_borders(*section, &file);
    }
    if (const CsrSection* section = find(sections, kRankHeads)) read_ranks(*section, &file);
    if (const CsrSection* section = find(sections, kProvenance)) {
      const char* text = array<char>(*section);
      require_utf8(path_, *section, text);
      file.provenance.assign(text, section->size_bytes);
    }
    return file;
  }

  bool has_one_order() const {
    const CsrSection* rows = find(header().sections, kRowOrder);
    const CsrSection* cols = find(header().sections, kColOrder);
    return rows != nullptr && cols != nullptr && rows->size_bytes == cols->size_bytes &&
           std::memcmp(array<char>(*rows), array<char>(*cols), rows->size_bytes) == 0;
  }

  void read_partition(const CsrSection& section, CsrFile* file) const {
    const Index* numbers = array<Index>(section);
    file->partition = Partition{
        numbers[0],
        std::make_shared<const Buffer<Index>>(Buffer<Index>::copy_of(numbers + 1, header().rows))};
    for (Index row = -1; row < header().rows; ++row) {
      const bool is_good =
          row < 0 ? numbers[0] >= 0 : numbers[row + 1] >= 0 && numbers[row + 1] < numbers[0];
      if (is_good) continue;
      fail_at(path_, section.offset_bytes + (static_cast<std::uint64_t>(row + 1)) * sizeof(Index),
              (row < 0 ? std::string("expected a number of parts that is not negative")
                       : "row " + std::to_string(row) + ": expected a part in [0, " +
                             std::to_string(numbers[0]) + ")") +
                  ", found " + std::to_string(numbers[row + 1]) + "; create the file again");
    }
  }

  void read_ranks(const CsrSection& section, CsrFile* file) const {
    const std::vector<CsrSection>& sections = header().sections;
    const CsrSection& lists = *find(sections, kRankLists);
    rank_layout::StoredWords split;
    if (const CsrSection* words = find(sections, kSplitRows)) {
      split = {array<std::int64_t>(*words), words->size_bytes, {path_, words->offset_bytes}};
    }
    rank_layout::Heads heads = rank_layout::decode_heads(
        {array<std::int64_t>(section), section.size_bytes, {path_, section.offset_bytes}},
        header().rows, header().cols, header().nnz, lists.size_bytes, split);
    const unsigned char* list_bytes = memory_->at(lists.offset_bytes);
    if (options_.is_checked) {
      rank_layout::check_all_lists(heads.levels, list_bytes, {path_, lists.offset_bytes});
      rank_layout::check_split_rows(heads, file->matrix, split.place);
    }
    file->ranks.emplace(std::move(heads.levels), list_bytes, memory_, std::move(heads.split));
  }

  void read_part_borders(const CsrSection& section, CsrFile* file) const {
    const auto count = static_cast<Offset>(section.size_bytes / sizeof(Offset));
    if (!file->partition || count != Offset{file->partition->parts} + 1 ||
        header().rows != header().cols) {
      fail_at(path_, section.offset_bytes,
              "expected part borders only of a square matrix with a partition into " +
                  counted(count - 1, "part") + ", found " +
                  (file->partition ? std::to_string(file->partition->parts) : "no") +
                  " parts; create the file again");
    }
    const Offset* numbers = array<Offset>(section);
    for (Offset at = 0; at < count; ++at) {
      const Offset most = at == 0 ? header().nnz : Offset{header().cols};
      if (numbers[at] >= 0 && numbers[at] <= most) continue;
      fail_at(path_, section.offset_bytes + static_cast<std::uint64_t>(at) * sizeof(Offset),
              (at == 0 ? std::string("expected the cut")
                       : "expected the halo of part " + std::to_string(at - 1)) +
                  " to be in [0, " + std::to_string(most) + "], found " +
                  std::to_string(numbers[at]) + "; create the file again");
    }
    file->partition->borders =
        std::make_shared<const Buffer<Offset>>(Buffer<Offset>::copy_of(numbers, count));
  }

  const std::string& path_;
  const CsrReadOptions& options_;
  InputFile file_;
  DecodedHeader decoded_;
  std::shared_ptr<FileMemory> memory_;
  const std::uint64_t* checksums_ = nullptr;
  std::vector<Chunk> chunks_;
  std::optional<DigestStream> digest_;  // if asked for
  std::atomic<std::uint64_t> done_bytes_{kHeaderBytes};
};

}  // namespace

FileIo parse_file_io(const std::string& name) {
  if (name == "auto" || name == "automatic") return FileIo::automatic;
  if (name == "mmap") return FileIo::mmap;
  if (name == "read") return FileIo::read;
  throw UsageError("'" + name + "' is no way to read a file; use auto, mmap or read");
}

CsrFile read_csr_file(const std::string& path, const CsrReadOptions& options) {
  return Reader(path, options).read();
}

CsrFileHeader read_csr_header(const std::string& path) {
  return read_header(InputFile(path)).header;
}

bool is_csr_file(const std::string& path) {
  try {
    const InputFile file(path);
    if (file.size_bytes() < kMagic.size()) return false;
    std::array<unsigned char, kMagic.size()> start;
    file.read_at(0, start.data(), start.size());
    return start == kMagic;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace csrkit
