#include "tests/soak/fuzz/parsers.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/file_digest.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_layout.h"
#include "core/file/csr_rows.h"
#include "core/file/npy_file.h"
#include "core/file/plan_file.h"
#include "preprocess/import/import.h"
#include "tools/bench/record_file.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/provenance.h"
#include "tools/forecast/profile_file.h"

namespace csrkit::fuzz {

namespace {

using Words = std::vector<std::string>;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::function<void(const std::string&)> importing(const std::string& format,
                                                  const ParameterValues& parameters = {}) {
  return [format, parameters](const std::string& path) {
    ImportOptions options;
    options.format = format;
    options.parameters = parameters;
    validate(import_matrix(path, options).matrix, path);
  };
}

void read_csr(const std::string& path) {
  for (const FileIo io : {FileIo::read, FileIo::mmap}) {
    CsrReadOptions options;
    options.io = io;
    const CsrFile file = read_csr_file(path, options);
    validate(file.matrix, path);
    parse_provenance(file.provenance);
  }
}

/// What one of several ranks reads: pieces of the file, checked by what covers them.
void read_csr_pieces(const std::string& path) {
  parse_provenance(read_csr_provenance(path));
  for (const PartLevel& level : read_rank_heads(path)) {
    const auto parts = static_cast<Index>(level.parts.size());
    for (const Index part : {Index{0}, parts / 2, parts - 1}) {
      const RankPart mine =
          read_rank_part(path, parts, part, part == 0 ? FileIo::mmap : FileIo::read);
      validate(mine.own, path);
      validate(mine.halo, path);
      validate(mine.pieces, path);
    }
  }
  const auto rows = static_cast<Index>(read_row_offsets(path).size() - 1);
  read_csr_rows(path, rows / 3, rows - rows / 3);
}

void put(std::string& bytes, std::uint64_t at, std::uint64_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

/// The checksums of the sections where the header's own numbers say they are, then the header's.
void sign_csr(std::string& bytes) {
  using namespace csr_layout;
  if (bytes.size() < kHeaderBytes) return;
  put(bytes, kHeaderChecksumAt, checksum_of(bytes.data(), kHeaderChecksumAt));
  try {
    const DecodedHeader decoded = decode_header(
        reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), bytes.size(), "");
    const std::vector<CsrSection>& sections = decoded.header.sections;
    const CsrSection& table = sections.back();
    std::uint64_t to = table.offset_bytes;
    for (std::size_t s = 0; s + 1 < sections.size(); ++s) {
      const std::uint64_t end = sections[s + 1].offset_bytes;
      for (std::uint64_t at = sections[s].offset_bytes; at < end; at += kChunkBytes, to += 8) {
        put(bytes, to, checksum_of(bytes.data() + at, std::min(kChunkBytes, end - at)));
      }
    }
    put(bytes, kTableChecksumAt, checksum_of(bytes.data() + table.offset_bytes, table.size_bytes));
    put(bytes, kHeaderChecksumAt, checksum_of(bytes.data(), kHeaderChecksumAt));
  } catch (const InputError&) {  // sections that no reader will look for
  }
}

// A .csr file is mostly padding up to whole pages. Packed, it is a mark, the header as far as it
// names sections, and their contents, without checksums.
constexpr char kPackedMark = 'P';
constexpr std::uint64_t kPackedHeaderBytes =
    csr_layout::kSectionsAt + csr_layout::kSectionSlots * csr_layout::kSlotBytes;
constexpr std::uint64_t kMostUnpackedBytes = 1 << 20;

std::string pack_csr(const std::string& bytes) {
  using namespace csr_layout;
  try {
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto decoded =
        decode_header(data, std::min<std::uint64_t>(bytes.size(), kHeaderBytes), bytes.size(), "");
    std::string packed = kPackedMark + bytes.substr(0, kPackedHeaderBytes);
    for (const CsrSection& section : decoded.header.sections) {
      if (section.name == kChecksums) continue;
      packed += bytes.substr(section.offset_bytes, section.size_bytes);
    }
    return packed;
  } catch (const InputError&) {  // nothing to go by
    return bytes;
  }
}

std::string unpack_csr(const std::string& packed) {
  using namespace csr_layout;
  if (packed.empty() || packed[0] != kPackedMark) return packed;
  std::string bytes = packed.substr(1, kPackedHeaderBytes);
  bytes.resize(kHeaderBytes);
  put(bytes, kHeaderChecksumAt, checksum_of(bytes.data(), kHeaderChecksumAt));
  std::uint64_t file_bytes = 0;
  std::memcpy(&file_bytes, bytes.data() + kFileBytesAt, sizeof file_bytes);
  if (file_bytes > kMostUnpackedBytes) return bytes;
  try {
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    const CsrFileHeader header = decode_header(data, kHeaderBytes, file_bytes, "").header;
    bytes.resize(file_bytes);
    std::size_t from = 1 + kPackedHeaderBytes;
    for (const CsrSection& section : header.sections) {
      if (section.name == kChecksums || from >= packed.size()) continue;
      const std::string content = packed.substr(from, section.size_bytes);
      bytes.replace(section.offset_bytes, content.size(), content);
      from += section.size_bytes;
    }
  } catch (const InputError&) {  // a header that is refused, whatever follows it
  }
  return bytes;
}

constexpr char kPlanHead[] = "csrkit-plan 2 ";

void sign_plan(std::string& bytes) {
  const std::size_t body = sizeof kPlanHead - 1 + 32 + 1;
  if (bytes.size() < body) return;
  bytes.replace(0, body, kPlanHead + digest_bytes(bytes.data() + body, bytes.size() - body) + "\n");
}

/// A folder as one file: "=== NAME" begins each of its files.
void read_ogb(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string folder = path + ".folder";
  fs::remove_all(folder);
  fs::create_directories(folder + "/raw");
  const std::string bytes = content_of(path);
  const std::string mark = "=== ";
  for (std::size_t at = bytes.find(mark); at != std::string::npos;) {
    const std::size_t line_end = std::min(bytes.find('\n', at), bytes.size() - 1);
    const std::size_t next = bytes.find(mark, line_end);
    const std::string name = bytes.substr(at + mark.size(), line_end - at - mark.size());
    const bool is_plain = !name.empty() && name.size() < 100 &&
                          name.find_first_of(std::string("/\0", 2)) == std::string::npos &&
                          name.find_first_not_of('.') != std::string::npos;
    if (is_plain) {
      std::ofstream(folder + "/raw/" + name, std::ios::binary)
          << bytes.substr(line_end + 1, next - line_end - 1);
    }
    at = next;
  }
  importing("ogb", {{"add-inverse", "true"}})(folder);
}

void read_any_plan(const std::string& path) { read_plan(path, {}); }

const Words kNumbers = {
    "\n",   "\r\n", " ",   "\t", "-", "+",  ".", "e", "1e99", "nan",          "inf",
    "-inf", "1.5",  "0x1", "%",  "#", "//", ",", ";", "\"",   "\xef\xbb\xbf", std::string(1, '\0')};
const Words kJson = {"{",       "}",       "[",        "]",  ",",           ":",     "\"",
                     "null",    "true",    "false",    "-1", "1e308",       "1e999", "\\u0000",
                     "\\ud800", "{\"a\":", "[[[[[[[[", "\n", "\"schema\":1"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

const std::vector<Parser>& parsers() {
  const Words market =
      with(kNumbers,
           {"%%MatrixMarket matrix ", "coordinate ", "array ", "real ", "integer ", "pattern ",
            "complex ", "general\n", "symmetric\n", "skew-symmetric\n", "hermitian\n", "1 1 1\n"});
  const Words numpy = {
      "\x93NUMPY",  "{'descr': '", "<i4",         "<i8",        "<f4",
      "<f8",        ">i4",         "|S3",         "|O",         "'fortran_order': True",
      "'shape': (", "), }",        "indices.npy", "indptr.npy", "format.npy",
      "shape.npy",  "data.npy",    "row.npy",     "PK\x03\x04", "PK\x01\x02"};
  static const std::vector<Parser> all = {
      {"csr", {}, read_csr, sign_csr, false, pack_csr, unpack_csr},
      {"ranks", {}, read_csr_pieces, sign_csr, false, pack_csr, unpack_csr},
      {"npy", numpy, [](const std::string& path) { read_npy(path); }},
      {"mtx", market, importing("matrix-market"), nullptr, true},
      {"compressed", {"\x1f\x8b\x08", "BZh9", "\x28\xb5\x2f\xfd"}, importing("matrix-market")},
      {"edges", kNumbers, importing("edge-list"), nullptr, true},
      {"metis", with(kNumbers, {"011", "111 1", "% "}), importing("metis-graph"), nullptr, true},
      {"npz", numpy, importing("npz")},
      {"tar", {"ustar", ".mtx", "000644 "}, importing("suitesparse-tar")},
      {"raw-csr", {}, importing("raw-csr")},
      {"gapbs", {}, importing("gapbs")},
      {"galois", {}, importing("galois", {{"edge-type", "f32"}})},
      {"petsc",
       {std::string("\0\x12\x7b\x50", 4), std::string("\0\x12\x7b\x4e", 4)},
       importing("petsc")},
      {"smtx", kNumbers, importing("smtx"), nullptr, true},
      {"zip", {"PK\x03\x04", "PK\x01\x02", ".mtx", ".edges", ".gz"}, importing("zip")},
      {"ogb",
       with(kNumbers, {"=== edge.csv\n", "=== num-node-list.csv\n", "=== edge-weight.csv\n"}),
       read_ogb, nullptr, true},
      {"detect", with(market, numpy), importing("auto"), nullptr, true},
      {"records", with(kJson, {"\"case\":", "\"status\":\"done\"", "cpu.spmm.auto"}),
       [](const std::string& path) { read_records(path); }},
      {"json", kJson, [](const std::string& path) { parse_json(content_of(path), path, "none"); }},
      {"provenance", kJson, [](const std::string& path) { parse_provenance(content_of(path)); }},
      {"profile", with(kJson, {"\"gather\":", "\"devices\":", "\"table_bytes\":"}),
       [](const std::string& path) { read_machine_profile(path); }},
      {"plan", {"\n", "\n\n", " ", "kernel ", "kernel auto\n\n"}, read_any_plan, sign_plan},
  };
  return all;
}

}  // namespace csrkit::fuzz
