#include "tools/cli/matrix_input.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

CsrReadOptions parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "csr-test");
  Options options("csr-test", "IN.csr", 1, 1, "Tests.");
  declare_io(options).parse(static_cast<int>(words.size()), words.data());
  return read_options(options);
}

TEST(MatrixInput, SaysHowAFileIsRead) {
  EXPECT_EQ(parsed({"a.csr"}).io, FileIo::automatic);
  EXPECT_EQ(parsed({"a.csr", "--io", "mmap"}).io, FileIo::mmap);
  EXPECT_EQ(parsed({"a.csr", "--io=read"}).io, FileIo::read);
  EXPECT_THROW(parsed({"a.csr", "--io", "telepathy"}), UsageError);
}

}  // namespace
}  // namespace csrkit
