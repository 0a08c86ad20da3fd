#include "core/file/rank_sections.h"

#include <numeric>

#include "tests/unit/core/part_samples.h"

namespace csrkit {
namespace {

using namespace rank_layout;

/// A file of 2 and 4 parts of a square matrix, all of which exchange columns.
CsrFile ranked_file() {
  CsrFile file = just(random_csr(24, 24, 5, ValueKind::f32));
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {2, 4}));
  return file;
}

/// The same with split rows, in which every part has entries.
CsrFile split_file() {
  CsrFile file = just(hub_sample(24));
  const std::vector<Index> split = {8, 12};
  file.ranks =
      RankSections::of(file.matrix, plain_blocks(file.matrix, {2, 4}, split), 0, {}, split);
  return file;
}

TEST(RankSections, ListsAreWhatTheRowsNeedAndWhatTheNeighboursSend) {
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 2, 4, 32, 64}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      const PartBorders borders = random_borders(matrix, parts, 9);
      const RankSections ranks = RankSections::of(matrix, {borders}, 2);
      std::vector<PartLists> all;
      all.reserve(static_cast<std::size_t>(parts));
      for (Index part = 0; part < parts; ++part) all.push_back(ranks.lists(0, part));
      for (Index part = 0; part < parts; ++part) {
        const PartLists& lists = all[static_cast<std::size_t>(part)];
        std::set<Index> needed;
        for (Offset e = matrix.row_offsets()[lists.head.row_begin];
             e < matrix.row_offsets()[lists.head.row_end]; ++e) {
          const Index col = matrix.col_indices()[e];
          if (col < lists.head.col_begin || col >= lists.head.col_end) needed.insert(col);
        }
        EXPECT_TRUE(std::equal(lists.halo.begin(), lists.halo.end(), needed.begin(), needed.end()));
        const Index* halo = lists.halo.data();
        for (const Neighbour& neighbour : lists.neighbours) {
          const PartLists& other = all[static_cast<std::size_t>(neighbour.part)];
          const Index* sends = other.sends.data();
          for (const Neighbour& to : other.neighbours) {
            if (to.part == part) {
              EXPECT_EQ(to.send_cols, neighbour.halo_cols);
              EXPECT_TRUE(std::equal(halo, halo + to.send_cols, sends));
            }
            sends += to.send_cols;
          }
          halo += neighbour.halo_cols;
        }
      }
    }
  }
}

TEST(RankSections, SurviveAFile) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  for (const auto& [name, matrix] : part_samples()) {
    for (const std::vector<Index>& levels :
         std::vector<std::vector<Index>>{{1}, {2, 4}, {3, 6, 24}, {2, 4, 8, 16, 32, 64}}) {
      if (levels.back() > matrix.rows()) continue;
      SCOPED_TRACE(name + ", up to " + std::to_string(levels.back()) + " parts");
      CsrFile file = with_all_sections(matrix);
      std::vector<Index> split;
      if (levels.size() == 2 && matrix.rows() > 8) split = {0, 5, 7};
      file.ranks = RankSections::of(matrix, plain_blocks(matrix, levels, split), 0, {}, split);
      write_csr_file(path, file);
      EXPECT_EQ(csr_layout::find(read_csr_header(path).sections, "split_rows") != nullptr,
                !split.empty());
      for (const FileIo io : {FileIo::mmap, FileIo::read}) {
        expect_same(read_csr_file(path, {io, {}}), file);
      }
      const std::vector<PartLevel> heads = read_rank_heads(path);
      ASSERT_EQ(heads.size(), levels.size());
      for (std::size_t l = 0; l < heads.size(); ++l) {
        EXPECT_TRUE(heads[l].parts == file.ranks->levels()[l].parts);
      }
      write_csr_file(path, with_all_sections(matrix));
      EXPECT_TRUE(read_rank_heads(path).empty());
    }
  }
}

TEST(RankSections, RefuseLevelsThatDoNotNest) {
  const CsrMatrix matrix = random_csr(64, 64, 5, ValueKind::f32);
  EXPECT_THROW(RankSections::of(matrix, {}), UsageError);
  EXPECT_THROW(RankSections::of(matrix, plain_blocks(matrix, {2, 3})), UsageError);
  EXPECT_THROW(RankSections::of(matrix, plain_blocks(matrix, {4, 2})), UsageError);
  EXPECT_THROW(RankSections::of(matrix, plain_blocks(matrix, {2, 2})), UsageError);
  EXPECT_THROW(RankSections::of(matrix, plain_blocks(matrix, {65})), UsageError);
  EXPECT_THROW(
      RankSections::of(matrix, {random_borders(matrix, 2, 1), random_borders(matrix, 4, 2)}),
      UsageError);
  PartBorders crossed = plain_blocks(matrix, {2}).front();
  ++crossed.cols[1];
  EXPECT_THROW(RankSections::of(matrix, {crossed}), UsageError);
  CsrFile file = ranked_file();
  file.matrix = random_csr(65, 65, 5, ValueKind::f32);
  const ScratchFolder folder;
  EXPECT_THROW(write_csr_file(folder / "a.csr", file), UsageError);
  EXPECT_TRUE(folder.names().empty());
}

/// Every word of the heads and every number of the lists, changed with all checksums right.
class ChangedNumbers : public ::testing::TestWithParam<CsrFile (*)()> {};
INSTANTIATE_TEST_SUITE_P(Whole, ChangedNumbers, ::testing::Values(ranked_file));
INSTANTIATE_TEST_SUITE_P(Split, ChangedNumbers, ::testing::Values(split_file));

TEST_P(ChangedNumbers, AreRefused) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  write_csr_file(path, GetParam()());
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::string good = load_bytes(path);
  const CsrSection& heads = *csr_layout::find(sections, csr_layout::kRankHeads);
  const CsrSection& lists = *csr_layout::find(sections, csr_layout::kRankLists);
  const auto expect_refused = [&](std::string bytes, const CsrSection& section, std::uint64_t at) {
    sign(bytes, sections);
    save_bytes(path, bytes);
    const std::string message = refusal_of(path, FileIo::read);
    EXPECT_EQ(message.find(path + ": byte "), 0u) << message;
    EXPECT_NE(message.find("expected "), std::string::npos) << section.name << " byte " << at;
  };
  // own_entries alone is a count that only the rows can contradict; split_part asks them.
  const auto is_own_entries = [](std::uint64_t word) {
    return word >= 3 && (word - 3) % kHeadWords == 5;
  };
  for (std::uint64_t word = 0; word < heads.size_bytes / 8; ++word) {
    std::int64_t value;
    std::memcpy(&value, good.data() + heads.offset_bytes + 8 * word, 8);
    for (const std::int64_t wrong :
         {value + 1, value - 1, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
      const bool is_next = wrong == value + 1 || wrong == value - 1;
      if (wrong == value || (is_own_entries(word) && is_next)) continue;
      std::string bytes = good;
      poke(bytes, heads.offset_bytes + 8 * word, wrong);
      expect_refused(bytes, heads, 8 * word);
    }
  }
  if (const CsrSection* split = csr_layout::find(sections, csr_layout::kSplitRows)) {
    for (std::uint64_t at = 0; at < split->size_bytes; at += 8) {
      std::int64_t value;
      std::memcpy(&value, good.data() + split->offset_bytes + at, 8);
      for (const std::int64_t wrong :
           {value + 1, value - 1, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
            std::numeric_limits<std::int64_t>::min()}) {
        std::string bytes = good;
        poke(bytes, split->offset_bytes + at, wrong);
        expect_refused(bytes, *split, at);
      }
    }
  }
  for (std::uint64_t at = 0; at < lists.size_bytes; at += 4) {
    Index value;
    std::memcpy(&value, good.data() + lists.offset_bytes + at, 4);
    for (const Index wrong : {value + 1, value - 1, -1}) {
      std::string bytes = good;
      poke(bytes, lists.offset_bytes + at, wrong);
      expect_refused(bytes, lists, at);
    }
  }
}

TEST(RankSections, EveryFaultIsNamedByItsByte) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  write_csr_file(path, ranked_file());
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::string good = load_bytes(path);
  const std::uint64_t heads = csr_layout::find(sections, csr_layout::kRankHeads)->offset_bytes;
  const std::uint64_t lists = csr_layout::find(sections, csr_layout::kRankLists)->offset_bytes;
  const auto expect = [&](std::uint64_t at, auto value, const char* text) {
    std::string bytes = good;
    poke(bytes, at, value);
    sign(bytes, sections);
    save_bytes(path, bytes);
    for (const FileIo io : {FileIo::read, FileIo::mmap}) {
      const std::string message = refusal_of(path, io);
      EXPECT_NE(message.find(": byte " + std::to_string(at) + ": expected " + text),
                std::string::npos)
          << message;
    }
  };
  const auto word = [&](std::uint64_t index) { return heads + 8 * index; };
  expect(word(0), std::int64_t{0}, "1 to 16 levels of parts, found 0");
  expect(word(2), std::int64_t{5}, "numbers of parts up to 24, each a multiple of the one before");
  expect(word(3), std::int64_t{1}, "row_begin of part 0 of 2 to be 0, found 1");
  expect(word(3 + 10), std::int64_t{7}, "row_begin of part 1 of 2 to be ");
  expect(word(3 + 6), std::int64_t{0}, "halo_cols of part 0 of 2 to be in [1, ");
  expect(word(3 + 9), std::int64_t{64}, "lists_at to be 0, found 64");
  expect(lists, Index{0}, "ascending numbers of other parts as neighbours of part 0 of 2, found 0");
  expect(lists + 12, Index{1}, "a reserved 0 of part 0 of 2, found 1");
  expect(lists + 16, Index{0}, "columns of the halo that ascend within [");
}

TEST(RankSections, EveryFaultOfSplitRowsIsNamedByItsByte) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  write_csr_file(path, split_file());
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::string good = load_bytes(path);
  const std::uint64_t begin = csr_layout::find(sections, csr_layout::kSplitRows)->offset_bytes;
  const auto expect = [&](std::uint64_t word, std::int64_t value, const char* text) {
    std::string bytes = good;
    poke(bytes, begin + 8 * word, value);
    sign(bytes, sections);
    save_bytes(path, bytes);
    const std::string message = refusal_of(path, FileIo::mmap);
    EXPECT_NE(message.find(": byte " + std::to_string(begin + 8 * word) + ": expected " + text),
              std::string::npos)
        << message;
  };
  expect(0, 3, "a number of split rows that, with 5 places for each, takes 104 bytes, found 3");
  expect(1, 24, "split rows that ascend below 24, found 24");
  expect(2, 8, "split rows that ascend below 24, found 8");
  expect(3, -1, "places of entries that do not decrease, up to 69, found -1");
  expect(12, 70, "places of entries that do not decrease, up to 69, found 70");
  std::int64_t place;  // between two parts that do not own the row, so that no head contradicts it
  std::memcpy(&place, good.data() + begin + 8 * 6, 8);
  const std::string wanted = "the place of entry " + std::to_string(place) +
                             ", where the columns of a part begin in row 8, found ";
  expect(6, place + 1, wanted.c_str());
}

TEST(RankSections, SizesInTheTableAreNamedByTheirByte) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const auto expect = [&](const char* name, std::uint64_t size, const char* text) {
    write_csr_file(path, split_file());
    const std::vector<CsrSection> sections = read_csr_header(path).sections;
    const CsrSection* section = csr_layout::find(sections, name);
    const auto slot = static_cast<std::uint64_t>(section - sections.data());
    const std::uint64_t at = csr_layout::kSectionsAt + slot * csr_layout::kSlotBytes + 24;
    std::string bytes = load_bytes(path);
    poke(bytes, at, size);
    sign_header(bytes);
    save_bytes(path, bytes);
    const std::string message = refusal_of(path, FileIo::mmap);
    EXPECT_NE(message.find(": byte " + std::to_string(at) + ": expected " + text),
              std::string::npos)
        << message;
  };
  expect(csr_layout::kRankHeads, 9, "rank heads of words for at most ");
  expect(csr_layout::kRankLists, 65, "rank lists of a multiple of 64 bytes within the file");
  expect(csr_layout::kRankLists, 1ull << 40, "rank lists of a multiple of 64 bytes within the");
  expect(csr_layout::kSplitRows, 9, "split rows of words with their places, found 9 bytes");
}

TEST(RankSections, RowsOfTooManyPiecesAreRefused) {
  const CsrMatrix matrix = random_csr(20000, 20000, 1, ValueKind::none);
  std::vector<Index> all(20000);
  std::iota(all.begin(), all.end(), 0);
  try {
    RankSections::of(matrix, plain_blocks(matrix, {1000}), 0, {}, all);
    FAIL() << "taken";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("split fewer, longer rows"), std::string::npos);
  }
}

TEST(RankSections, TheHeaderAloneRefusesSizesThatCannotBe) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  write_csr_file(path, split_file());
  const std::string good = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  ASSERT_EQ(sections[3].name, "rank_heads");
  ASSERT_EQ(sections[4].name, "rank_lists");
  ASSERT_EQ(sections[5].name, "split_rows");
  for (const int slot : {3, 4, 5}) {
    for (const std::uint64_t wrong :
         {std::uint64_t{4}, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
      std::string bytes = good;
      poke(bytes, csr_layout::kSectionsAt + static_cast<std::uint64_t>(slot) * 32 + 24, wrong);
      sign_header(bytes);
      save_bytes(path, bytes);
      EXPECT_NE(
          refusal_of(path, FileIo::read).find(slot == 5 ? "expected split " : "expected rank "),
          std::string::npos);
    }
  }
}

}  // namespace
}  // namespace csrkit
