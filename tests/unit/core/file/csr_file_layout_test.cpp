#include "core/file/csr_file_layout.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"

namespace csrkit::csr_layout {
namespace {

TEST(CsrLayout, SectionsFollowEachOtherOnPages) {
  Extras extras;
  extras.has_row_order = true;
  extras.provenance_bytes = 5;
  const auto sections = lay_out(ValueKind::f64, 1000, 10, 3000, extras);
  std::uint64_t end = kHeaderBytes;
  for (const CsrSection& section : sections) {
    EXPECT_EQ(section.offset_bytes, align_up(end)) << section.name;
    end = section.offset_bytes + section.size_bytes;
  }
  EXPECT_EQ(find(sections, kRowOffsets)->size_bytes, 1001u * 8);
  EXPECT_EQ(find(sections, kColIndices)->size_bytes, 3000u * 4);
  EXPECT_EQ(find(sections, kValues)->size_bytes, 3000u * 8);
  EXPECT_EQ(find(sections, kRowOrder)->size_bytes, 1000u * 4);
  EXPECT_EQ(find(sections, kProvenance)->size_bytes, 5u);
  EXPECT_EQ(find(sections, kColOrder), nullptr);
  EXPECT_EQ(find(sections, kPartition), nullptr);
}

TEST(CsrLayout, AHeaderComesBackAsItWas) {
  CsrFileHeader header;
  header.version = kVersion;
  header.value_kind = ValueKind::f32;
  header.rows = 7;
  header.cols = 5;
  header.nnz = 11;
  header.flags.is_pattern_symmetric = false;
  header.sections = lay_out(header.value_kind, header.rows, header.cols, header.nnz, {});
  const CsrSection& last = header.sections.back();
  header.file_bytes = last.offset_bytes + last.size_bytes;
  const auto bytes = encode_header(header, 42);
  const DecodedHeader back = decode_header(bytes.data(), bytes.size(), header.file_bytes, "x.csr");
  EXPECT_EQ(back.table_checksum, 42u);
  EXPECT_EQ(back.header.nnz, 11);
  EXPECT_EQ(back.header.sections.size(), header.sections.size());
  // One bit anywhere is noticed.
  for (const std::size_t at : {std::size_t{0}, std::size_t{kNnzAt}, std::size_t{2000}}) {
    auto damaged = bytes;
    damaged[at] ^= 1;
    EXPECT_THROW(decode_header(damaged.data(), damaged.size(), header.file_bytes, "x.csr"),
                 InputError)
        << at;
  }
}

TEST(CsrLayout, OnlyWellFormedUtf8IsText) {
  const auto first_invalid = [](const std::string& text) {
    return first_invalid_utf8(text.data(), text.size());
  };
  EXPECT_EQ(first_invalid("plain"), 5u);
  EXPECT_EQ(first_invalid("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), 9u);
  EXPECT_EQ(first_invalid(std::string("a\0b", 3)), 1u);
  EXPECT_EQ(first_invalid("ab\xff"), 2u);
  EXPECT_EQ(first_invalid("a\xc3"), 1u);             // cut short
  EXPECT_EQ(first_invalid("\xc0\xaf"), 0u);          // longer than needed
  EXPECT_EQ(first_invalid("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(first_invalid("\xf4\x90\x80\x80"), 0u);  // beyond the last character
  EXPECT_EQ(first_invalid("\x80"), 0u);              // begins with a later byte
  // The first and the last character of every length, and those beside the surrogates.
  for (const std::string text :
       {"\x01", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(first_invalid(text), text.size()) << text;
  }
  EXPECT_EQ(first_invalid("\xe0\x9f\xbf"), 0u);
  EXPECT_EQ(first_invalid("\xed\xbf\xbf"), 0u);
  EXPECT_EQ(first_invalid("\xf0\x8f\xbf\xbf"), 0u);
}

}  // namespace
}  // namespace csrkit::csr_layout
