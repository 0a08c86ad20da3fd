// Zip archives with one matrix in them.
#include <gtest/gtest.h>

#include "preprocess/export/byte_sink.h"
#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

std::string zip(const ScratchFolder& scratch,
                const std::vector<std::pair<std::string, std::string>>& members) {
  ZipWriter writer(scratch / "a.zip");
  for (const auto& [name, content] : members) {
    writer.begin_member(name, content.size());
    writer.write(content.data(), content.size());
  }
  writer.finish();
  return scratch / "a.zip";
}

constexpr char kMarket[] = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";

TEST(ZipArchive, HoldsOneMatrix) {
  const ScratchFolder scratch;
  const ImportResult market =
      import_matrix(zip(scratch, {{"readme.txt", "a note"}, {"g/g.mtx", kMarket}, {"x.png", "x"}}));
  EXPECT_EQ(market.format, "zip");
  EXPECT_EQ(market.notes.at("member"), "g/g.mtx");
  EXPECT_EQ(text_of(market.matrix), "2x2: 0,1");
  std::string long_list = "% a comment\n";
  for (int i = 0; i < 20000; ++i) long_list += std::to_string(i) + " 0\n";
  const ImportResult edges =
      import_matrix(zip(scratch, {{"g.edges", long_list}, {"__MACOSX/._g.edges", "x"}}));
  EXPECT_EQ(edges.matrix.rows(), 20000);
  EXPECT_EQ(edges.notes.at("format of the member"), "edge-list");
  EXPECT_EQ(edges.inputs.size(), 1u);
  EXPECT_EQ(edges.inputs[0].path, scratch / "a.zip");
}

/// The bytes of an archive whose members have one more flag, of 16 bits.
std::string flagged(std::string bytes, int flag) {
  const std::pair<std::string, std::size_t> places[] = {{"PK\x03\x04", 6}, {"PK\x01\x02", 8}};
  for (const auto& [head, place] : places) {
    for (auto at = bytes.find(head); at != std::string::npos; at = bytes.find(head, at + 1)) {
      bytes[at + place] = static_cast<char>(bytes[at + place] | (flag & 0xff));
      bytes[at + place + 1] = static_cast<char>(bytes[at + place + 1] | (flag >> 8));
    }
  }
  return bytes;
}
constexpr int kEncrypted = 1, kNamesInUtf8 = 1 << 11;  // as most programs write them

TEST(ZipArchive, IsNotReadWithAPassword) {
  const ScratchFolder scratch;
  const std::string plain = zip(scratch, {{"g.mtx", kMarket}});
  const std::string secret = scratch.write("b.zip", flagged(content_of(plain), kEncrypted));
  try {
    import_matrix(secret);
    FAIL() << "a secret was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("found an encrypted archive; unpack it"),
              std::string::npos)
        << error.what();
  }
}

TEST(ZipArchive, NamesMayHaveAnyCharacters) {
  const ScratchFolder scratch;
  const std::string name = "\xc3\xa9t\xc3\xa9/\xe7\xbd\x91.mtx";
  const std::string plain = zip(scratch, {{"\xc3\xbc.md", "x"}, {name, kMarket}});
  const std::string marked = scratch.write("b.zip", flagged(content_of(plain), kNamesInUtf8));
  for (const std::string& path : {plain, marked}) {
    const ImportResult got = import_matrix(path);
    EXPECT_EQ(got.notes.at("member"), name);
    EXPECT_EQ(text_of(got.matrix), "2x2: 0,1");
  }
}

TEST(ZipArchive, ParametersGoToListsOfEdges) {
  const ScratchFolder scratch;
  ImportOptions options;
  options.parameters = {{"base", "1"}, {"rows", "5"}, {"cols", "5"}};
  EXPECT_EQ(text_of(import_matrix(zip(scratch, {{"g.txt", "2 3\n"}}), options).matrix), "5x5: 1,2");
  EXPECT_THROW(import_matrix(zip(scratch, {{"g.mtx", kMarket}}), options), UsageError);
}

TEST(ZipArchive, RefusesWhatIsNotOneMatrix) {
  const ScratchFolder scratch;
  const auto refusal = [&](const std::vector<std::pair<std::string, std::string>>& members) {
    return message_of<InputError>([&] { import_matrix(zip(scratch, members)); });
  };
  EXPECT_NE(refusal({{"a.mtx", kMarket}, {"b.mtx", kMarket}}).find("found a.mtx, b.mtx"),
            std::string::npos);
  EXPECT_NE(refusal({{"a.mtx", "no banner\n"}}).find("expected Matrix Market or a list"),
            std::string::npos);
  // The sizes of Matrix Market would be the first edge of a list.
  for (const char* name : {"a.mtx", "g/A.MTX"}) {
    EXPECT_NE(refusal({{name, "3 3 1\n1 2 1\n"}}).find("found edge-list in its content; unpack"),
              std::string::npos);
  }
  EXPECT_NE(refusal({{"a.bin", "x"}}).find("expected a file of a known format"), std::string::npos);
  EXPECT_NE(refusal({{"model/data.pkl", "x"}}).find("a PyTorch file"), std::string::npos);
}

}  // namespace
}  // namespace csrkit
