#include "core/file/csr_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "core/base/atomic_file.h"
#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

const std::string kData = CSRKIT_SOURCE_DIR "/tests/data/";
constexpr ValueKind kKinds[] = {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16,
                                ValueKind::bf16};
constexpr FileIo kIos[] = {FileIo::automatic, FileIo::mmap, FileIo::read};

bool is_updating() { return std::getenv("CSRKIT_UPDATE_DATA") != nullptr; }

TEST(CsrFile, RoundTripsEveryKindShapeAndIo) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  for (const ValueKind kind : kKinds) {
    for (const CsrMatrix& matrix :
         {random_csr(0, 0, 0, kind), random_csr(0, 9, 0, kind), random_csr(9, 0, 0, kind),
          random_csr(4, 4, 0, kind), random_csr(1, 1, 1, kind), five_by_seven(kind),
          random_csr(700, 300, 20, kind), random_csr(3, 5000, 4000, kind)}) {
      for (const bool has_extras : {false, true}) {
        const CsrFile file = has_extras ? with_all_sections(matrix) : just(matrix);
        write_csr_file(path, file);
        for (const FileIo io : kIos) expect_same(read_csr_file(path, {io, {}}), file);
      }
    }
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.csr"});
}

TEST(CsrFile, DigestsWhileItReads) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  for (const CsrMatrix& matrix :
       {random_csr(0, 0, 0, ValueKind::f32), five_by_seven(ValueKind::bf16),
        random_csr(400000, 50000, 9, ValueKind::f64)}) {
    write_csr_file(path, with_all_sections(matrix));
    const FileDigest expected = digest_file(path);
    for (const FileIo io : kIos) {
      FileDigest digest;
      read_csr_file(path, {io, {}, &digest});
      EXPECT_EQ(digest.xxh3_128, expected.xxh3_128);
      EXPECT_EQ(digest.size_bytes, expected.size_bytes);
      EXPECT_EQ(digest.path, path);
    }
  }
}

TEST(CsrFile, ReadsSeveralChunksAndTellsProgress) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = with_all_sections(random_csr(400000, 50000, 9, ValueKind::f64));
  // In no order that repeats itself, so that nothing taken from a wrong place looks right.
  Buffer<Index> parts(400000);
  for (Index row = 0; row < 400000; ++row) {
    parts[row] = static_cast<Index>(random_word(1, 2, static_cast<std::uint64_t>(row)) % 3);
  }
  file.partition->part_of_row = std::make_shared<const Buffer<Index>>(std::move(parts));
  std::uint64_t written = 0, read = 0;
  write_csr_file(path, file, [&](const char*, std::uint64_t done, std::uint64_t) {
    EXPECT_GE(done, written);
    written = done;
  });
  for (const FileIo io : kIos) {
    expect_same(read_csr_file(path, {io,
                                     [&](const char*, std::uint64_t done, std::uint64_t total) {
                                       EXPECT_LE(done, total);
                                       read = done;
                                     }}),
                file);
  }
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const CsrSection& last = sections[sections.size() - 2];  // the checksums come after all of these
  EXPECT_EQ(written, last.offset_bytes + last.size_bytes);
  EXPECT_GE(read, csr_layout::kChunkBytes);
}

TEST(CsrFile, WritesASectionOfSeveralSlices) {
  constexpr Index kRows = (128 << 20) / sizeof(Offset) + 5000;  // a slice of offsets, and some
  Buffer<Offset> offsets(Offset{kRows} + 1);
  for (Index row = 0; row <= kRows; ++row) offsets[row] = row / 64;
  Buffer<Index> columns(offsets[kRows]);
  std::fill(columns.begin(), columns.end(), 3);
  const CsrFile file =
      just(CsrMatrix(kRows, 5, std::move(offsets), std::move(columns), ValueArray()));
  const ScratchFolder folder;
  std::vector<std::uint64_t> calls;
  write_csr_file(folder / "a.csr", file, [&](const char*, std::uint64_t done, std::uint64_t) {
    calls.push_back(done - csr_layout::kHeaderBytes);
  });
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0], 128u << 20);
  EXPECT_EQ(calls[1], (std::uint64_t{kRows} + 1) * sizeof(Offset));
  expect_same(read_csr_file(folder / "a.csr"), file);
}

TEST(CsrFile, AnExceptionFromProgressEndsTheRead) {
  const ScratchFolder folder;
  write_csr_file(folder / "a.csr", just(random_csr(300000, 500, 5, ValueKind::f32)));
  const auto interrupt = [](const char*, std::uint64_t, std::uint64_t) {
    throw UsageError("stop");
  };
  EXPECT_THROW(read_csr_file(folder / "a.csr", {FileIo::read, interrupt}), UsageError);
}

TEST(CsrFile, FindsFaultsBesideTheSeamsOfChunks) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  // Rows of 5 entries, so that chunks of 2^18 columns and 2^17 offsets end inside rows.
  constexpr Index kRows = 200000, kPerRow = 5;
  std::vector<Offset> offsets;
  std::vector<Index> columns;
  for (Index row = 0; row <= kRows; ++row) offsets.push_back(Offset{row} * kPerRow);
  for (Index i = 0; i < kRows * kPerRow; ++i) columns.push_back(i % kPerRow);
  write_csr_file(path, just(make_csr(kRows, kPerRow, offsets, columns,
                                     std::vector<double>(columns.size()), ValueKind::none)));
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::string good = load_bytes(path);
  for (const Offset seam : {Offset{1} << 18, Offset{2} << 18, Offset{3} << 18}) {
    for (Offset entry = seam - 3; entry <= seam + 3; ++entry) {
      std::string bad = good;
      const Index wrong = entry % kPerRow == 0 ? kPerRow : static_cast<Index>(entry % kPerRow - 1);
      poke(bad, sections[1].offset_bytes + static_cast<std::uint64_t>(entry) * 4, wrong);
      sign(bad, sections);
      save_bytes(path, bad);
      for (const FileIo io : kIos) {
        const std::string message = refusal_of(path, io);
        EXPECT_NE(message.find("entry " + std::to_string(entry) + ":"), std::string::npos)
            << message;
        EXPECT_NE(message.find("row " + std::to_string(entry / kPerRow) + ","), std::string::npos);
      }
    }
  }
  for (Offset row = (1 << 17) - 2; row <= (1 << 17) + 2; ++row) {
    std::string bad = good;
    poke(bad, sections[0].offset_bytes + static_cast<std::uint64_t>(row) * 8, row * kPerRow - 6);
    sign(bad, sections);
    save_bytes(path, bad);
    EXPECT_NE(refusal_of(path, FileIo::read).find("end of row " + std::to_string(row - 1)),
              std::string::npos);
  }
}

TEST(CsrFile, DamageIsNamedByBytesAndSection) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  write_csr_file(path, just(random_csr(100000, 5000, 9, ValueKind::f32)));
  std::string bytes = load_bytes(path);
  const std::uint64_t begin = read_csr_header(path).sections[1].offset_bytes + (1 << 20);
  bytes[begin + 77] = static_cast<char>(bytes[begin + 77] ^ 1);
  save_bytes(path, bytes);
  for (const FileIo io : kIos) {
    const std::string message = refusal_of(path, io);
    EXPECT_EQ(message.find(path + ": byte " + std::to_string(begin) + ": "), 0u) << message;
    EXPECT_NE(message.find("col_indices"), std::string::npos) << message;
  }
}

TEST(CsrFile, EveryFaultIsNamedByItsByte) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const std::string good = load_bytes(kData + "golden/all_sections_f32.csr");
  const CsrFileHeader header = read_csr_header(kData + "golden/all_sections_f32.csr");
  const auto refusal = [&](const std::string& bad, FileIo io) {
    std::string bytes = bad;
    sign(bytes, header.sections);
    save_bytes(path, bytes);
    return refusal_of(path, io);
  };
  const auto section = [&](const char* name) {
    return csr_layout::find(header.sections, name)->offset_bytes;
  };
  const auto expect_byte = [&](const std::string& bad, std::uint64_t at, const char* text) {
    for (const FileIo io : kIos) {
      const std::string message = refusal(bad, io);
      EXPECT_EQ(message.find(path + ": byte " + std::to_string(at) + ": "), 0u) << message;
      EXPECT_NE(message.find(text), std::string::npos) << message;
    }
  };
  std::string bad;
  for (const Index wrong : {header.cols, header.cols + 1, -1}) {  // the first entry of a chunk
    poke(bad = good, section("col_indices"), wrong);
    expect_byte(bad, section("col_indices"), "entry 0: expected a column in");
  }
  poke(bad = good, section("row_offsets"), Offset{-1});
  expect_byte(bad, section("row_offsets"), "to start with 0");
  const std::uint64_t end = section("row_offsets") + static_cast<std::uint64_t>(header.rows) * 8;
  poke(bad = good, end, Offset{header.nnz + 1});
  expect_byte(bad, end, "to end with");
  const std::uint64_t partition = section("partition");
  poke(bad = good, partition, Index{-1});
  expect_byte(bad, partition, "a number of parts that is not negative");
  for (const Index row : {0, 2}) {
    const std::uint64_t at = partition + static_cast<std::uint64_t>(row + 1) * 4;
    poke(bad = good, at, Index{-1});
    expect_byte(bad, at, "expected a part in");
  }
  poke(bad = good, section("provenance") + 3, '\xff');
  expect_byte(bad, section("provenance") + 3, "expected UTF-8 text");
  for (std::size_t i = 0; i < header.sections.size(); ++i) {
    const std::uint64_t slot = csr_layout::kSectionsAt + i * csr_layout::kSlotBytes;
    poke(bad = good, slot + 16, header.sections[i].offset_bytes + 4096);
    expect_byte(bad, slot + 16, "bytes from byte");
    const bool is_free = header.sections[i].name == "provenance";  // of any size
    poke(bad = good, slot + 24, is_free ? std::uint64_t{0} : header.sections[i].size_bytes + 1);
    expect_byte(bad, slot + 24, "expected");
  }
}

// The last offset is a chunk of its own: only the seam before it tells that it descends.
TEST(CsrFile, ALastOffsetInAChunkOfItsOwnIsChecked) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const Index rows = 1 << 17;
  write_csr_file(path, just(random_csr(rows, 9, 2, ValueKind::none)));
  const CsrFileHeader header = read_csr_header(path);
  std::string bad = load_bytes(path);
  poke(bad, header.sections[0].offset_bytes + (std::uint64_t{rows} - 1) * 8,
       Offset{header.nnz + 1});
  sign(bad, header.sections);
  save_bytes(path, bad);
  EXPECT_NE(refusal_of(path, FileIo::read).find("end of row " + std::to_string(rows - 1)),
            std::string::npos);
  save_bytes(path, "");
  EXPECT_EQ(refusal_of(path, FileIo::read).find(path + ": byte 0: "), 0u);
}

// Where the next entry begins a row, nothing but its own range tells that a column is too large.
TEST(CsrFile, AFirstColumnThatIsARowOfItsOwnIsChecked) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  Buffer<Offset> offsets(3);
  for (Index i = 0; i < 3; ++i) offsets[i] = i;
  Buffer<Index> cols(2);
  cols[0] = cols[1] = 1;
  write_csr_file(path, just(CsrMatrix(2, 4, std::move(offsets), std::move(cols),
                                      ValueArray(ValueKind::none, 2))));
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::string good = load_bytes(path);
  for (const Index wrong : {4, 5, -1}) {
    std::string bad = good;
    poke(bad, sections[1].offset_bytes, wrong);
    sign(bad, sections);
    save_bytes(path, bad);
    for (const FileIo io : kIos) {
      EXPECT_NE(refusal_of(path, io).find("entry 0: expected a column in"), std::string::npos);
    }
  }
}

CsrFile beside(const CsrFlags& flags, const std::string& provenance) {
  CsrFile file;
  file.flags = flags;
  file.provenance = provenance;
  return file;
}

/// Item i goes to place size - 1 - i.
Permutation turned(Index size) {
  Buffer<Index> order(size);
  for (Index i = 0; i < size; ++i) order[i] = size - 1 - i;
  return Permutation::from_new_of_old(std::move(order));
}

TEST(CsrFile, SinkAndWholeFileGiveTheSameBytes) {
  const ScratchFolder folder;
  for (const ValueKind kind : kKinds) {
    for (const CsrMatrix& matrix :
         {random_csr(0, 4, 0, kind), five_by_seven(kind), random_csr(1000, 70, 9, kind),
          random_csr(60000, 9000, 30, kind)}) {
      CsrFile file = just(matrix);
      file.provenance = "{}";
      file.row_order = turned(matrix.rows());
      file.col_order = turned(matrix.cols());
      write_csr_file(folder / "whole.csr", file);
      for (const Index block_rows : {1, 7, 100000}) {
        if (matrix.rows() > 10000 && block_rows < 10000) continue;
        CsrFileSink sink(folder / "sink.csr", matrix.rows(), matrix.cols(), kind);
        MemorySink memory(matrix.rows(), matrix.cols(), kind);
        for (Index row = 0; row < matrix.rows(); row += block_rows) {
          const Index end = std::min(matrix.rows(), row + block_rows);
          const Offset base = matrix.row_offsets()[row], count = matrix.row_offsets()[end] - base;
          Buffer<Offset> offsets(Offset{end - row} + 1);
          for (Index i = row; i <= end; ++i) offsets[i - row] = matrix.row_offsets()[i] - base;
          ValueArray values(kind, count);
          if (size_of(kind) > 0 && count > 0) {
            std::memcpy(values.data(),
                        static_cast<const char*>(matrix.values()) + base * size_of(kind),
                        static_cast<std::size_t>(count * size_of(kind)));
          }
          const CsrMatrix block(end - row, matrix.cols(), std::move(offsets),
                                Buffer<Index>::copy_of(matrix.col_indices() + base, count),
                                std::move(values));
          sink.append_rows(block);
          memory.append_rows(block);
          EXPECT_FALSE(std::filesystem::exists(folder / "sink.csr"));
        }
        sink.finish(file);
        EXPECT_TRUE(load_bytes(folder / "sink.csr") == load_bytes(folder / "whole.csr"));
        EXPECT_TRUE(identical(memory.finish(), matrix));
        std::filesystem::remove(folder / "sink.csr");
      }
    }
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"whole.csr"});
}

TEST(CsrFile, SinkRefusesWhatDoesNotFitAndLeavesNothing) {
  const ScratchFolder folder;
  {
    CsrFileSink sink(folder / "a.csr", 6, 7, ValueKind::f32);
    EXPECT_THROW(sink.append_rows(five_by_seven(ValueKind::f64)), UsageError);
    EXPECT_THROW(sink.append_rows(random_csr(1, 8, 1, ValueKind::f32)), UsageError);
    sink.append_rows(five_by_seven(ValueKind::f32));
    EXPECT_THROW(sink.append_rows(five_by_seven(ValueKind::f32)), UsageError);
    EXPECT_THROW(sink.finish(beside({}, "")), UsageError);  // a row is missing
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(CsrFile, SinkWritesItsFlagsAndRefusesWhatAFileCannotHold) {
  const ScratchFolder folder;
  CsrFile file =
      just(make_csr(3, 3, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {2, -1, 2, -1, 2}, ValueKind::f64));
  file.flags.is_pattern_symmetric = file.flags.is_value_symmetric = true;
  write_csr_file(folder / "whole.csr", file);
  CsrFileSink sink(folder / "sink.csr", 3, 3, ValueKind::f64);
  sink.append_rows(file.matrix);
  EXPECT_THROW(sink.finish(beside({}, "\xff")), UsageError);
  sink.finish(beside(file.flags, ""));
  EXPECT_TRUE(load_bytes(folder / "sink.csr") == load_bytes(folder / "whole.csr"));
}

TEST(CsrFile, WriterRefusesContradictions) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(five_by_seven(ValueKind::f32));
  file.flags.is_pattern_symmetric = true;
  EXPECT_THROW(write_csr_file(path, file), UsageError);
  file = just(five_by_seven(ValueKind::f32));
  file.row_order = Permutation::identity(4);
  EXPECT_THROW(write_csr_file(path, file), UsageError);
  file = just(five_by_seven(ValueKind::f32));
  file.provenance = "\xff";
  EXPECT_THROW(write_csr_file(path, file), UsageError);
  file = with_all_sections(five_by_seven(ValueKind::f32));
  file.partition->parts = 2;
  EXPECT_THROW(write_csr_file(path, file), UsageError);
  file = just(random_csr(4, 4, 2, ValueKind::f32));
  for (const CsrFlags& flags :
       {CsrFlags{false, true, false, false}, CsrFlags{true, false, false, false},
        CsrFlags{true, true, false, true}}) {
    file.flags = flags;
    EXPECT_THROW(write_csr_file(path, file), UsageError);
  }
  file = just(five_by_seven(ValueKind::f32));
  file.ranks = RankSections::of(file.matrix, {PartBorders{{0, 3, 5}, {0, 4, 7}}});
  for (const CsrMatrix& other :
       {random_csr(4, 7, 2, ValueKind::f32), random_csr(5, 6, 2, ValueKind::f32)}) {
    file.matrix = other;
    EXPECT_THROW(write_csr_file(path, file), UsageError);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(CsrFile, AProvenanceHasOneByteToAsManyAsAreAllowed) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(five_by_seven(ValueKind::f32));
  for (const std::uint64_t bytes : {std::uint64_t{1}, csr_layout::kMaxProvenanceBytes}) {
    file.provenance.assign(bytes, '7');
    write_csr_file(path, file);
    EXPECT_TRUE(read_csr_file(path).provenance == file.provenance) << bytes;
  }
  file.provenance += '7';
  EXPECT_THROW(write_csr_file(path, file), UsageError);
}

/// Makes an order of the rows from the partition of a file of 3 rows, so that the borders stay
/// alone.
void expect_borders_need_a_partition(const std::string& path) {
  std::vector<CsrSection> sections = read_csr_header(path).sections;
  std::string bytes = load_bytes(path), good = bytes;
  const std::uint64_t slot = csr_layout::kSectionsAt + 2 * csr_layout::kSlotBytes;
  ASSERT_EQ(sections[2].name, "partition");
  const char name[csr_layout::kSlotNameBytes] = "row_new_of_old";
  std::memcpy(bytes.data() + slot, name, sizeof name);
  poke(bytes, slot + 24, std::uint64_t{3 * sizeof(Index)});
  for (Index row = 0; row < 3; ++row) {
    poke(bytes, sections[2].offset_bytes + static_cast<std::uint64_t>(row) * sizeof(Index), row);
  }
  poke(bytes, sections[2].offset_bytes + 3 * sizeof(Index), Index{0});
  sign(bytes, sections);
  save_bytes(path, bytes);
  EXPECT_NE(refusal_of(path, FileIo::read).find("found no parts"), std::string::npos)
      << refusal_of(path, FileIo::read);
  const std::uint64_t size_at = slot + csr_layout::kSlotBytes + 24;  // of the borders
  poke(good, size_at, std::uint64_t{16});                            // of two parts one border
  poke(good, sections[3].offset_bytes + 16, std::uint64_t{0});
  sign(good, sections);
  save_bytes(path, good);
  EXPECT_NE(refusal_of(path, FileIo::read).find("into 1 part, found 2 parts"), std::string::npos)
      << refusal_of(path, FileIo::read);
  poke(bytes, size_at, std::uint64_t{20});
  sign_header(bytes);
  save_bytes(path, bytes);
  EXPECT_NE(refusal_of(path, FileIo::read).find(": byte " + std::to_string(size_at) + ": "),
            std::string::npos)
      << refusal_of(path, FileIo::read);
}

TEST(CsrFile, PartBordersTravelWithThePartition) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const auto numbers = [](std::initializer_list<Offset> list) {
    return std::make_shared<const Buffer<Offset>>(
        Buffer<Offset>::copy_of(list.begin(), static_cast<Offset>(list.size())));
  };
  // A square of 3 rows with 2 entries, in two parts.
  Buffer<Offset> offsets(4);
  offsets[0] = 0;
  offsets[1] = offsets[2] = 1;
  offsets[3] = 2;
  Buffer<Index> cols(2);
  cols[0] = 2;
  cols[1] = 1;
  CsrFile file = just(CsrMatrix(3, 3, std::move(offsets), std::move(cols), ValueArray()));
  Buffer<Index> parts(3);
  parts[0] = parts[1] = 0;
  parts[2] = 1;
  file.partition =
      Partition{2, std::make_shared<const Buffer<Index>>(std::move(parts)), numbers({2, 1, 1})};
  write_csr_file(path, file);
  EXPECT_EQ(read_csr_header(path).sections[3].name, "part_borders");
  for (const FileIo io : kIos) {
    const CsrFile back = read_csr_file(path, {io, {}});
    ASSERT_NE(back.partition->borders, nullptr);
    EXPECT_TRUE(std::equal(back.partition->borders->begin(), back.partition->borders->end(),
                           file.partition->borders->begin(), file.partition->borders->end()));
  }
  // All that can be, at its ends.
  for (const auto& borders : {numbers({0, 0, 0}), numbers({2, 3, 3})}) {
    file.partition->borders = borders;
    write_csr_file(path, file);
    EXPECT_NO_THROW(read_csr_file(path, {FileIo::read, {}}));
  }
  // Numbers that cannot be are refused when read, a wrong count already when written.
  for (const auto& [borders, says] :
       {std::pair{numbers({3, 1, 1}), "expected the cut to be in [0, 2], found 3"},
        std::pair{numbers({2, 1, 4}), "expected the halo of part 1 to be in [0, 3], found 4"},
        std::pair{numbers({-1, 1, 1}), "found -1"}}) {
    file.partition->borders = borders;
    write_csr_file(path, file);
    EXPECT_NE(refusal_of(path, FileIo::read).find(says), std::string::npos)
        << refusal_of(path, FileIo::read);
  }
  file.partition->borders = numbers({2, 1, 4});
  write_csr_file(path, file);
  const std::uint64_t at = read_csr_header(path).sections[3].offset_bytes + 2 * sizeof(Offset);
  EXPECT_NE(refusal_of(path, FileIo::read).find("byte " + std::to_string(at) + ":"),
            std::string::npos);
  file.partition->borders = numbers({2, 1});
  EXPECT_THROW(write_csr_file(path, file), UsageError);
  file.partition->borders = numbers({2, 1, 1});
  write_csr_file(path, file);
  expect_borders_need_a_partition(path);
  file.matrix = five_by_seven(ValueKind::f32);
  EXPECT_THROW(write_csr_file(path, file), UsageError);
}

TEST(CsrFile, TheLastRowMayBeginWhereAChunkDoes) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  constexpr Index kEntriesOfAChunk = 1 << 18;
  Buffer<Offset> offsets(3);
  offsets[0] = 0;
  offsets[1] = kEntriesOfAChunk;
  offsets[2] = kEntriesOfAChunk + 1;
  Buffer<Index> cols(offsets[2]);
  for (Index at = 0; at < kEntriesOfAChunk; ++at) cols[at] = at;
  cols[kEntriesOfAChunk] = 0;
  write_csr_file(path, just(CsrMatrix(2, kEntriesOfAChunk, std::move(offsets), std::move(cols),
                                      ValueArray())));
  for (const FileIo io : kIos) EXPECT_EQ(read_csr_file(path, {io, {}}).matrix.nnz(), 262145);
}

TEST(CsrFile, ARowMayBeginWithTheColumnThatTheRowBeforeEndedWith) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const CsrFile file =
      just(make_csr(3, 4, {0, 2, 3, 5}, {1, 3, 3, 0, 3}, {1, 2, 3, 4, 5}, ValueKind::f64));
  write_csr_file(path, file);
  for (const FileIo io : kIos) expect_same(read_csr_file(path, {io, {}}), file);
}

TEST(CsrFile, EveryReservedByteOfTheHeaderIsLookedAt) {
  const ScratchFolder folder;
  const std::string good = load_bytes(kData + "golden/five_by_seven_f32.csr");
  for (std::uint64_t at = csr_layout::kSectionCountAt + 8; at < csr_layout::kSectionsAt; ++at) {
    std::string bytes = good;
    bytes[at] = 1;
    sign_header(bytes);
    save_bytes(folder / "a.csr", bytes);
    EXPECT_NE(refusal_of(folder / "a.csr", FileIo::read).find("expected a reserved byte to be 0"),
              std::string::npos)
        << at;
  }
}

TEST(CsrFile, NoRowsMayBePartitionedIntoNoParts) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(CsrMatrix());
  file.partition = Partition{0, std::make_shared<const Buffer<Index>>(Buffer<Index>(0)), nullptr};
  write_csr_file(path, file);
  for (const FileIo io : kIos) {
    const CsrFile back = read_csr_file(path, {io, {}});
    ASSERT_TRUE(back.partition);
    EXPECT_EQ(back.partition->parts, 0);
  }
}

TEST(CsrFile, HeaderAloneTellsTheSections) {
  const CsrFileHeader header = read_csr_header(kData + "golden/all_sections_f32.csr");
  EXPECT_EQ(header.version, 1u);
  EXPECT_EQ(header.value_kind, ValueKind::f32);
  EXPECT_EQ(header.rows, 5);
  EXPECT_EQ(header.cols, 7);
  EXPECT_EQ(header.nnz, 10);
  ASSERT_EQ(header.sections.size(), 8u);
  EXPECT_EQ(header.sections[3].name, "row_new_of_old");
  EXPECT_EQ(header.sections[3].offset_bytes, 4u * 4096);
  EXPECT_EQ(header.sections[3].size_bytes, 20u);
  EXPECT_EQ(header.file_bytes, 8u * 4096 + 7 * 8);
}

TEST(CsrFile, GoldenFilesAreReadAndWrittenForEver) {
  const ScratchFolder folder;
  for (const auto& [name, file] : golden_files()) {
    SCOPED_TRACE(name);
    if (is_updating()) write_csr_file(kData + "golden/" + name, file);
    for (const FileIo io : kIos)
      expect_same(read_csr_file(kData + "golden/" + name, {io, {}}), file);
    write_csr_file(folder / name, file);
    EXPECT_TRUE(load_bytes(folder / name) == load_bytes(kData + "golden/" + name));
  }
}

TEST(CsrFile, EveryFaultIsRefusedByName) {
  const std::string base = kData + "golden/all_sections_f32.csr";
  const std::string good = load_bytes(base);
  const std::vector<CsrSection> sections = read_csr_header(base).sections;
  const ScratchFolder folder;
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.name);
    const std::string bytes = faulty_bytes(fault, good, sections);
    ASSERT_TRUE(bytes != good);
    save_bytes(folder / "a.csr", bytes);
    for (const FileIo io : kIos) {
      const std::string message = refusal_of(folder / "a.csr", io);
      EXPECT_EQ(message.find((folder / "a.csr") + ": byte "), 0u) << message;
      EXPECT_NE(message.find(fault.message), std::string::npos) << message;
      EXPECT_NE(message.find("expected"), std::string::npos) << message;
    }
  }
}

// The same faults in the smaller file without optional sections, as files that anybody can try.
TEST(CsrFile, InvalidFilesAreRefused) {
  const std::string base = kData + "golden/five_by_seven_f32.csr";
  const std::string good = load_bytes(base);
  const std::vector<CsrSection> sections = read_csr_header(base).sections;
  int files = 0;
  for (const Fault& fault : faults()) {
    const std::string name = fault.name;
    const bool needs_extras = name.find("row_order") == 0 || name.find("col_order") == 0 ||
                              name.find("partition") == 0 || name.find("provenance") == 0 ||
                              name.find("section_") == 0 || name == "checksums_size" ||
                              name == "reserved_slot";
    if (needs_extras) continue;  // they would exceed 20 kB; EveryFaultIsRefusedByName makes them
    SCOPED_TRACE(name);
    const std::string path = kData + "invalid/" + name + ".csr";
    const std::string bytes = faulty_bytes(fault, good, sections);
    if (is_updating()) save_bytes(path, bytes);
    ASSERT_TRUE(load_bytes(path) == bytes) << "run this test with CSRKIT_UPDATE_DATA=1";
    EXPECT_LT(bytes.size(), 20000u);
    const std::string message = refusal_of(path, FileIo::automatic);
    EXPECT_NE(message.find(fault.message), std::string::npos) << message;
    ++files;
  }
  EXPECT_GT(files, 50);
}

TEST(CsrFile, NeedsARegularFile) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {folder / "pipe", folder / "absent", folder / "", std::string("/dev/zero")}) {
    EXPECT_THROW(read_csr_file(path), IoError) << path;
    EXPECT_THROW(read_csr_header(path), IoError) << path;
    EXPECT_FALSE(is_csr_file(path));
  }
  EXPECT_TRUE(is_csr_file(kData + "golden/empty_0x0_none.csr"));
  EXPECT_FALSE(is_csr_file(kData + "invalid/is_gzip.csr"));
  EXPECT_FALSE(is_csr_file(kData + "invalid/empty_file.csr"));
  for (const char* name : {"invalid/empty_file.csr", "invalid/is_gzip.csr"}) {
    EXPECT_NE(refusal_of(kData + name, FileIo::read).find(": byte 0: "), std::string::npos) << name;
  }
  save_bytes(folder / "begun", {csr_layout::kMagic.begin(), csr_layout::kMagic.end()});
  EXPECT_TRUE(is_csr_file(folder / "begun"));
  for (const std::string& path : {folder / "pipe", folder / "", std::string("/dev/null")}) {
    EXPECT_THROW(write_csr_file(path, just(five_by_seven(ValueKind::none))), IoError) << path;
  }
}

TEST(CsrFile, AHugeSparseFileIsRefusedWithoutMemory) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  write_csr_file(path, just(five_by_seven(ValueKind::f32)));
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 43), 0);  // 8 TiB of nothing
  std::string header = load_bytes(kData + "golden/five_by_seven_f32.csr").substr(0, 4096);
  poke(header, csr_layout::kFileBytesAt, std::uint64_t{1} << 43);
  poke(header, csr_layout::kNnzAt, std::uint64_t{1} << 40);
  sign_header(header);
  const int descriptor = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(descriptor, header.data(), header.size(), 0), 4096);
  ::close(descriptor);
  EXPECT_NE(refusal_of(path, FileIo::read).find("entries"), std::string::npos);
}

/// What `write` says where no file may be larger than 1 MiB.
std::string refusal_of_a_full_disk(const std::function<void()>& write) {
  rlimit old_limit;
  EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{1 << 20, old_limit.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string message;
  try {
    write();
  } catch (const IoError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);
  return message;
}

TEST(CsrFile, AFullDiskForTheValuesOfASinkLeavesNothing) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  // 1.4 MiB of values in a file of their own, and less than 1 MiB of all else.
  const CsrMatrix matrix = random_csr(900, 100000, 300, ValueKind::f64);
  const std::string message = refusal_of_a_full_disk([&] {
    CsrFileSink sink(path, matrix.rows(), matrix.cols(), matrix.value_kind());
    sink.append_rows(matrix);
    sink.finish(beside({}, ""));
  });
  EXPECT_EQ(message, "cannot write '" + path +
                         "': writing its second temporary file failed: File too large");
  EXPECT_TRUE(folder.names().empty());
}

TEST(CsrFile, AFullDiskLeavesThePreviousFileAlone) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const CsrFile before = just(five_by_seven(ValueKind::f64));
  write_csr_file(path, before);
  const std::string message = refusal_of_a_full_disk(
      [&] { write_csr_file(path, just(random_csr(200000, 1000, 5, ValueKind::f32))); });
  EXPECT_NE(message.find(path), std::string::npos) << message;
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  expect_same(read_csr_file(path), before);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.csr"});
}

// Run by the test below in a process of its own, until that is killed.
TEST(CsrFile, DISABLED_WriteUntilKilled) {
  const std::string path = std::getenv("CSRKIT_KILL_TEST_PATH");
  const CsrMatrix small = random_csr(2000, 500, 9, ValueKind::f32, 1);
  const CsrMatrix large = random_csr(20000, 5000, 9, ValueKind::f64, 2);
  for (;;) {
    write_csr_file(path, just(small));
    CsrFileSink sink(path, large.rows(), large.cols(), large.value_kind());
    sink.append_rows(large);
    sink.finish(beside({}, ""));
  }
}

TEST(CsrFile, AKilledWriterLeavesNothingUnverified) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  int complete_files = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::setenv("CSRKIT_KILL_TEST_PATH", path.c_str(), 1);
      ::setenv("OMP_NUM_THREADS", "2", 1);
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 1);
      ::execl("/proc/self/exe", "kill_test", "--gtest_filter=CsrFile.DISABLED_WriteUntilKilled",
              "--gtest_also_run_disabled_tests", nullptr);
      ::_exit(127);
    }
    // The first one may finish a file, however busy the machine is.
    for (int i = 0; round == 0 && i < 6000 && !std::filesystem::exists(path); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 17 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (!std::filesystem::exists(path)) continue;
    const CsrMatrix matrix = read_csr_file(path).matrix;
    EXPECT_TRUE(matrix.rows() == 2000 || matrix.rows() == 20000);
    ++complete_files;
  }
  EXPECT_GT(complete_files, 0);
}

TEST(CsrFile, IoNamesAreParsed) {
  EXPECT_EQ(parse_file_io("auto"), FileIo::automatic);
  EXPECT_EQ(parse_file_io("mmap"), FileIo::mmap);
  EXPECT_EQ(parse_file_io("read"), FileIo::read);
  EXPECT_THROW(parse_file_io("fread"), UsageError);
}

}  // namespace
}  // namespace csrkit
