// The checksum of gzip (RFC 1952, section 8), eight bytes at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace csrkit {

class Crc32 {
 public:
  void update(const char* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data);
    const Tables& table = tables();
    std::uint32_t crc = crc_;
    for (; size >= 8; size -= 8, bytes += 8) {
      const std::uint32_t low =
          crc ^ (std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 |
                 std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24);
      crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
            table[4][low >> 24] ^ table[3][bytes[4]] ^ table[2][bytes[5]] ^ table[1][bytes[6]] ^
            table[0][bytes[7]];
    }
    for (; size > 0; --size, ++bytes) crc = table[0][(crc ^ *bytes) & 255] ^ crc >> 8;
    crc_ = crc;
  }
  std::uint32_t value() const { return ~crc_; }

 private:
  /// tables()[k][b] is the checksum's change by byte b with k bytes of zero behind it.
  using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
  static const Tables& tables() {
    static const Tables result = [] {
      Tables table{};
      for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
        table[0][byte] = crc;
      }
      for (std::size_t k = 1; k < 8; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
          table[k][byte] = table[k - 1][byte] >> 8 ^ table[0][table[k - 1][byte] & 255];
        }
      }
      return table;
    }();
    return result;
  }
  std::uint32_t crc_ = 0xffffffffu;
};

}  // namespace csrkit
