#include "core/file/npy_map.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/file/file_memory.h"

namespace csrkit {

MappedNpy::MappedNpy(const NpyFile& file)
    : memory_(std::make_unique<FileMemory>(file.file(), 0, file.file().size_bytes(),
                                           /*is_mapped=*/true)),
      view_{memory_->at(file.header().data_offset), file.kind(), file.rows(), file.cols(),
            file.cols()} {}

MappedNpy::~MappedNpy() = default;

MappedNpyOutput::MappedNpyOutput(const std::string& path, Index rows, Index cols, ValueKind kind)
    : file_(path) {
  const std::string header = make_npy_header(npy_descr(kind), {rows, cols});
  bytes_ = header.size() + static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
                               static_cast<std::uint64_t>(size_of(kind));
  // Without room on the disk a write to the mapping would end the process.
  if (const int reason = ::posix_fallocate(file_.descriptor(), 0, static_cast<off_t>(bytes_));
      reason != 0) {
    throw IoError("cannot write '" + path + "': there is no room for its " +
                  counted(bytes_, "byte") + ": " + std::strerror(reason));
  }
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor(), 0);
  if (memory_ == MAP_FAILED) {
    memory_ = nullptr;
    throw IoError("cannot write '" + path + "': it cannot be mapped: " + std::strerror(errno));
  }
  std::memcpy(memory_, header.data(), header.size());
  view_ = {static_cast<char*>(memory_) + header.size(), kind, rows, cols, cols};
}

MappedNpyOutput::~MappedNpyOutput() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

void MappedNpyOutput::commit() { file_.commit(); }

}  // namespace csrkit
