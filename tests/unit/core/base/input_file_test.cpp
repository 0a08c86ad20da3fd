#include "core/base/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "core/base/error.h"

namespace csrkit {
namespace {

class InputFiles : public testing::Test {
 protected:
  ~InputFiles() override { std::remove(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  std::string path_ = testing::TempDir() + std::to_string(getpid()) + "_input_file_test";
};

TEST_F(InputFiles, APipeWithoutWriterIsRefusedAtOnce) {
  std::remove(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(InputFile{path_}, IoError);
  EXPECT_THROW(InputFile{testing::TempDir()}, IoError);
  EXPECT_THROW(InputFile{"/dev/null"}, IoError);
  EXPECT_THROW(InputFile{path_ + ".nowhere"}, IoError);
}

TEST_F(InputFiles, WhatTheFileDoesNotHoldIsNotRead) {
  write("abcdef");
  const InputFile file(path_);
  EXPECT_EQ(file.size_bytes(), 6u);
  char bytes[8];
  file.read_at(2, bytes, 4);
  EXPECT_EQ(std::string(bytes, 4), "cdef");
  EXPECT_THROW(file.read_at(4, bytes, 3), InputError);
}

TEST_F(InputFiles, AWholeFileUpToItsLimit) {
  write(std::string("a\0b", 3));
  EXPECT_EQ(read_whole_file(path_, 3), std::string("a\0b", 3));
  EXPECT_THROW(read_whole_file(path_, 2), InputError);
}

std::vector<std::string> lines_of(const std::string& path, std::uint64_t limit) {
  std::vector<std::string> lines;
  std::uint64_t begin = 0;
  for_each_line(path, limit, [&](const TextLine& line) {
    EXPECT_EQ(line.number, lines.size() + 1);
    EXPECT_EQ(line.next_begin, begin + line.text.size() + (line.has_end ? 1 : 0));
    begin = line.next_begin;
    lines.push_back(std::string(line.text) + (line.has_end ? "" : " (open)"));
  });
  return lines;
}

TEST_F(InputFiles, LinesOfAnyLength) {
  using Lines = std::vector<std::string>;
  write("");
  EXPECT_EQ(lines_of(path_, 10), Lines{});
  write("a\n\nbc");
  EXPECT_EQ(lines_of(path_, 10), (Lines{"a", "", "bc (open)"}));
  // Longer than what is read at once, and line ends on both sides of where it is cut.
  const std::string longer(3 << 20, 'x'), exact((1 << 20) - 1, 'y');
  write(exact + "\n" + longer + "\nz\n");
  EXPECT_EQ(lines_of(path_, 4 << 20), (Lines{exact, longer, "z"}));
}

TEST_F(InputFiles, ALineBeyondTheLimitIsNamed) {
  for (const char* end : {"\n", "\nnext\n", ""}) {
    write("first\n" + std::string(5 << 20, 'x') + end);
    try {
      lines_of(path_, 1 << 20);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path_ + ":2: ", 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace csrkit
