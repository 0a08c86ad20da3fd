#include "core/matrix/dense_block.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace csrkit {

namespace {

constexpr std::size_t kLine = 64;

/// Stores past the cache, so that no line is read before it is written; the caller fences.
void stream_row(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  const std::size_t off_line = reinterpret_cast<std::uintptr_t>(to) % kLine;
  std::size_t done = off_line == 0 ? 0 : std::min(kLine - off_line, bytes);
  std::memcpy(to, from, done);
  for (; done + kLine <= bytes; done += kLine) {
    __m128i words[kLine / sizeof(__m128i)];
    std::memcpy(words, from + done, kLine);
    auto* const line = reinterpret_cast<__m128i*>(to + done);
    for (std::size_t i = 0; i < kLine / sizeof(__m128i); ++i) _mm_stream_si128(line + i, words[i]);
  }
  std::memcpy(to + done, from + done, bytes - done);
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Copies line by line: for short rows a call of memcpy would cost as much as a line or two.
void copy_row(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::size_t done = 0;
  for (; done + kLine <= bytes; done += kLine) std::memcpy(to + done, from + done, kLine);
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace

void pack_rows(std::byte* to, PitchedRows<const std::byte> from, std::size_t row_bytes,
               Offset rows) {
  if (rows == 0 || row_bytes == 0) return;
  if (from.pitch_bytes == row_bytes) {
    std::memcpy(to, from.data, row_bytes * static_cast<std::size_t>(rows));
    return;
  }
  // No prefetcher sees ahead from piece to piece of long rows.
  constexpr std::size_t kAheadBytes = 2048;
  const auto count = static_cast<std::size_t>(rows), ahead = kAheadBytes / row_bytes + 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i + ahead < count) {
      const std::byte* const next = from.data + (i + ahead) * from.pitch_bytes;
      for (std::size_t line = 0; line < row_bytes; line += kLine) __builtin_prefetch(next + line);
    }
    copy_row(to + i * row_bytes, from.data + i * from.pitch_bytes, row_bytes);
  }
}

void unpack_rows(PitchedRows<std::byte> to, const std::byte* from, std::size_t row_bytes,
                 Offset rows) {
  if (rows == 0 || row_bytes == 0) return;
  const bool is_one = to.pitch_bytes == row_bytes;
  const auto count = is_one ? std::size_t{1} : static_cast<std::size_t>(rows);
  const std::size_t bytes = is_one ? row_bytes * static_cast<std::size_t>(rows) : row_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    stream_row(to.data + i * to.pitch_bytes, from + i * bytes, bytes);
  }
#if defined(__SSE2__)
  _mm_sfence();  // streaming stores are not ordered by anything weaker
#endif
}

}  // namespace csrkit
