// A tiny .csr file, changed in every bit and cut at every byte: nothing gets through.
#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

/// A file that is changed in place; on a memory file system if there is one, for speed.
class ChangingFile {
 public:
  explicit ChangingFile(const std::string& content) : content_(content) {
    const bool has_shm = ::access("/dev/shm", W_OK) == 0;
    path_ = (has_shm ? "/dev/shm" : std::filesystem::temp_directory_path().string()) +
            "/csrkit_fuzz.XXXXXX";
    descriptor_ = ::mkstemp(path_.data());
    restore();
  }
  ~ChangingFile() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }
  void put(std::uint64_t at, char byte) {
    ASSERT_EQ(::pwrite(descriptor_, &byte, 1, static_cast<off_t>(at)), 1);
  }
  void resize(std::uint64_t size) {
    ASSERT_EQ(::ftruncate(descriptor_, static_cast<off_t>(size)), 0);
  }
  void restore() {
    resize(content_.size());
    ASSERT_EQ(::pwrite(descriptor_, content_.data(), content_.size(), 0),
              static_cast<ssize_t>(content_.size()));
  }

 private:
  std::string content_, path_;
  int descriptor_ = -1;
};

std::string tiny_file() {
  return load_bytes(CSRKIT_SOURCE_DIR "/tests/data/golden/five_by_seven_f32.csr");
}

void expect_refusal(const std::string& path, FileIo io, const std::string& change) {
  try {
    read_csr_file(path, {io, {}});
    FAIL() << change << " went unseen";
  } catch (const InputError& error) {
    const std::string message = error.what();
    ASSERT_EQ(message.find(path + ": byte "), 0u) << message;
    ASSERT_NE(message.find(": expected "), std::string::npos) << message;
  }
}

void flip_every_bit(FileIo io) {
  const std::string good = tiny_file();
  ChangingFile file(good);
  ASSERT_NO_THROW(read_csr_file(file.path(), {io, {}}));
  for (std::uint64_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      file.put(at, static_cast<char>(good[at] ^ (1 << bit)));
      expect_refusal(file.path(), io,
                     "bit " + std::to_string(bit) + " of byte " + std::to_string(at));
      if (::testing::Test::HasFatalFailure()) return;
    }
    file.put(at, good[at]);
  }
  ASSERT_NO_THROW(read_csr_file(file.path(), {io, {}}));
}

TEST(CsrFileFuzz, EveryFlippedBitIsRefusedByRead) { flip_every_bit(FileIo::read); }
TEST(CsrFileFuzz, EveryFlippedBitIsRefusedByMmap) { flip_every_bit(FileIo::mmap); }

TEST(CsrFileFuzz, EveryTruncationAndExtensionIsRefused) {
  const std::string good = tiny_file();
  ChangingFile file(good);
  for (const FileIo io : {FileIo::read, FileIo::mmap}) {
    file.restore();
    for (const std::uint64_t more : {1, 7, 8, 512, 4096, 1 << 20}) {
      file.resize(good.size() + more);
      expect_refusal(file.path(), io, std::to_string(more) + " more bytes");
    }
    for (std::uint64_t size = good.size(); size-- > 0;) {
      file.resize(size);
      expect_refusal(file.path(), io, "a cut to " + std::to_string(size) + " bytes");
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Whatever stands in a header whose checksum is right: refused, or a file that is really sound.
TEST(CsrFileFuzz, SignedHeadersWithRandomFieldsNeverCrash) {
  const std::string good = load_bytes(CSRKIT_SOURCE_DIR "/tests/data/golden/all_sections_f32.csr");
  ChangingFile file(good);
  int refused = 0;
  constexpr int kRounds = 6000;
  for (int round = 0; round < kRounds; ++round) {
    RandomStream random(1, static_cast<std::uint64_t>(round));
    std::string bytes = good;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::uint64_t at = 12 + 4 * random.below((csr_layout::kSectionsAt + 9 * 32 - 12) / 4);
      const std::uint32_t words[] = {
          0,    1,    2,           3,           8,   9,
          4096, 8192, 0x7fffffffu, 0x80000000u, ~0u, static_cast<std::uint32_t>(random.next())};
      poke(bytes, at, words[random.below(12)]);
    }
    sign_header(bytes);
    for (std::uint64_t at = 0; at < 4096; ++at) {
      if (bytes[at] != good[at]) file.put(at, bytes[at]);
    }
    try {
      read_csr_file(file.path(), {round % 2 == 0 ? FileIo::read : FileIo::mmap, {}});
    } catch (const InputError&) {
      ++refused;
    }
    for (std::uint64_t at = 0; at < 4096; ++at) {
      if (bytes[at] != good[at]) file.put(at, good[at]);
    }
  }
  EXPECT_GT(refused, kRounds / 2);
}

/// What a rank would do with the file: its parts are refused, or truly valid.
void use_parts(const std::string& path) {
  for (const PartLevel& level : read_rank_heads(path)) {
    const auto parts = static_cast<Index>(level.parts.size());
    for (Index part = 0; part < parts; ++part) {
      try {
        const RankPart mine = read_rank_part(path, parts, part);
        validate(mine.own, "accepted");
        validate(mine.halo, "accepted");
      } catch (const InputError& error) {
        ASSERT_EQ(std::string(error.what()).find(path + ": "), 0u) << error.what();
      }
    }
  }
}

/// Bodies whose checksums are right and whose content is random: refused, or truly valid.
TEST(CsrFileFuzz, SignedBodiesWithRandomContentNeverCrash) {
  for (const char* name : {"all_sections_f32.csr", "rank_parts_f32.csr", "split_rows_f32.csr"}) {
    const std::string path = std::string(CSRKIT_SOURCE_DIR "/tests/data/golden/") + name;
    const std::string good = load_bytes(path);
    const std::vector<CsrSection> sections = read_csr_header(path).sections;
    ChangingFile file(good);
    for (int round = 0; round < 2000; ++round) {
      RandomStream random(2, static_cast<std::uint64_t>(round));
      std::string bytes = good;
      for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
        const CsrSection& section = sections[random.below(sections.size() - 1)];
        const std::uint64_t at = section.offset_bytes + random.below(section.size_bytes);
        bytes[at] = static_cast<char>(random.below(4) == 0 ? random.next() : random.below(12));
      }
      sign(bytes, sections);
      for (std::uint64_t at = 0; at < bytes.size(); ++at) {
        if (bytes[at] != good[at]) file.put(at, bytes[at]);
      }
      try {
        validate(read_csr_file(file.path(), {FileIo::read, {}}).matrix, "accepted");
      } catch (const InputError& error) {
        ASSERT_EQ(std::string(error.what()).find(file.path() + ": byte "), 0u) << error.what();
      }
      try {
        use_parts(file.path());
      } catch (const InputError& error) {
        ASSERT_EQ(std::string(error.what()).find(file.path() + ": byte "), 0u) << error.what();
      }
      for (std::uint64_t at = 0; at < bytes.size(); ++at) {
        if (bytes[at] != good[at]) file.put(at, good[at]);
      }
    }
  }
}

TEST(CsrFileFuzz, EveryFlippedBitIsRefusedByThePartThatNeedsIt) {
  const std::string good = load_bytes(CSRKIT_SOURCE_DIR "/tests/data/golden/rank_parts_f32.csr");
  ChangingFile file(good);
  for (std::uint64_t at = 0; at < good.size(); at += at < 4096 ? 1 : 7) {
    file.put(at, static_cast<char>(good[at] ^ (1 << (at % 8))));
    // Every section is one chunk, which every part needs.
    EXPECT_THROW(read_rank_part(file.path(), 2, 0), InputError) << at;
    file.put(at, good[at]);
  }
  EXPECT_NO_THROW(read_rank_part(file.path(), 2, 0));
}

}  // namespace
}  // namespace csrkit
