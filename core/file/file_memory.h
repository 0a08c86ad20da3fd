// Bytes of a file in memory: mapped, or read. Internal to core/file.
#pragma once

#include <cstdint>

#include "core/base/input_file.h"

namespace csrkit {

/// The bytes [begin, end) of a file in memory: a mapping of them, or memory to read into. Either
/// way arrays are used in place, so nothing is ever held twice. `begin` is a multiple of 4096.
class FileMemory {
 public:
  FileMemory(const InputFile& file, std::uint64_t begin, std::uint64_t end, bool is_mapped);
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  /// Says that all of it will be fetched soon; that alone takes a millisecond for each GB.
  void read_ahead();

  /// Makes these bytes present; called once for each chunk, by the thread that validates it.
  void fetch(const InputFile& file, std::uint64_t offset, std::uint64_t bytes);

  /// By their offset in the file.
  unsigned char* at(std::uint64_t offset) const {
    return static_cast<unsigned char*>(memory_) + (offset - begin_);
  }

 private:
  void* memory_ = nullptr;
  std::uint64_t begin_;
  std::uint64_t bytes_;
  bool is_mapped_;
};

}  // namespace csrkit
