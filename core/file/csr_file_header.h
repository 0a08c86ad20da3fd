// What the header of a .csr file says; read_csr_header in core/file/csr_file.h reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/base/value_kind.h"

namespace csrkit {

/// Claims about a matrix that its header carries. sorted and unique hold in every version-1 file.
/// Symmetry flags are set only by writers that know; absent means unknown or not.
struct CsrFlags {
  bool is_sorted = true;
  bool is_unique = true;
  bool is_pattern_symmetric = false;
  bool is_value_symmetric = false;  // implies pattern symmetry
};

struct CsrSection {
  std::string name;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};

struct CsrFileHeader {
  std::uint32_t version = 0;
  ValueKind value_kind = ValueKind::none;
  Index rows = 0;
  Index cols = 0;
  Offset nnz = 0;
  CsrFlags flags;
  std::vector<CsrSection> sections;
  std::uint64_t file_bytes = 0;
};

}  // namespace csrkit
