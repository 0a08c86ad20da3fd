// Small matrices, .csr files made wrong on purpose, and folders to put them in: what the tests of
// the file format share.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_layout.h"

namespace csrkit {

/// A folder of its own that is removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "csrkit_test.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw IoError("no folder for temporary files");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

 private:
  std::string path_;
};

inline std::string load_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

inline void save_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.good()) << path;
}

template <class T>
Buffer<T> buffer_of(const std::vector<T>& values) {
  return Buffer<T>::copy_of(values.data(), static_cast<Offset>(values.size()));
}

inline CsrMatrix make_csr(Index rows, Index cols, const std::vector<Offset>& row_offsets,
                          const std::vector<Index>& col_indices, const std::vector<double>& values,
                          ValueKind kind) {
  const CsrMatrix exact(rows, cols, buffer_of(row_offsets), buffer_of(col_indices),
                        ValueArray::from(buffer_of(values)));
  return convert_values(exact, kind);
}

/// 5 x 7 with an empty row, and values that each kind holds exactly: a negative zero, an infinity
/// and a NaN among them.
inline CsrMatrix five_by_seven(ValueKind kind) {
  return make_csr(5, 7, {0, 3, 3, 5, 6, 10}, {0, 2, 6, 1, 3, 5, 0, 1, 4, 6},
                  {1.5, -2, 0.25, 3, -0.5, 1024, -0.0, std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::quiet_NaN(), 96},
                  kind);
}

/// `per_row` distinct random columns in every third row or so; values without meaning.
inline CsrMatrix random_csr(Index rows, Index cols, Index per_row, ValueKind kind,
                            std::uint64_t seed = 1) {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<double> values;
  for (Index row = 0; row < rows; ++row) {
    RandomStream stream(seed, static_cast<std::uint64_t>(row));
    std::set<Index> chosen;
    for (Index i = stream.below(3) == 0 ? 0 : per_row; i > 0 && cols > 0; --i) {
      chosen.insert(static_cast<Index>(stream.below(static_cast<std::uint64_t>(cols))));
    }
    for (const Index col : chosen) {
      columns.push_back(col);
      values.push_back(random_value(seed, row, col));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return make_csr(rows, cols, offsets, columns, values, kind);
}

/// The same matrix with every optional section.
inline CsrFile with_all_sections(CsrMatrix matrix) {
  CsrFile file;
  const Index rows = matrix.rows(), cols = matrix.cols();
  Buffer<Index> row_order(rows), col_order(cols), parts(rows);
  for (Index i = 0; i < rows; ++i) row_order[i] = (i + 2) % rows;
  for (Index j = 0; j < cols; ++j) col_order[j] = cols - 1 - j;
  for (Index i = 0; i < rows; ++i) parts[i] = i % 3;
  file.matrix = std::move(matrix);
  file.row_order = Permutation::from_new_of_old(std::move(row_order));
  file.col_order = Permutation::from_new_of_old(std::move(col_order));
  file.partition = Partition{3, std::make_shared<const Buffer<Index>>(std::move(parts))};
  file.provenance = R"({"steps":[{"tool":"csr-import","details":{"name":"größer"}}]})";
  return file;
}

inline CsrFile just(CsrMatrix matrix) {
  CsrFile file;
  file.matrix = std::move(matrix);
  return file;
}

inline void expect_same(const CsrFile& a, const CsrFile& b) {
  EXPECT_TRUE(identical(a.matrix, b.matrix));
  EXPECT_EQ(a.flags.is_pattern_symmetric, b.flags.is_pattern_symmetric);
  EXPECT_EQ(a.flags.is_value_symmetric, b.flags.is_value_symmetric);
  EXPECT_EQ(a.provenance, b.provenance);
  const auto expect_same_order = [](const std::optional<Permutation>& x,
                                    const std::optional<Permutation>& y) {
    ASSERT_EQ(x.has_value(), y.has_value());
    if (!x) return;
    ASSERT_EQ(x->size(), y->size());
    for (Index i = 0; i < x->size(); ++i) EXPECT_EQ(x->new_of_old()[i], y->new_of_old()[i]);
  };
  expect_same_order(a.row_order, b.row_order);
  expect_same_order(a.col_order, b.col_order);
  ASSERT_EQ(a.ranks.has_value(), b.ranks.has_value());
  if (a.ranks) {
    EXPECT_EQ(a.ranks->head_words(), b.ranks->head_words());
    ASSERT_EQ(a.ranks->list_bytes(), b.ranks->list_bytes());
    EXPECT_TRUE(a.ranks->list_bytes() == 0 ||
                std::memcmp(a.ranks->list_data(), b.ranks->list_data(), a.ranks->list_bytes()) ==
                    0);
  }
  ASSERT_EQ(a.partition.has_value(), b.partition.has_value());
  if (!a.partition) return;
  EXPECT_EQ(a.partition->parts, b.partition->parts);
  ASSERT_EQ(a.partition->part_of_row->size(), b.partition->part_of_row->size());
  for (Offset i = 0; i < a.partition->part_of_row->size(); ++i) {
    EXPECT_EQ((*a.partition->part_of_row)[i], (*b.partition->part_of_row)[i]);
  }
}

/// The files in tests/data/golden: written once, readable for ever.
inline std::vector<std::pair<std::string, CsrFile>> golden_files() {
  std::vector<std::pair<std::string, CsrFile>> files;
  for (const ValueKind kind :
       {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    files.emplace_back(std::string("five_by_seven_") + name_of(kind) + ".csr",
                       just(five_by_seven(kind)));
  }
  files.emplace_back("all_sections_f32.csr", with_all_sections(five_by_seven(ValueKind::f32)));
  CsrFile symmetric =
      just(make_csr(3, 3, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {2, -1, 2, -1, 2}, ValueKind::f64));
  symmetric.flags.is_pattern_symmetric = symmetric.flags.is_value_symmetric = true;
  files.emplace_back("symmetric_3x3_f64.csr", symmetric);
  files.emplace_back("empty_0x0_none.csr", just(make_csr(0, 0, {0}, {}, {}, ValueKind::none)));
  files.emplace_back("empty_0x9_f32.csr", just(make_csr(0, 9, {0}, {}, {}, ValueKind::f32)));
  files.emplace_back("empty_3x0_f16.csr",
                     just(make_csr(3, 0, {0, 0, 0, 0}, {}, {}, ValueKind::f16)));
  CsrFile ranked = just(five_by_seven(ValueKind::f32));
  ranked.ranks = RankSections::of(ranked.matrix, {PartBorders{{0, 3, 5}, {0, 4, 7}},
                                                  PartBorders{{0, 1, 3, 4, 5}, {0, 2, 4, 4, 7}}});
  files.emplace_back("rank_parts_f32.csr", std::move(ranked));
  CsrFile split = just(five_by_seven(ValueKind::f32));
  split.ranks = RankSections::of(
      split.matrix,
      {PartBorders{{0, 3, 5}, {0, 4, 7}}, PartBorders{{0, 1, 3, 4, 5}, {0, 2, 4, 4, 7}}}, 0, {},
      {0, 3});
  files.emplace_back("split_rows_f32.csr", std::move(split));
  return files;
}

template <class Integer>
void poke(std::string& bytes, std::uint64_t at, Integer value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline void sign_header(std::string& bytes) {
  poke(bytes, csr_layout::kHeaderChecksumAt,
       csr_layout::checksum_of(bytes.data(), csr_layout::kHeaderChecksumAt));
}

/// Makes all checksums right again after a change to a file of these sections.
inline void sign(std::string& bytes, const std::vector<CsrSection>& sections) {
  const CsrSection& table = sections.back();
  std::uint64_t to = table.offset_bytes;
  for (std::size_t s = 0; s + 1 < sections.size(); ++s) {
    const std::uint64_t end = sections[s + 1].offset_bytes;
    for (std::uint64_t at = sections[s].offset_bytes; at < end; at += csr_layout::kChunkBytes) {
      const std::uint64_t size = std::min(csr_layout::kChunkBytes, end - at);
      poke(bytes, to, csr_layout::checksum_of(bytes.data() + at, size));
      to += 8;
    }
  }
  poke(bytes, csr_layout::kTableChecksumAt,
       csr_layout::checksum_of(bytes.data() + table.offset_bytes, table.size_bytes));
  sign_header(bytes);
}

/// One thing wrong with an otherwise right file, and what the message must say about it.
struct Fault {
  const char* name;
  const char* message;
  std::function<void(std::string&, const std::vector<CsrSection>&)> inflict;
  enum Signing { kUnsigned, kHeader, kAll } signing = kHeader;
};

/// Faults in a file that holds `with_all_sections(five_by_seven(f32))`.
inline std::vector<Fault> faults() {
  using namespace csr_layout;
  using Sections = std::vector<CsrSection>;
  const auto header32 = [](std::uint64_t at, std::uint32_t value) {
    return [=](std::string& bytes, const Sections&) { poke(bytes, at, value); };
  };
  const auto header64 = [](std::uint64_t at, std::uint64_t value) {
    return [=](std::string& bytes, const Sections&) { poke(bytes, at, value); };
  };
  const auto slot = [](int index, std::uint64_t field, std::uint64_t value) {
    return [=](std::string& bytes, const Sections&) {
      poke(bytes, kSectionsAt + static_cast<std::uint64_t>(index) * kSlotBytes + field, value);
    };
  };
  const auto start = [](const std::string& text) {
    return [=](std::string& bytes, const Sections&) { bytes.replace(0, text.size(), text); };
  };
  const auto offset = [](std::uint64_t row, Offset value) {
    return [=](std::string& bytes, const Sections& s) {
      poke(bytes, find(s, kRowOffsets)->offset_bytes + 8 * row, value);
    };
  };
  const auto index = [](const char* section, std::uint64_t i, Index value) {
    return [=](std::string& bytes, const Sections& s) {
      poke(bytes, find(s, section)->offset_bytes + 4 * i, value);
    };
  };
  const auto byte = [](const char* section, std::uint64_t i, char value) {
    return [=](std::string& bytes, const Sections& s) {
      bytes[find(s, section)->offset_bytes + i] = value;
    };
  };
  const auto resize = [](std::int64_t change) {
    return [=](std::string& bytes, const Sections&) {
      bytes.resize(static_cast<std::size_t>(static_cast<std::int64_t>(bytes.size()) + change),
                   '\0');
    };
  };
  return {
      {"empty_file", "empty file", [](std::string& bytes, const Sections&) { bytes.clear(); },
       Fault::kUnsigned},
      {"magic_only", "truncated", [](std::string& bytes, const Sections&) { bytes.resize(8); },
       Fault::kUnsigned},
      {"half_a_header", "truncated",
       [](std::string& bytes, const Sections&) { bytes.resize(2048); }, Fault::kUnsigned},
      {"truncated_by_one_byte", "truncated", resize(-1), Fault::kUnsigned},
      {"one_byte_appended", "appended", resize(1), Fault::kUnsigned},
      {"is_gzip", "gzip", start("\x1f\x8b\x08"), Fault::kUnsigned},
      {"is_zstandard", "Zstandard", start("\x28\xb5\x2f\xfd"), Fault::kUnsigned},
      {"is_zip", "zip", start("PK\x03\x04"), Fault::kUnsigned},
      {"is_npy", ".npy", start("\x93NUMPY"), Fault::kUnsigned},
      {"is_matrix_market", "Matrix Market", start("%%MatrixMarket matrix"), Fault::kUnsigned},
      {"is_text", "found text", [](std::string& bytes, const Sections&) { bytes = "1 2\n3 4\n"; },
       Fault::kUnsigned},
      {"is_something_else", "found bytes 7f 45",
       start("\x7f"
             "ELF"),
       Fault::kUnsigned},
      {"line_endings_lost_cr", "line endings",
       start("\x89"
             "CSR\n\x1a\n"),
       Fault::kUnsigned},
      {"line_endings_gained_cr", "line endings",
       start("\x89"
             "CSR\r\r\n\x1a"),
       Fault::kUnsigned},
      {"eighth_bit_lost", "eighth bits",
       start("\x09"
             "CSR"),
       Fault::kUnsigned},
      {"version_2", "newer csrkit", header32(kVersionAt, 2)},
      {"version_0", "format version 1", header32(kVersionAt, 0)},
      {"big_endian", "big-endian", header32(kVersionAt, 0x01000000)},
      {"header_checksum", "header checksum", header64(kRowsAt, 4), Fault::kUnsigned},
      {"header_size_8192", "header size", header32(kHeaderBytesAt, 8192)},
      {"value_kind_5", "value kind", header32(kValueKindAt, 5)},
      {"index_width_8", "column indices", header32(kIndexBytesAt, 8)},
      {"offset_width_4", "row offsets", header32(kOffsetBytesAt, 4)},
      {"flag_unknown", "flags", header32(kFlagsAt, 3 | 16)},
      {"flag_not_sorted", "sorted", header32(kFlagsAt, 2)},
      {"flag_not_unique", "unique", header32(kFlagsAt, 1)},
      {"flag_value_symmetric_only", "pattern-symmetric", header32(kFlagsAt, 3 | 8)},
      {"flag_symmetric_rectangle", "square", header32(kFlagsAt, 3 | 4)},
      {"rows_2_to_31", "rows", header64(kRowsAt, 1ull << 31)},
      {"rows_largest", "expected section row_offsets", header64(kRowsAt, (1ull << 31) - 1)},
      {"rows_one_less", "expected", header64(kRowsAt, 4)},
      {"cols_2_to_63", "columns", header64(kColsAt, 1ull << 63)},
      {"nnz_2_to_60", "entries", header64(kNnzAt, 1ull << 60)},
      {"nnz_2_to_64_minus_1", "entries", header64(kNnzAt, ~0ull)},
      {"nnz_above_rows_times_cols", "entries", header64(kNnzAt, 36)},
      {"nnz_one_less", "expected section col_indices", header64(kNnzAt, 9)},
      {"file_size_larger", "truncated", header64(kFileBytesAt, 1ull << 60)},
      {"file_size_smaller", "appended", header64(kFileBytesAt, 4096)},
      {"chunk_size_zero", "chunk size", header64(kChunkBytesAt, 0)},
      {"chunk_size_other", "chunk size", header64(kChunkBytesAt, 4 << 20)},
      {"section_count_zero", "sections", header64(kSectionCountAt, 0)},
      {"section_count_17", "sections", header64(kSectionCountAt, 17)},
      {"section_count_2_to_60", "sections", header64(kSectionCountAt, 1ull << 60)},
      {"section_count_one_less", "sections", header64(kSectionCountAt, 7)},
      {"section_unknown", "'mystery'", slot(6, 0, 0x79726574'73796dull)},
      {"section_not_printable", "'????????ce'", slot(6, 0, 0x7f7f7f7f'7f7f7f7full)},
      {"section_twice", "expected section col_indices",
       [](std::string& bytes, const Sections&) {
         bytes.replace(kSectionsAt + kSlotBytes, 12, std::string("row_offsets\0", 12));
       }},
      {"section_offset_shifted", "from byte", slot(1, 16, 4096)},
      {"section_offset_huge", "from byte", slot(2, 16, ~0ull - 7)},
      {"section_size_huge", "bytes from byte", slot(2, 24, 1ull << 60)},
      {"provenance_size_zero", "provenance of", slot(6, 24, 0)},
      {"provenance_size_huge", "provenance of", slot(6, 24, 1ull << 60)},
      {"checksums_size", "checksums", slot(7, 24, 16)},
      {"reserved_before_sections", "reserved", header32(100, 1)},
      {"reserved_after_sections", "reserved", header32(4000, 1)},
      {"reserved_slot", "reserved", slot(8, 16, 4096)},
      {"table_checksum", "section checksums", header64(kTableChecksumAt, 1)},
      {"checksum_of_values", "byte 12288: expected the bytes up to 16384, in section values",
       byte(kValues, 0, 1), Fault::kUnsigned},
      {"checksum_of_padding", "section row_offsets", byte(kRowOffsets, 4000, 1), Fault::kUnsigned},
      {"padding_not_zero", "padding", byte(kRowOffsets, 4000, 1), Fault::kAll},
      {"padding_of_values_not_zero", "padding", byte(kValues, 40, 1), Fault::kAll},
      {"offsets_start_with_1", "start with 0", offset(0, 1), Fault::kAll},
      {"offsets_decrease",
       "byte 4120: expected row_offsets not to decrease, found 3 and then 2 at the end of row 2",
       offset(3, 2), Fault::kAll},
      {"offsets_negative", "not to decrease", offset(2, -5), Fault::kAll},
      {"offsets_end_too_low", "end with", offset(5, 9), Fault::kAll},
      {"offsets_beyond_nnz", "end with", offset(5, 1ll << 40), Fault::kAll},
      {"offsets_jump_and_return", "not to decrease", offset(4, 1ll << 40), Fault::kAll},
      {"column_negative", "row 4, entry 6: expected a column in [0, 7), found -1",
       index(kColIndices, 6, -1), Fault::kAll},
      {"column_too_large", "byte 8200: row 0, entry 2: expected a column in [0, 7), found 7",
       index(kColIndices, 2, 7), Fault::kAll},
      {"column_smallest", "found -2147483648",
       index(kColIndices, 0, std::numeric_limits<Index>::min()), Fault::kAll},
      {"column_twice", "found 0 after 0", index(kColIndices, 7, 0), Fault::kAll},
      {"columns_unsorted", "row 2, entry 4: expected columns that ascend", index(kColIndices, 3, 4),
       Fault::kAll},
      {"row_order_twice", "row_new_of_old", index(kRowOrder, 0, 0), Fault::kAll},
      {"row_order_out_of_range", "row_new_of_old", index(kRowOrder, 4, 5), Fault::kAll},
      {"col_order_negative", "col_new_of_old", index(kColOrder, 4, -1), Fault::kAll},
      {"partition_parts_negative", "parts", index(kPartition, 0, -3), Fault::kAll},
      {"partition_part_too_large", "row 1: expected a part in [0, 3), found 3",
       index(kPartition, 2, 3), Fault::kAll},
      {"provenance_not_utf8", "UTF-8", byte(kProvenance, 3, '\xff'), Fault::kAll},
      {"provenance_with_nul", "UTF-8", byte(kProvenance, 3, '\0'), Fault::kAll},
  };
}

inline std::string faulty_bytes(const Fault& fault, std::string bytes,
                                const std::vector<CsrSection>& sections) {
  fault.inflict(bytes, sections);
  if (fault.signing == Fault::kHeader) sign_header(bytes);
  if (fault.signing == Fault::kAll) sign(bytes, sections);
  return bytes;
}

/// The message of the InputError that reading must end with.
inline std::string refusal_of(const std::string& path, FileIo io) {
  try {
    read_csr_file(path, {io, {}});
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << path << " was not refused";
  return {};
}

}  // namespace csrkit
