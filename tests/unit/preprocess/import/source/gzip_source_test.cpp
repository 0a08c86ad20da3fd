#include "preprocess/import/source/gzip_source.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "core/base/error.h"
#include "preprocess/import/source/byte_source.h"
#include "preprocess/import/source/inflater.h"
#include "tests/unit/preprocess/import/source/memory_source.h"

namespace csrkit {
namespace {

constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40;

/// One gzip member, with every optional field of the header if `has_fields`.
std::string gzip(const std::string& text, int level = 6, bool has_fields = false) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  gz_header header{};
  std::string name = "graph.mtx", comment = "a comment", extra = "BC\x02";
  if (has_fields) {
    header.name = reinterpret_cast<Bytef*>(name.data());
    header.comment = reinterpret_cast<Bytef*>(comment.data());
    header.extra = reinterpret_cast<Bytef*>(extra.data());
    header.extra_len = static_cast<uInt>(extra.size());
    header.hcrc = 1;
    deflateSetHeader(&stream, &header);
  }
  std::string bytes(deflateBound(&stream, text.size()) + 100, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

/// A source that is not mapped, and gives `step` bytes at a time.
class Trickle : public ByteSource {
 public:
  Trickle(std::string bytes, std::size_t step)
      : ByteSource("trickle", {}), bytes_(std::move(bytes)), step_(step) {}
  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t count = std::min({step_, capacity, bytes_.size() - at_});
    std::copy_n(bytes_.data() + at_, count, to);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t step_, at_ = 0;
};

std::string content(std::unique_ptr<ByteSource> source, std::size_t step) {
  std::string text, piece(step, '\0');
  while (const std::size_t count = source->read(piece.data(), step)) text.append(piece, 0, count);
  EXPECT_EQ(source->read(piece.data(), step), 0u);
  return text;
}

std::string gunzip(const std::string& bytes, std::uint64_t limit = kNoLimit) {
  return content(gunzipped(std::make_unique<MemorySource>(bytes, "x.gz"), limit), 1000);
}

std::string text_of_lines(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += std::to_string(i * 7919 % 100003) + "\n";
  return text;
}

/// What the message of the InputError says; "" without one.
std::string refusal_of(const std::string& bytes) {
  try {
    gunzip(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GzipSource, GivesBackWhatWasCompressed) {
  const std::string text = text_of_lines(60000);
  for (const int level : {0, 1, 6, 9}) {
    EXPECT_EQ(gunzip(gzip(text, level)), text) << Inflater::library();
    EXPECT_EQ(gunzip(gzip(text, level, true)), text);
  }
  EXPECT_EQ(gunzip(gzip("")), "");
  EXPECT_EQ(gunzip(""), "");
}

TEST(GzipSource, PiecesMayBeOfAnySize) {
  const std::string text = text_of_lines(3000);
  const std::string bytes = gzip(text) + gzip("") + gzip(text, 6, true) + std::string(700, '\0');
  for (const std::size_t in : {1u, 2u, 17u, 4096u}) {
    for (const std::size_t out : {1u, 3u, 100u, 1u << 20}) {
      EXPECT_EQ(content(gunzipped(std::make_unique<Trickle>(bytes, in), kNoLimit), out),
                text + text)
          << in << " " << out;
    }
  }
}

TEST(GzipSource, EveryCutIsRefused) {
  const std::string bytes = gzip(text_of_lines(40)) + gzip("last\n");
  const std::size_t first_member = gzip(text_of_lines(40)).size();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size == first_member) continue;  // a whole file
    // The message names the place: all that is there was read.
    EXPECT_EQ(refusal_of(bytes.substr(0, size)),
              "x.gz: byte " + std::to_string(size) +
                  ": the compressed data is damaged or cut short (it ends too early); fetch the "
                  "file again");
  }
}

TEST(GzipSource, NoFlippedBitGivesOtherContent) {
  const std::string text = text_of_lines(40), good = gzip(text);
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      try {
        EXPECT_EQ(gunzip(bad), text) << at;  // flags, time and system of the header say little
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(": the compressed data is damaged"),
                  std::string::npos);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 8 * static_cast<int>(good.size()) * 9 / 10);
}

TEST(GzipSource, WhatFollowsIsZerosOrAnotherMember) {
  EXPECT_EQ(gunzip(gzip("a") + std::string(100000, '\0') + gzip("b")), "ab");
  const std::string a = gzip("a"), start = "x.gz: byte ";
  for (const std::size_t zeros : {0u, 3u}) {
    for (const char* behind : {"x", "text", "text behind it"}) {
      const std::string bytes = a + std::string(zeros, '\0') + behind;
      const std::string message = refusal_of(bytes);
      ASSERT_EQ(message.find(start + std::to_string(a.size() + zeros) + ": "), 0u) << message;
      EXPECT_NE(message.find("(what follows begins no other stream)"), std::string::npos)
          << message;
    }
  }
  EXPECT_NE(refusal_of(a + "\x1f").find("ends too early"), std::string::npos);
}

TEST(GzipSource, BombsAreRefused) {
  const std::string zeros = gzip(std::string(1 << 20, '0'));
  EXPECT_EQ(gunzip(zeros, 1 << 20).size(), 1u << 20);
  EXPECT_THROW(gunzip(zeros, (1 << 20) - 1), InputError);
  EXPECT_THROW(gunzip(gzip(gzip("twice"))), InputError);
}

}  // namespace
}  // namespace csrkit
