#include <numeric>

#include "core/file/csr_rows.h"
#include "tests/unit/core/part_samples.h"

namespace csrkit {
namespace {

constexpr FileIo kIos[] = {FileIo::automatic, FileIo::mmap, FileIo::read};

void expect_same_part(const RankPart& a, const RankPart& b) {
  EXPECT_TRUE(a.lists.head == b.lists.head);
  EXPECT_TRUE(a.lists.neighbours == b.lists.neighbours);
  EXPECT_TRUE(std::equal(a.lists.halo.begin(), a.lists.halo.end(), b.lists.halo.begin(),
                         b.lists.halo.end()));
  EXPECT_TRUE(std::equal(a.lists.sends.begin(), a.lists.sends.end(), b.lists.sends.begin(),
                         b.lists.sends.end()));
  EXPECT_TRUE(identical(a.own, b.own));
  EXPECT_TRUE(identical(a.halo, b.halo));
  EXPECT_TRUE(identical(a.pieces, b.pieces));
}

TEST(RankPart, IsReadAsItIsSplitInMemory) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 3, 12, 60}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      CsrFile file = with_all_sections(matrix);
      file.ranks = RankSections::of(matrix, {random_borders(matrix, parts, 4)});
      write_csr_file(path, file);
      for (Index part = 0; part < parts; ++part) {
        const RankPart wanted = part_of_matrix(matrix, file.ranks->lists(0, part), "memory");
        expect_same_part(read_rank_part(path, parts, part, kIos[part % 3], part % 2), wanted);
        expect_same_part(
            read_rank_part(path, parts, part, kIos[part % 3], part % 2, PartColumns::whole),
            part_of_matrix(matrix, file.ranks->lists(0, part), "memory", 1, PartColumns::whole));
      }
    }
  }
}

TEST(RankPart, PiecesOfSplitRowsAreReadWithoutTheRest) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  for (const auto& [name, matrix] : part_samples()) {
    for (const Index parts : {1, 3, 12, 60}) {
      if (parts > matrix.rows()) continue;
      SCOPED_TRACE(name + ", " + std::to_string(parts) + " parts");
      std::vector<Index> split;
      for (Index row = 0; row < std::min<Index>(matrix.rows(), 300); row += 3) split.push_back(row);
      CsrFile file = with_all_sections(matrix);
      file.ranks = RankSections::of(matrix, {random_borders(matrix, parts, 4)}, 0, {}, split);
      write_csr_file(path, file);
      EXPECT_TRUE(read_rank_heads(path)[0].parts == file.ranks->levels()[0].parts);
      for (Index part = 0; part < parts; ++part) {
        for (const PartColumns columns : {PartColumns::local, PartColumns::whole}) {
          const RankPart wanted =
              part_of_matrix(matrix, file.ranks->lists(0, part), "memory", 1, columns);
          expect_same_part(read_rank_part(path, parts, part, kIos[part % 3], part % 2, columns),
                           wanted);
        }
      }
    }
  }
}

/// A row of several chunks: its owner does not look at the pieces of others.
TEST(RankPart, DamageInAPieceIsFoundByThePartThatHasIt) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const Index size = 1 << 20;  // columns take 4 MiB
  std::vector<Offset> offsets(static_cast<std::size_t>(size) + 1, size);
  offsets[0] = 0;
  std::vector<Index> cols(static_cast<std::size_t>(size));
  std::iota(cols.begin(), cols.end(), 0);
  CsrFile file = just(
      make_csr(size, size, offsets, cols, std::vector<double>(cols.size(), 1), ValueKind::none));
  const std::vector<Index> split = {0};
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {4}, split), 0, {}, split);
  write_csr_file(path, file);
  const std::string good = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  for (Index damaged = 0; damaged < 4; ++damaged) {
    std::string bytes = good;
    bytes[sections[1].offset_bytes + (static_cast<std::uint64_t>(damaged) << 20) + 77] ^= 1;
    save_bytes(path, bytes);
    for (Index part = 0; part < 4; ++part) {
      if (part == damaged) {
        EXPECT_THROW(read_rank_part(path, 4, part), InputError) << part;
      } else {
        EXPECT_NO_THROW(read_rank_part(path, 4, part)) << part << ", damage in " << damaged;
      }
    }
  }
}

TEST(RankPart, WholeRowsAreNotToBeHadOfPartsThatSplitThem) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(hub_sample(40));
  const std::vector<Index> split = {13};
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {4}, split), 0, {}, split);
  write_csr_file(path, file);
  EXPECT_THROW(read_stored_part(path, 4, 0), UsageError);
}

TEST(RankPart, UndividedRowsStandAsInTheFile) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(random_csr(64, 400, 5, ValueKind::f32));
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {4}));
  write_csr_file(path, file);
  for (Index part = 0; part < 4; ++part) {
    const StoredPart stored = read_stored_part(path, 4, part, kIos[part % 3]);
    const PartLists lists = file.ranks->lists(0, part);
    EXPECT_TRUE(stored.lists.head == lists.head);
    EXPECT_TRUE(stored.lists.neighbours == lists.neighbours);
    EXPECT_TRUE(std::equal(stored.lists.halo.begin(), stored.lists.halo.end(), lists.halo.begin(),
                           lists.halo.end()));
    EXPECT_TRUE(
        identical(stored.rows, read_csr_rows(path, lists.head.row_begin, lists.head.row_end)));
  }
  EXPECT_THROW(read_stored_part(path, 3, 0), UsageError);
  EXPECT_THROW(read_stored_part(path, 4, 4), UsageError);
  // An entry that nobody will send a row of B for, under checksums that hold.
  std::string bytes = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const PartLists lists = file.ranks->lists(0, 0);
  Index absent = 399;
  while (std::count(lists.halo.begin(), lists.halo.end(), absent) > 0) --absent;
  ASSERT_GE(absent, lists.head.col_end);
  const Offset at = file.matrix.row_offsets()[1] - 1;  // row 0's last
  ASSERT_GE(at, 0);
  poke(bytes, sections[1].offset_bytes + 4 * static_cast<std::uint64_t>(at), absent);
  sign(bytes, sections);
  save_bytes(path, bytes);
  EXPECT_THROW(read_stored_part(path, 4, 0), InputError);
}

TEST(RankPart, AFileWithoutThatLevelIsRefusedWithWhatItHas) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(random_csr(64, 64, 5, ValueKind::f32));
  const auto refusal = [&](Index parts, Index part) -> std::string {
    try {
      read_rank_part(path, parts, part);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "not refused";
  };
  write_csr_file(path, file);
  EXPECT_EQ(refusal(2, 0),
            "'" + path + "' holds no parts for ranks; run csr-partition --method blocks --parts 2");
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {2, 4, 8}));
  write_csr_file(path, file);
  EXPECT_EQ(refusal(3, 0), "'" + path +
                               "' holds parts for 2, 4 and 8 ranks, not for 3; run csr-partition "
                               "--method blocks --parts 3");
  EXPECT_EQ(refusal(4, 4), "parts are numbered from 0 to 3, not 4");
  EXPECT_EQ(refusal(4, -1), "parts are numbered from 0 to 3, not -1");
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {1}));
  write_csr_file(path, file);
  EXPECT_EQ(refusal(3, 0),
            "'" + path +
                "' holds parts for 1 rank, not for 3; run csr-partition --method blocks --parts 3");
}

/// Several chunks in every section, each damaged in turn: exactly the parts whose bytes the chunk
/// covers refuse the file.
TEST(RankPart, DamageIsFoundByThoseWhoNeedTheBytes) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  constexpr Index kParts = 8;
  CsrFile file = just(random_csr(400000, 400000, 9, ValueKind::f32));
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {2, kParts}));
  write_csr_file(path, file);
  const std::string good = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::vector<PartLevel> levels = read_rank_heads(path);
  const std::vector<PartHead>& heads = levels[1].parts;
  const auto needs = [&](Index part, const std::string& name) {
    const PartHead& head = heads[static_cast<std::size_t>(part)];
    const auto entry = [&](Index row) {
      return static_cast<std::uint64_t>(file.matrix.row_offsets()[row]) * 4;
    };
    using Range = std::pair<std::uint64_t, std::uint64_t>;
    if (name == "row_offsets") {
      return Range{static_cast<std::uint64_t>(head.row_begin) * 8,
                   (static_cast<std::uint64_t>(head.row_end) + 1) * 8};
    }
    if (name == "rank_lists") {
      const std::uint64_t begin = rank_layout::list_begin(levels, 1, part);
      return Range{begin, begin + rank_layout::record_bytes(head)};
    }
    if (name == "rank_heads") return Range{0, 1};
    return Range{entry(head.row_begin), entry(head.row_end)};
  };
  int refused = 0, taken = 0;
  for (std::size_t s = 0; s + 1 < sections.size(); ++s) {
    const std::uint64_t chunks =
        (sections[s].size_bytes + csr_layout::kChunkBytes - 1) / csr_layout::kChunkBytes;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const std::uint64_t begin = chunk * csr_layout::kChunkBytes;
      const std::uint64_t at = sections[s].offset_bytes + begin + 5;
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 64);
      save_bytes(path, bytes);
      for (Index part = 0; part < kParts; ++part) {
        const auto [from, to] = needs(part, sections[s].name);
        const bool is_covered = from < begin + csr_layout::kChunkBytes && to > begin;
        try {
          read_rank_part(path, kParts, part, part % 2 == 0 ? FileIo::mmap : FileIo::read, 1);
          EXPECT_FALSE(is_covered) << sections[s].name << " chunk " << chunk << " part " << part;
          ++taken;
        } catch (const InputError& error) {
          const std::string message = error.what();
          EXPECT_TRUE(is_covered) << message;
          EXPECT_EQ(
              message.find(path + ": byte " + std::to_string(at - 5) + ": expected the bytes"), 0u)
              << message;
          EXPECT_NE(message.find("section " + sections[s].name), std::string::npos) << message;
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(taken, 50);
  std::string bytes = good;
  bytes[sections.back().offset_bytes + 3] =
      static_cast<char>(bytes[sections.back().offset_bytes + 3] ^ 1);
  save_bytes(path, bytes);
  EXPECT_THROW(read_rank_part(path, kParts, 0), InputError);
}

/// Wrong numbers under right checksums: nothing is followed before it is checked.
TEST(RankPart, WrongNumbersAreRefusedBeforeTheyAreUsed) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(random_csr(64, 64, 5, ValueKind::f32));
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {2, 4}));
  write_csr_file(path, file);
  const std::string good = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const PartHead head = read_rank_heads(path)[1].parts[1];
  const std::uint64_t offsets = sections[0].offset_bytes, columns = sections[1].offset_bytes;
  const auto refusal = [&](std::uint64_t at, auto value) -> std::string {
    std::string bytes = good;
    poke(bytes, at, value);
    sign(bytes, sections);
    save_bytes(path, bytes);
    try {
      read_rank_part(path, 4, 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "not refused";
  };
  for (const Index row : {head.row_begin, head.row_begin + 3, head.row_end}) {
    for (const Offset wrong : {Offset{-1}, Offset{1} << 50}) {
      const std::uint64_t at = offsets + static_cast<std::uint64_t>(row) * 8;
      EXPECT_EQ(refusal(at, wrong).find(path + ": byte " + std::to_string(at) +
                                        ": expected row_offsets that lead from "),
                0u);
    }
  }
  const auto first = static_cast<std::uint64_t>(file.matrix.row_offsets()[head.row_begin]);
  for (const Index wrong : {-1, 64, std::numeric_limits<Index>::max()}) {
    EXPECT_NE(
        refusal(columns + 4 * first, wrong).find("expected columns that ascend within [0, 64)"),
        std::string::npos);
  }
}

TEST(RankPart, OrdersAreReadAloneAndLookedAt) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(random_csr(8, 4, 2, ValueKind::f32));
  file.provenance = "{}";
  write_csr_file(path, file);
  EXPECT_FALSE(read_csr_beside(path).row_order || read_csr_beside(path).col_order);
  EXPECT_EQ(read_csr_beside(path).provenance, "{}");
  const std::vector<Index> rows{7, 6, 5, 4, 3, 2, 1, 0}, cols{1, 0, 3, 2};
  file.row_order = Permutation::from_new_of_old(Buffer<Index>::copy_of(rows.data(), 8), "rows");
  file.col_order = Permutation::from_new_of_old(Buffer<Index>::copy_of(cols.data(), 4), "columns");
  write_csr_file(path, file);
  const CsrFile beside = read_csr_beside(path);
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), beside.row_order->new_of_old()));
  EXPECT_TRUE(std::equal(cols.begin(), cols.end(), beside.col_order->new_of_old()));
  EXPECT_EQ(beside.matrix.rows(), 0);
  std::string bytes = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  poke(bytes, sections[4].offset_bytes, Index{0});  // twice
  save_bytes(path, bytes);
  EXPECT_THROW(read_csr_beside(path), InputError) << "a checksum";
  sign(bytes, sections);
  save_bytes(path, bytes);
  try {
    read_csr_beside(path);
    FAIL() << "no permutation";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("expected section col_new_of_old to be a permutation"),
              std::string::npos)
        << error.what();
  }
}

TEST(RankPart, HistoryIsReadAloneAndItsBytesAreLookedAt) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  CsrFile file = just(random_csr(8, 8, 2, ValueKind::f32));
  write_csr_file(path, file);
  EXPECT_EQ(read_csr_provenance(path), "");
  file.provenance = R"({"steps": []})";
  write_csr_file(path, file);
  EXPECT_EQ(read_csr_provenance(path), file.provenance);
  std::string bytes = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  const std::uint64_t at = sections[3].offset_bytes + 5;
  poke(bytes, at, std::uint8_t{0xff});
  save_bytes(path, bytes);
  EXPECT_THROW(read_csr_provenance(path), InputError) << "a checksum";
  sign(bytes, sections);
  save_bytes(path, bytes);
  try {
    read_csr_provenance(path);
    FAIL() << "no UTF-8";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find(path + ": byte " + std::to_string(at)), 0u)
        << error.what();
  }
}

TEST(RankPart, RowsAndOffsetsAreReadAloneAndLookedAt) {
  const ScratchFolder folder;
  const std::string path = folder / "a.csr";
  const CsrFile file = just(random_csr(40, 30, 4, ValueKind::f64));
  write_csr_file(path, file);
  const Buffer<Offset> offsets = read_row_offsets(path);
  EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), file.matrix.row_offsets(),
                         file.matrix.row_offsets() + 41));
  EXPECT_EQ(read_csr_rows(path, 7, 7).rows(), 0);
  EXPECT_TRUE(identical(read_csr_rows(path, 0, 40), file.matrix));
  EXPECT_THROW(read_csr_rows(path, -1, 7), UsageError);
  EXPECT_THROW(read_csr_rows(path, 8, 7), UsageError);
  EXPECT_THROW(read_csr_rows(path, 8, 41), UsageError);
  const std::string good = load_bytes(path);
  const std::vector<CsrSection> sections = read_csr_header(path).sections;
  for (const std::uint64_t row : {0u, 3u, 40u}) {
    for (const Offset wrong : {Offset{-1}, Offset{1} << 50}) {
      std::string bytes = good;
      const std::uint64_t at = sections[0].offset_bytes + row * 8;
      poke(bytes, at, wrong);
      sign(bytes, sections);
      save_bytes(path, bytes);
      try {
        read_row_offsets(path);
        ADD_FAILURE() << row << ": " << wrong;
      } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find(path + ": byte "), 0u) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace csrkit
