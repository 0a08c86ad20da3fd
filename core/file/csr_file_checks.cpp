#include "core/file/csr_file_checks.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/error.h"

namespace csrkit {

using namespace csr_layout;

void fail_at(const std::string& path, std::uint64_t at, const std::string& what) {
  throw InputError(path + ": byte " + std::to_string(at) + ": " + what);
}

void fail_checksum(const std::string& path, const std::string& section, std::uint64_t begin,
                   std::uint64_t end, std::uint64_t expected, std::uint64_t found) {
  fail_at(path, begin,
          "expected the bytes up to " + std::to_string(end) + ", in section " + section +
              ", to have checksum " + hex_word(expected) + ", found " + hex_word(found) +
              "; the file is damaged, copy or create it again");
}

std::string hex_word(std::uint64_t word) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(word));
  return text;
}

DecodedHeader read_header(const InputFile& file) {
  std::array<unsigned char, kHeaderBytes> bytes;
  const std::uint64_t available = std::min(file.size_bytes(), kHeaderBytes);
  file.read_at(0, bytes.data(), available);
  return decode_header(bytes.data(), available, file.size_bytes(), file.path());
}

void require_table_checksum(const std::string& path, const DecodedHeader& decoded,
                            const std::uint64_t* checksums) {
  const CsrSection& table = decoded.header.sections.back();
  const std::uint64_t found = checksum_of(checksums, table.size_bytes);
  if (found == decoded.table_checksum) return;
  fail_at(path, table.offset_bytes,
          "expected section checksums with checksum " + hex_word(decoded.table_checksum) +
              ", found " + hex_word(found) + "; the file is damaged, copy or create it again");
}

Permutation order_in(const std::string& path, const CsrSection& section, const Index* new_of_old) {
  return Permutation::from_new_of_old(
      Buffer<Index>::copy_of(new_of_old, static_cast<Offset>(section.size_bytes / sizeof(Index))),
      path + ": byte " + std::to_string(section.offset_bytes) + ": expected section " +
          section.name + " to be a permutation (create the file again), found");
}

void require_utf8(const std::string& path, const CsrSection& provenance, const char* text) {
  const std::uint64_t bad = first_invalid_utf8(text, provenance.size_bytes);
  if (bad == provenance.size_bytes) return;
  fail_at(path, provenance.offset_bytes + bad,
          "expected UTF-8 text in section provenance, found byte " +
              std::to_string(static_cast<unsigned char>(text[bad])) + "; create the file again");
}

}  // namespace csrkit
