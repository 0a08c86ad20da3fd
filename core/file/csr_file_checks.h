// What the readers of whole .csr files and of single parts check alike, and how they refuse.
// Internal to core/file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/input_file.h"
#include "core/file/csr_file_layout.h"
#include "core/matrix/permutation.h"

namespace csrkit {

/// Chunks from which on they are checked by a team: waking it costs more than hashing fewer.
inline constexpr std::size_t kThreadsFromChunks = 8;

/// Throws InputError: "path: byte N: what".
[[noreturn]] void fail_at(const std::string& path, std::uint64_t at, const std::string& what);

/// Refuses the bytes [begin, end) of a section, whose checksum is another one.
[[noreturn]] void fail_checksum(const std::string& path, const std::string& section,
                                std::uint64_t begin, std::uint64_t end, std::uint64_t expected,
                                std::uint64_t found);

/// 16 hexadecimal digits.
std::string hex_word(std::uint64_t word);

/// Reads and checks the header. Throws InputError.
csr_layout::DecodedHeader read_header(const InputFile& file);

/// Throws InputError unless the table of checksums, in memory at `checksums`, has the checksum that
/// the header names.
void require_table_checksum(const std::string& path, const csr_layout::DecodedHeader& decoded,
                            const std::uint64_t* checksums);

/// One of the two orders, in memory at `new_of_old`. Throws InputError.
Permutation order_in(const std::string& path, const CsrSection& section, const Index* new_of_old);

/// Throws InputError unless the provenance, in memory at `text`, is UTF-8.
void require_utf8(const std::string& path, const CsrSection& provenance, const char* text);

}  // namespace csrkit
