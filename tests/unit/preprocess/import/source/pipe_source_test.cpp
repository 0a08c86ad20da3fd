#include "preprocess/import/source/pipe_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "preprocess/import/import.h"
#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

/// A FIFO into which `text` is written piece by piece, by a writer that is late.
class WrittenPipe {
 public:
  explicit WrittenPipe(std::string text, std::size_t piece = 1 << 14)
      : path_(::testing::TempDir() + "csrkit_pipe_" + std::to_string(::getpid())) {
    ::unlink(path_.c_str());
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    writer_ = std::thread([this, text = std::move(text), piece] {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      std::ofstream file(path_, std::ios::binary);
      for (std::size_t at = 0; at < text.size(); at += piece) {
        file << text.substr(at, piece) << std::flush;
      }
    });
  }
  ~WrittenPipe() {
    writer_.join();
    ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::thread writer_;
};

std::string many_edges() {
  std::string text = "# source and target\nsource,target\n";
  for (int i = 0; i < 60000; ++i) {
    text += std::to_string(i) + "," + std::to_string((i * 7 + 3) % 60000) + "\n";
  }
  return text;
}

TEST(PipeSource, GivesAllBytesAfterALookAtTheFirst) {
  const std::string text = many_edges();
  WrittenPipe pipe(text, 1000);
  ASSERT_TRUE(is_pipe(pipe.path()));
  PipeSource source(pipe.path(), {});
  EXPECT_EQ(source.head(), text.substr(0, 1 << 16));
  EXPECT_FALSE(source.head_is_whole());
  std::string all(text.size() + 10, '\0');
  all.resize(source.read(all.data(), all.size()));
  EXPECT_EQ(all, text);
  EXPECT_EQ(source.finish().xxh3_128, digest_bytes(text.data(), text.size()));
  EXPECT_EQ(source.finish().size_bytes, text.size());
}

TEST(PipeSource, ImportsWhatAFileOfTheSameTextHolds) {
  for (const std::string& text :
       {many_edges(), std::string("%%MatrixMarket matrix coordinate real symmetric\n% none\n"
                                  "3 3 2\n1 1 2.5\n3 1 -1\n")}) {
    const ScratchFile file(text);
    WrittenPipe pipe(text);
    const ImportResult expected = import_matrix(file.path());
    const ImportResult found = import_matrix(pipe.path());
    EXPECT_EQ(found.format, expected.format);
    EXPECT_TRUE(identical(found.matrix, expected.matrix));
    EXPECT_EQ(found.notes, expected.notes);
    EXPECT_EQ(found.inputs.at(0).xxh3_128, expected.inputs.at(0).xxh3_128);
  }
}

TEST(PipeSource, NamesTheLineOfAFault) {
  WrittenPipe pipe("0 1\n1 2\n2 x\n");
  try {
    import_matrix(pipe.path());
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind(pipe.path() + ":3:", 0), 0u) << error.what();
  }
}

TEST(PipeSource, RefusesWhatCannotBeStreamed) {
  for (const char* text : {"\x1f\x8b\x08 and so on", "PK\x03\x04 and so on", ""}) {
    WrittenPipe pipe(text);
    EXPECT_THROW(import_matrix(pipe.path()), InputError) << text;
  }
  WrittenPipe pipe("1 2\n");
  ImportOptions options;
  options.format = "npz";
  EXPECT_THROW(import_matrix(pipe.path(), options), IoError);
  std::ifstream(pipe.path()).get();  // the writer goes on
}

TEST(PipeSource, GivesUpWhereNobodyWrites) {
  const std::string path = ::testing::TempDir() + "csrkit_silent_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(is_pipe(path + ".absent"));
  EXPECT_THROW(PipeSource(path, {}), IoError);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace csrkit
