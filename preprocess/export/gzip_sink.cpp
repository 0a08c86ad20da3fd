// gzip in parallel: the text is cut into blocks, threads deflate them, and the stream is one member
// as any program reads it. A block ends at a byte, and knows the text before it, so that matches
// reach back across its beginning. The same way as pigz (Adler, 2007).
#include <omp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "preprocess/export/byte_sink.h"

namespace csrkit {

namespace {

/// The bytes of the stream depend on the size of blocks, not on the number of threads.
constexpr std::size_t kBlockBytes = 1 << 20;
constexpr std::size_t kWindowBytes = 1 << 15;  // how far matches reach back
constexpr std::size_t kStepBytes = 1 << 18;

struct Block {
  std::string text, deflated;
  uLong crc = 0;
};

/// Deflates `block` after the text `before`. Throws MemoryError.
void deflate_block(Block& block, const std::string& before, bool is_last) {
  z_stream stream = {};
  constexpr int kNoHeader = -15, kMemoryLevel = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kNoHeader, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw MemoryError("not enough memory to compress");
  }
  const auto* const bytes = reinterpret_cast<const Bytef*>(block.text.data());
  const auto* const window = reinterpret_cast<const Bytef*>(before.data());
  const std::size_t known = std::min(before.size(), kWindowBytes);
  if (known > 0) {
    deflateSetDictionary(&stream, window + (before.size() - known), static_cast<uInt>(known));
  }
  block.crc = crc32(crc32(0, nullptr, 0), bytes, static_cast<uInt>(block.text.size()));
  stream.next_in = const_cast<Bytef*>(bytes);  // zlib does not write there
  stream.avail_in = static_cast<uInt>(block.text.size());
  block.deflated.clear();
  try {
    do {
      const std::size_t done = block.deflated.size();
      block.deflated.resize(done + kStepBytes);
      stream.next_out = reinterpret_cast<Bytef*>(block.deflated.data()) + done;
      stream.avail_out = static_cast<uInt>(kStepBytes);
      deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
      block.deflated.resize(done + kStepBytes - stream.avail_out);
    } while (stream.avail_out == 0);
  } catch (...) {
    deflateEnd(&stream);
    throw;
  }
  deflateEnd(&stream);
}

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(const std::string& path) : file_(path), crc_(crc32(0, nullptr, 0)) {
    // deflate, no flags, no time, no level, no system
    constexpr std::array<unsigned char, 10> kHeader = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    file_.write(kHeader.data(), kHeader.size());
  }

  void write(const char* data, std::size_t bytes) override {
    while (bytes > 0) {
      if (blocks_[filled_].text.size() == kBlockBytes && ++filled_ == blocks_.size())
        write_blocks();
      std::string& text = blocks_[filled_].text;
      const std::size_t step = std::min(bytes, kBlockBytes - text.size());
      text.append(data, step);
      data += step;
      bytes -= step;
    }
  }

  void finish() override {
    ++filled_;
    write_blocks(/*are_last=*/true);
    std::array<unsigned char, 8> trailer;
    for (unsigned i = 0; i < 4; ++i) {
      trailer[i] = static_cast<unsigned char>(crc_ >> 8 * i);
      trailer[4 + i] = static_cast<unsigned char>(text_bytes_ >> 8 * i);
    }
    file_.write(trailer.data(), trailer.size());
    file_.commit();
  }

 private:
  /// Deflates and writes the filled blocks.
  void write_blocks(bool are_last = false) {
    const auto count = static_cast<int>(filled_);
    bool is_out_of_memory = false;  // exceptions must not leave a parallel region
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < count; ++i) {
      const auto n = static_cast<std::size_t>(i);
      try {
        deflate_block(blocks_[n], n == 0 ? before_ : blocks_[n - 1].text,
                      are_last && i == count - 1);
      } catch (const std::exception&) {
#pragma omp atomic write
        is_out_of_memory = true;
      }
    }
    if (is_out_of_memory) throw MemoryError(file_.path() + ": not enough memory to compress");
    const std::string& last = blocks_[filled_ - 1].text;
    before_.assign(last, last.size() - std::min(last.size(), kWindowBytes));
    for (std::size_t n = 0; n < filled_; ++n) {
      Block& block = blocks_[n];
      file_.write(block.deflated.data(), block.deflated.size());
      crc_ = crc32_combine(crc_, block.crc, static_cast<z_off_t>(block.text.size()));
      text_bytes_ += block.text.size();
      block.text.clear();
    }
    filled_ = 0;
  }

  AtomicFile file_;
  std::vector<Block> blocks_{static_cast<std::size_t>(std::max(1, 4 * omp_get_max_threads()))};
  std::size_t filled_ = 0;  // blocks before it are full
  std::string before_;      // the block before the first
  uLong crc_;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ByteSink> gzip_sink(const std::string& path) {
  return std::make_unique<GzipSink>(path);
}

}  // namespace csrkit
