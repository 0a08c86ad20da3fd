#include "preprocess/import/source/headed_source.h"

#include <algorithm>

namespace csrkit {

HeadedSource::HeadedSource(std::unique_ptr<ByteSource> source)
    : ByteSource(source->name(), source->limits()), source_(std::move(source)) {
  constexpr std::size_t kHeadBytes = 1 << 16;
  head_.resize(kHeadBytes);
  std::size_t size = 0;
  while (size < kHeadBytes && !is_whole_) {
    const std::size_t count = source_->read(head_.data() + size, kHeadBytes - size);
    is_whole_ = count == 0;
    size += count;
  }
  head_.resize(size);
}

std::size_t HeadedSource::read(char* to, std::size_t capacity) {
  const std::size_t count = std::min(capacity, head_.size() - head_given_);
  std::copy_n(head_.data() + head_given_, count, to);
  head_given_ += count;
  return count < capacity ? count + source_->read(to + count, capacity - count) : count;
}

}  // namespace csrkit
