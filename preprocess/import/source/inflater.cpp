#include "preprocess/import/source/inflater.h"

#include <algorithm>
#include <cstdint>

#include "core/base/error.h"

#ifdef CSRKIT_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

namespace csrkit {

namespace {

/// Both libraries count the bytes of a call in 32 bits.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

}  // namespace

#ifdef CSRKIT_HAVE_ISAL

struct Inflater::State {
  inflate_state stream;
};

Inflater::Inflater() : state_(std::make_unique<State>()) {
  isal_inflate_init(&state_->stream);
  begin_member();
}

Inflater::~Inflater() = default;

void Inflater::begin_member() {
  isal_inflate_reset(&state_->stream);
  state_->stream.crc_flag = ISAL_GZIP;
}

Inflated Inflater::inflate(std::string_view from, char* to, std::size_t capacity) {
  inflate_state& stream = state_->stream;
  // ISA-L writes through no pointer to its input, but takes one that could be.
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(from.data()));
  stream.avail_in = static_cast<std::uint32_t>(std::min(from.size(), kMostBytes));
  stream.next_out = reinterpret_cast<std::uint8_t*>(to);
  stream.avail_out = static_cast<std::uint32_t>(std::min(capacity, kMostBytes));
  const std::size_t given = stream.avail_in, room = stream.avail_out;
  const int status = isal_inflate(&stream);
  const std::size_t bytes_read = given - stream.avail_in, bytes_written = room - stream.avail_out;
  if (status == ISAL_INCORRECT_CHECKSUM) {
    return {Inflated::State::damaged, bytes_read, bytes_written, "its checksum does not match"};
  }
  if (status != ISAL_DECOMP_OK) {
    return {Inflated::State::damaged, bytes_read, bytes_written, "its blocks cannot be inflated"};
  }
  const bool is_at_end = stream.block_state == ISAL_BLOCK_FINISH;
  return {is_at_end ? Inflated::State::end_of_member : Inflated::State::more, bytes_read,
          bytes_written, ""};
}

const char* Inflater::library() { return "ISA-L"; }

#else

struct Inflater::State {
  z_stream stream{};
};

Inflater::Inflater() : state_(std::make_unique<State>()) {
  constexpr int kGzip = 16;  // added to the bits of the window: with gzip's header and trailer
  if (inflateInit2(&state_->stream, MAX_WBITS + kGzip) != Z_OK) {
    throw MemoryError("not enough memory to decompress");
  }
}

Inflater::~Inflater() { inflateEnd(&state_->stream); }

void Inflater::begin_member() { inflateReset(&state_->stream); }

Inflated Inflater::inflate(std::string_view from, char* to, std::size_t capacity) {
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));  // it only reads
  stream.avail_in = static_cast<uInt>(std::min(from.size(), kMostBytes));
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(std::min(capacity, kMostBytes));
  const std::size_t given = stream.avail_in, room = stream.avail_out;
  const int status = ::inflate(&stream, Z_NO_FLUSH);
  const std::size_t bytes_read = given - stream.avail_in, bytes_written = room - stream.avail_out;
  switch (status) {
    case Z_OK:
    case Z_BUF_ERROR: return {Inflated::State::more, bytes_read, bytes_written, ""};
    case Z_STREAM_END: return {Inflated::State::end_of_member, bytes_read, bytes_written, ""};
    case Z_MEM_ERROR: throw MemoryError("not enough memory to decompress");
    default:
      return {Inflated::State::damaged, bytes_read, bytes_written,
              stream.msg != nullptr ? stream.msg : "its blocks cannot be inflated"};
  }
}

const char* Inflater::library() { return "zlib"; }

#endif

}  // namespace csrkit
