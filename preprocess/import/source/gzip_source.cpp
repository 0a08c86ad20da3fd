#include "preprocess/import/source/gzip_source.h"

#include <algorithm>
#include <cstring>

#include "core/base/buffer.h"
#include "preprocess/import/source/archive_walk.h"
#include "preprocess/import/source/compression.h"
#include "preprocess/import/source/inflater.h"

namespace csrkit {

namespace {

constexpr Offset kChunkBytes = 1 << 18;

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> compressed, std::uint64_t limit_bytes)
      : ByteSource(compressed->name(), compressed->limits()),
        compressed_(std::move(compressed)),
        limit_bytes_(limit_bytes) {}

  bool is_compressed() const override { return true; }

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t wanted = capacity;
    while (capacity > 0 && !is_at_end_) {
      const std::size_t made = inflate_some(to, capacity);
      to += made;
      capacity -= made;
    }
    const std::size_t done = wanted - capacity;
    if (size_ == 0) require_compressed_once({to - done, done}, name());
    size_ += done;
    if (size_ > limit_bytes_) refuse_expansion(name(), limit_bytes_);
    return done;
  }

 private:
  std::size_t inflate_some(char* to, std::size_t capacity) {
    if (!is_in_member_) {
      refill();
      if (members_done_ > 0) skip_zeros();
      is_at_end_ = input_.empty();
      if (is_at_end_) return 0;
      constexpr std::string_view kBegin = "\x1f\x8b";
      if (members_done_ > 0 && kBegin.substr(0, input_.size()) != input_.substr(0, 2)) {
        refuse("what follows begins no other stream");
      }
      is_in_member_ = true;
    }
    if (input_.empty()) refill();
    // Without input, too: output that had no room waits inside.
    const Inflated step = inflater_.inflate(input_, to, capacity);
    input_.remove_prefix(step.bytes_read);
    position_ += step.bytes_read;
    if (step.state == Inflated::State::damaged) refuse(step.reason);
    if (step.state == Inflated::State::end_of_member) {
      ++members_done_;
      is_in_member_ = false;
      inflater_.begin_member();
    } else if (step.bytes_read == 0 && step.bytes_written == 0) {
      refuse("it ends too early");
    }
    return step.bytes_written;
  }

  /// Tapes and some programs fill the last block with zeros.
  void skip_zeros() {
    while (!input_.empty() && input_[0] == '\0') {
      const std::size_t zeros = std::min(input_.find_first_not_of('\0'), input_.size());
      input_.remove_prefix(zeros);
      position_ += zeros;
      if (input_.empty()) refill();
    }
  }

  /// Adds to what is left until the chunk is full: ISA-L wants the header of a member in one piece.
  void refill() {
    if (!compressed_->mapped().empty()) {
      if (!is_mapped_) input_ = compressed_->mapped();
      is_mapped_ = true;
      return;
    }
    if (chunk_.size() == 0) chunk_ = Buffer<char>(kChunkBytes);
    if (!input_.empty()) std::memmove(chunk_.data(), input_.data(), input_.size());
    std::size_t size = input_.size();
    while (size < static_cast<std::size_t>(kChunkBytes)) {
      const std::size_t count =
          compressed_->read(chunk_.data() + size, static_cast<std::size_t>(kChunkBytes) - size);
      if (count == 0) break;
      size += count;
    }
    input_ = {chunk_.data(), size};
  }

  [[noreturn]] void refuse(const char* reason) const {
    refuse_damaged_data(name(), position_, reason);
  }

  std::unique_ptr<ByteSource> compressed_;
  std::uint64_t limit_bytes_, size_ = 0;
  std::uint64_t position_ = 0;  // in the compressed bytes
  std::uint64_t members_done_ = 0;
  std::string_view input_;  // what is not inflated yet: of the mapped bytes, or of chunk_
  Buffer<char> chunk_;
  bool is_mapped_ = false, is_in_member_ = false, is_at_end_ = false;
  Inflater inflater_;
};

}  // namespace

std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> compressed,
                                      std::uint64_t limit_bytes) {
  return std::make_unique<GzipSource>(std::move(compressed), limit_bytes);
}

}  // namespace csrkit
