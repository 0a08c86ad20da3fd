#include "core/file/file_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "core/base/error.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = 2ull << 20;

}  // namespace

FileMemory::FileMemory(const InputFile& file, std::uint64_t begin, std::uint64_t end,
                       bool is_mapped)
    : begin_(begin), bytes_(std::max<std::uint64_t>(end - begin, 1)), is_mapped_(is_mapped) {
  if (is_mapped) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.descriptor(),
                     static_cast<off_t>(begin));
    if (memory_ == MAP_FAILED && errno == ENOMEM) {
      throw MemoryError("not enough address space to map '" + file.path() + "': " +
                        std::to_string(bytes_) + " bytes are needed; raise the limit (ulimit -v)");
    }
    if (memory_ == MAP_FAILED) file.fail("it cannot be mapped (try --io read)", errno);
  } else {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
      throw MemoryError("not enough memory to read '" + file.path() + "': " +
                        std::to_string(bytes_) + " bytes are needed; map it instead (--io mmap)");
    }
    // Page faults cost as much as the copy itself; huge pages make 512 times fewer.
    if (bytes_ >= 2 * kHugePage) ::madvise(memory_, bytes_, MADV_HUGEPAGE);
  }
}

FileMemory::~FileMemory() { ::munmap(memory_, bytes_); }

void FileMemory::read_ahead() {
  if (is_mapped_) ::madvise(memory_, bytes_, MADV_WILLNEED);
}

void FileMemory::fetch(const InputFile& file, std::uint64_t offset, std::uint64_t bytes) {
  if (!is_mapped_) file.read_at(offset, at(offset), bytes);
#ifdef MADV_POPULATE_READ
  // Maps a chunk's pages in one call rather than one fault for 16 of them. Old kernels refuse.
  if (is_mapped_) {
    ::madvise(at(offset / kPage * kPage), bytes, MADV_POPULATE_READ);
  }
#endif
}

}  // namespace csrkit
