#include "core/base/file_digest.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"
#include "tests/unit/preprocess/export/scratch_folder.h"

namespace csrkit {
namespace {

TEST(FileDigest, IsXxh3OfAllBytes) {
  // The value that the specification of XXH3 gives for no input at all, with seed 0.
  EXPECT_EQ(digest_bytes("", 0), "99aa06d3014798d86001c324468d497f");
  const ScratchFolder folder;
  const std::string path = folder.write("some.bin", std::string(3 << 20, 'x'));  // several reads
  const FileDigest digest = digest_file(path);
  EXPECT_EQ(digest.path, path);
  EXPECT_EQ(digest.size_bytes, std::uint64_t{3} << 20);
  const std::string bytes = content_of(path);
  EXPECT_EQ(digest.xxh3_128, digest_bytes(bytes.data(), bytes.size()));
  EXPECT_NE(digest.xxh3_128, digest_bytes(bytes.data(), bytes.size() - 1));
}

TEST(FileDigest, WhatCannotBeReadIsNamed) {
  const std::string message = message_of<IoError>([] { digest_file("no/such/file.csr"); });
  EXPECT_NE(message.find("'no/such/file.csr'"), std::string::npos) << message;
  EXPECT_THROW(digest_file("/"), IoError);
}

}  // namespace
}  // namespace csrkit
