#include "preprocess/import/source/byte_source.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "preprocess/import/source/line_reader.h"
#include "tests/unit/preprocess/import/scratch_file.h"
#include "tests/unit/preprocess/import/source/memory_source.h"

namespace csrkit {
namespace {

using Member = std::pair<std::string, std::string>;

/// Writes members with libarchive; `setup` chooses format and filter.
void write_archive(const std::string& path, const std::vector<Member>& members,
                   const std::function<void(archive*)>& setup) {
  archive* handle = archive_write_new();
  setup(handle);
  ASSERT_EQ(archive_write_open_filename(handle, path.c_str()), ARCHIVE_OK)
      << archive_error_string(handle);
  for (const auto& [name, content] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    ASSERT_EQ(archive_write_header(handle, entry), ARCHIVE_OK);
    archive_write_data(handle, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(handle);
  archive_write_free(handle);
}

const std::vector<std::function<int(archive*)>> kFilters = {
    archive_write_add_filter_gzip, archive_write_add_filter_zstd, archive_write_add_filter_bzip2,
    archive_write_add_filter_xz};

std::string all_of(ByteSource& source) {
  std::string bytes;
  char piece[4096];
  while (const std::size_t count = source.read(piece, sizeof piece)) bytes.append(piece, count);
  return bytes;
}

/// Compressible, and longer than the blocks that streams are read in.
std::string long_pattern(Index order) {
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + std::to_string(order) +
                     " " + std::to_string(order) + " " + std::to_string(order) + "\n";
  for (Index i = 1; i <= order; ++i)
    text += std::to_string(i) + " " + std::to_string(order + 1 - i) + "\n";
  return text;
}

TEST(ByteSource, PlainFilesAreMapped) {
  const ScratchFile file("hello");
  const auto source = open_file(file.path());
  EXPECT_EQ(source->mapped(), "hello");
  EXPECT_EQ(source->size_bytes(), 5);
  EXPECT_EQ(all_of(*source), "hello");
  const ScratchFile nothing("");
  EXPECT_EQ(all_of(*open_file(nothing.path())), "");
}

TEST(ByteSource, CompressedFilesAreToldByContent) {
  const std::string text = long_pattern(300);
  for (const auto& add_filter : kFilters) {
    const ScratchFile file("");
    write_archive(file.path(), {{"x", text}}, [&](archive* handle) {
      archive_write_set_format_raw(handle);
      add_filter(handle);
    });
    const auto source = open_file(file.path());
    EXPECT_TRUE(source->is_compressed());
    EXPECT_EQ(all_of(*source), text);
    EXPECT_EQ(import_matrix(file.path()).matrix.nnz(), 300);
  }
}

TEST(ByteSource, EveryCompressionIsUndoneOnce) {
  for (const auto& inner : kFilters) {
    for (const auto& outer : kFilters) {
      const ScratchFile file("");
      write_archive(file.path(), {{"x", long_pattern(300)}}, [&](archive* handle) {
        archive_write_set_format_raw(handle);
        outer(handle);
        inner(handle);
      });
      EXPECT_THROW(import_matrix(file.path()), InputError);
      EXPECT_THROW(list_archive(file.path()), InputError);
    }
  }
}

TEST(ByteSource, CompressedArchivesAreReadInEveryOrder) {
  for (const auto& add_filter : kFilters) {
    const ScratchFile file("");
    write_archive(file.path(), {{"a", long_pattern(3000)}, {"b", "two"}, {"c", long_pattern(9)}},
                  [&](archive* handle) {
                    archive_write_set_format_ustar(handle);
                    add_filter(handle);
                  });
    const auto members = list_archive(file.path());
    ASSERT_EQ(members.size(), 3u);
    EXPECT_EQ(all_of(*open_archive_member(file.path(), "c")), long_pattern(9));
    EXPECT_EQ(all_of(*open_archive_member(file.path(), "a")), long_pattern(3000));
    EXPECT_EQ(all_of(*open_archive_member(file.path(), "b")), "two");
    EXPECT_THROW(open_archive_member(file.path(), "d"), InputError);
  }
}

TEST(ByteSource, LongCompressedFilesAreReadInBlocks) {
  const Index order = 900000;  // 12 MiB of text
  const ScratchFile file("");
  write_archive(file.path(), {{"x", long_pattern(order)}}, [](archive* handle) {
    archive_write_set_format_raw(handle);
    archive_write_add_filter_zstd(handle);
  });
  const ImportResult result = import_matrix(file.path());
  ASSERT_EQ(result.matrix.nnz(), order);
  for (Index i = 0; i < order; ++i) ASSERT_EQ(result.matrix.col_indices()[i], order - 1 - i);
}

/// `text` as a file that one filter compressed.
std::string compressed(const std::string& text, const std::function<int(archive*)>& add_filter) {
  const ScratchFile file("");
  write_archive(file.path(), {{"x", text}}, [&](archive* handle) {
    archive_write_set_format_raw(handle);
    add_filter(handle);
  });
  std::ifstream raw(file.path(), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(raw), {});
}

TEST(ByteSource, CutCompressedFilesAreRefusedByPlace) {
  for (const auto& add_filter : kFilters) {
    const std::string bytes = compressed(long_pattern(3000), add_filter);
    const std::size_t size = bytes.size() / 2;
    EXPECT_REFUSAL(
        " byte " + std::to_string(size) + ": the compressed data is damaged or cut short (",
        bytes.substr(0, size));
  }
}

TEST(ByteSource, FilesOfTwoStreamsAreOneTextOrRefused) {
  for (const auto& add_filter : kFilters) {
    const std::string first = compressed("0 1\n0 2\n", add_filter);
    std::string second = compressed("2 1\n", add_filter);
    EXPECT_EQ(text_of(import_text(first + second).matrix), "3x3: 0,1 0,2 2,1");
    second[1] = 'x';
    EXPECT_REFUSAL(" byte ", first + second);
  }
}

TEST(ByteSource, TheFormatBeforeXzIsToldByItsHeader) {
  const std::string bytes = compressed(long_pattern(3000), archive_write_add_filter_lzma);
  EXPECT_EQ(import_text(bytes).matrix.nnz(), 3000);
  // It says how long its content is, or not.
  EXPECT_EQ(bytes.substr(5, 8), std::string(8, '\xff'));
  std::string sized = bytes;
  const std::uint64_t size = long_pattern(3000).size();
  std::memcpy(&sized[5], &size, sizeof size);
  EXPECT_EQ(import_text(sized).matrix.nnz(), 3000);
  for (const std::size_t cut : {std::size_t{14}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_REFUSAL(" byte " + std::to_string(cut) + ": the compressed data is damaged or cut short",
                   bytes.substr(0, cut));
  }
  // 93 rows of a raw CSR begin with the same byte.
  std::string raw("\x5d\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
  raw += std::string(8 + 94 * 4, '\0');
  ImportOptions options;
  options.format = "raw-csr";
  EXPECT_EQ(import_text(raw, options).matrix.rows(), 93);
}

/// A frame of zstd that holds fewer than 256 bytes as they are.
std::string zstandard_frame(const std::string& text) {
  const auto size = static_cast<unsigned char>(text.size());
  const unsigned block = 1u | static_cast<unsigned>(size) << 3;  // the last one, stored
  std::string frame = "\x28\xb5\x2f\xfd\x20";
  for (const unsigned byte : {unsigned{size}, block & 0xff, block >> 8, 0u}) {
    frame += static_cast<char>(byte);
  }
  return frame + text;
}

TEST(ByteSource, FramesOfZstdMayBeSkipped) {
  const std::string edges = zstandard_frame("0 1\n2 1\n");
  for (const char number : {0, 7, 15}) {
    // As pzstd writes it: the size of the next frame in one to skip.
    const std::string skipped =
        static_cast<char>(0x50 + number) + std::string("\x2a\x4d\x18\4\0\0\0\x11\0\0\0", 11);
    EXPECT_EQ(text_of(import_text(skipped + edges).matrix), "3x3: 0,1 2,1");
    EXPECT_EQ(text_of(import_text(skipped + edges + skipped + zstandard_frame("0 2\n")).matrix),
              "3x3: 0,1 0,2 2,1");
    EXPECT_REFUSAL(" byte ", skipped + edges.substr(0, edges.size() - 1));
    EXPECT_REFUSAL(" byte ", edges + skipped.substr(0, 9));
    EXPECT_NE(refusal_of(skipped), "accepted");
  }
}

TEST(ByteSource, ZerosBehindAStreamAreNoData) {
  for (const auto& add_filter : {archive_write_add_filter_gzip, archive_write_add_filter_bzip2,
                                 archive_write_add_filter_xz}) {
    const std::string bytes = compressed("0 1\n2 1\n", add_filter) + std::string(10'240, '\0');
    EXPECT_EQ(text_of(import_text(bytes).matrix), "3x3: 0,1 2,1");
  }
}

TEST(ByteSource, GzipChecksumsAreCompared) {
  std::string bytes = compressed(long_pattern(3000), archive_write_add_filter_gzip);
  EXPECT_EQ(import_text(bytes).matrix.nnz(), 3000);
  bytes[bytes.size() - 7] ^= 1;
  EXPECT_REFUSAL(
      " byte " + std::to_string(bytes.size()) + ": the compressed data is damaged or cut short (",
      bytes);
}

TEST(ByteSource, HeadersOfCompressedFilesAreNotTrusted) {
  const ScratchFile file("");
  write_archive(
      file.path(),
      {{"x", "%%MatrixMarket matrix coordinate real general\n9 9 900000000000000000\n1 1 1\n"}},
      [](archive* handle) {
        archive_write_set_format_raw(handle);
        archive_write_add_filter_gzip(handle);
      });
  EXPECT_THROW(import_matrix(file.path()), InputError);
}

TEST(ByteSource, MembersByName) {
  const ScratchFile file("");
  write_archive(file.path(), {{"a/b.txt", "one"}, {"c", ""}, {"d", "three"}},
                [](archive* handle) { archive_write_set_format_zip(handle); });
  const auto members = list_archive(file.path());
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].name, "a/b.txt");
  EXPECT_EQ(all_of(*open_archive_member(file.path(), "a/b.txt")), "one");
  EXPECT_EQ(all_of(*open_archive_member(file.path(), "c")), "");
  EXPECT_EQ(all_of(*open_archive_member(file.path(), "d")), "three");
  EXPECT_THROW(open_archive_member(file.path(), "e"), InputError);
}

TEST(ByteSource, SuiteSparseArchives) {
  const std::string matrix = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n";
  const auto import_members = [](const std::vector<Member>& members) {
    const ScratchFile file("");
    write_archive(file.path(), members, [](archive* handle) {
      archive_write_set_format_ustar(handle);
      archive_write_add_filter_gzip(handle);
    });
    return import_matrix(file.path());
  };
  const ImportResult result =
      import_members({{"west/west_b.mtx", "not this one"}, {"west/west.mtx", matrix}});
  EXPECT_EQ(result.format, "suitesparse-tar");
  EXPECT_EQ(result.notes.at("member"), "west/west.mtx");
  EXPECT_EQ(text_of(result.matrix), "2x2: 1,0");
  EXPECT_EQ(import_members({{"any.mtx", matrix}, {"readme", "text"}}).matrix.nnz(), 1);
  EXPECT_THROW(import_members({{"readme", "text"}}), InputError);
  EXPECT_THROW(import_members({{"a.mtx", matrix}, {"b.mtx", matrix}}), InputError);
}

TEST(LineReader, LinesThenBlocks) {
  MemorySource source("one\r\ntwo\n\nfour\nfive", "x");
  LineReader lines(source);
  std::string_view line;
  ASSERT_TRUE(lines.next_line(line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(lines.next_line(line));
  EXPECT_EQ(line, "two");
  EXPECT_EQ(lines.line(), 3u);
  std::string rest;
  for (std::string_view block; lines.next_block(block);) rest += block;
  EXPECT_EQ(rest, "\nfour\nfive\n");
  EXPECT_FALSE(lines.next_line(line));
}

TEST(LineReader, CrAloneIsNoLineEnd) {
  EXPECT_EQ(found_lone_cr(""), "");
  EXPECT_EQ(found_lone_cr("one\r\ntwo\rthree"), "") << "the first line alone is looked at";
  EXPECT_EQ(found_lone_cr("one\r\r\n"), "") << "nothing is behind them";
  EXPECT_EQ(found_lone_cr("one\r"), "");
  EXPECT_NE(found_lone_cr("one\rtwo\n"), "");
  EXPECT_NE(found_lone_cr("\rtwo"), "");
  MemorySource source("one\ntwo\r\nthree\rfour\n", "x");
  LineReader lines(source);
  std::string_view line;
  ASSERT_TRUE(lines.next_line(line));
  ASSERT_TRUE(lines.next_line(line));
  EXPECT_EQ(line, "two");
  try {
    lines.next_line(line);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("x:3: expected lines that end with LF or CR LF", 0),
              0u)
        << error.what();
  }
}

}  // namespace
}  // namespace csrkit
