#include "tests/soak/fuzz/mutations.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>

namespace csrkit::fuzz {

namespace {

/// Where sizes and signs change their meaning.
constexpr std::uint64_t kOddNumbers[] = {0,          1,          2,          127,        128,
                                         255,        256,        32767,      65535,      65536,
                                         1u << 20,   0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
                                         1ull << 62, 1ull << 63, ~0ull,      ~0ull - 7,  ~0ull / 8};

std::size_t place_in(const std::string& bytes, RandomStream& random) {
  return static_cast<std::size_t>(random.below(bytes.size() + 1));
}

std::string piece_of(const std::string& bytes, RandomStream& random) {
  const std::size_t at = place_in(bytes, random);
  return bytes.substr(at, static_cast<std::size_t>(random.below(64) + 1));
}

void put_binary_number(std::string& bytes, RandomStream& random) {
  const std::uint64_t number = kOddNumbers[random.below(std::size(kOddNumbers))];
  const std::size_t size = std::size_t{1} << random.below(4);
  if (bytes.size() < size) return;
  const auto at = static_cast<std::size_t>(random.below(bytes.size() - size + 1));
  std::memcpy(bytes.data() + at, &number, size);
}

/// Another number where digits stand, in text.
void put_decimal_number(std::string& bytes, RandomStream& random) {
  std::size_t begin = place_in(bytes, random);
  const auto is_digit = [&](std::size_t at) {
    return at < bytes.size() && std::isdigit(static_cast<unsigned char>(bytes[at])) != 0;
  };
  while (begin < bytes.size() && !is_digit(begin)) ++begin;
  std::size_t end = begin;
  while (is_digit(end)) ++end;
  const std::uint64_t number =
      random.below(3) == 0 ? kOddNumbers[random.below(std::size(kOddNumbers))] : random.below(10);
  bytes.replace(begin, end - begin, (random.below(8) == 0 ? "-" : "") + std::to_string(number));
}

void change(std::string& bytes, const std::string& other, const std::vector<std::string>& words,
            RandomStream& random) {
  const std::size_t at = place_in(bytes, random);
  const bool is_inside = at < bytes.size();
  switch (random.below(10)) {
    case 0:
      if (is_inside) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      if (is_inside) bytes[at] = static_cast<char>(random.below(256));
      break;
    case 2: put_binary_number(bytes, random); break;
    case 3: put_decimal_number(bytes, random); break;
    case 4:
      if (!words.empty()) bytes.insert(at, words[random.below(words.size())]);
      break;
    case 5:
      if (!words.empty() && is_inside) {
        const std::string& word = words[random.below(words.size())];
        bytes.replace(at, word.size(), word);
      }
      break;
    case 6: bytes.erase(at, static_cast<std::size_t>(random.below(40))); break;
    case 7: bytes.insert(at, piece_of(bytes, random)); break;
    case 8: bytes.insert(at, piece_of(other, random)); break;
    default:
      if (random.below(4) == 0)
        bytes.resize(at);
      else if (!other.empty())
        bytes.replace(at, std::string::npos, other.substr(at % other.size()));
  }
}

}  // namespace

std::string mutated(std::string bytes, const std::string& other,
                    const std::vector<std::string>& words, std::size_t most_bytes,
                    RandomStream& random) {
  for (std::uint64_t changes = 1ull << random.below(4); changes > 0; --changes) {
    change(bytes, other, words, random);
  }
  bytes.resize(std::min(bytes.size(), most_bytes));
  return bytes;
}

}  // namespace csrkit::fuzz
