#include "core/base/ending.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

TEST(OutputNames, EndAsWhatIsWritten) {
  for (const char* name : {"", "x.npy", "x", "a.mtx/x", "x.mtx.1", "x.npy.part"}) {
    EXPECT_NO_THROW(require_ending(name, {".npy"})) << name;
  }
  for (const char* name : {"x.mtx", "x.mtx.gz", "x.csr", "x.txt", "a.npy/x.csv", "x.png", "x.JPG",
                           "x.svg", "x.pdf", "x.html", "x.jsonl"}) {
    EXPECT_THROW(require_ending(name, {".npy"}), UsageError) << name;
  }
  EXPECT_NO_THROW(require_ending("c.npy", {".csr", ".npy"}));
  try {
    require_ending("c.mtx", {".csr", ".npy"});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "the output 'c.mtx' would not be what its name says, but a .csr or .npy file; "
                 "name it so, and let csr-export make other formats");
  }
}

}  // namespace
}  // namespace csrkit
