#include "preprocess/import/source/line_reader.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "core/base/counted.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

namespace {

/// Big enough that starting threads does not show, small enough to stay in the last-level cache.
Offset block_bytes() {
  return std::clamp<Offset>(Offset{omp_get_max_threads()} << 20, Offset{8} << 20, Offset{64} << 20);
}

std::size_t end_of_last_line(std::string_view text) {
  if (text.empty()) return 0;
  const void* last = memrchr(text.data(), '\n', text.size());
  return last == nullptr
             ? 0
             : static_cast<std::size_t>(static_cast<const char*>(last) - text.data()) + 1;
}

/// Whether digits may follow: not behind inf and nan, a whole number that would be too large, or an
/// exponent such as e-03, as printf writes a third digit only in place of the 0.
bool may_go_on(std::string_view word, Offset largest) {
  if (word.empty() || (!scan::is_digit(word.back()) && word.back() != '.')) return false;
  if (largest >= 0) {
    const std::string text = std::string(word) + "\n";
    const char* at = text.data();
    std::uint64_t number = 0;
    return scan::read_digits(at, number) && number > 0 &&
           number <= static_cast<std::uint64_t>(largest) / 10;
  }
  const std::size_t exponent = word.find_first_of("eEdD");
  if (exponent == std::string_view::npos) return true;
  const std::size_t first = word.find_first_not_of("+-", exponent + 1);
  const std::size_t digits = word.size() - first;
  return digits == 1 || (digits == 2 && word[first] != '0');
}

constexpr char kLineEnds[] = "expected lines that end with LF or CR LF, ";

}  // namespace

std::string found_lone_cr(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t at = line.find('\r');
  if (at == std::string_view::npos || line.find_first_not_of('\r', at) == std::string_view::npos ||
      line.find('\0') != std::string_view::npos) {  // no text, but an archive
    return {};
  }
  return "found lines that end with CR alone, as old Macs wrote them; convert the text: tr '\\r' "
         "'\\n' <OLD >NEW";
}

LineReader::LineReader(ByteSource& source, std::uint64_t first_line)
    : source_(source), line_(first_line) {
  const std::string_view all = source.mapped();
  is_mapped_ =
      source.size_bytes() >= 0 && static_cast<std::int64_t>(all.size()) == source.size_bytes();
  if (is_mapped_) {
    // Not farther back than a line may be long: the file may be huge and hold no line at all.
    const std::size_t from = all.size() - std::min<std::size_t>(all.size(), longest_line() + 1);
    const std::size_t whole = end_of_last_line(all.substr(from));
    if (whole == 0 && from > 0) {
      throw InputError(name() + ": byte " + std::to_string(from) + too_long_line(all.substr(from)));
    }
    rest_ = all.substr(0, whole == 0 ? 0 : from + whole);
    unfinished_ = all.substr(rest_.size());
  }
}

std::size_t LineReader::longest_line() const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // one more must fit
  return std::min(source_.limits().line_bytes, kMost);
}

std::string LineReader::too_long_line(std::string_view text) const {
  const std::string lone_cr = found_lone_cr(text);
  if (!lone_cr.empty()) return ": " + (kLineEnds + lone_cr);
  return ": expected lines of at most " + counted(longest_line(), "byte") +
         ", found a longer one; is this a text file? If so, csr-import takes it with a "
         "larger --longest-line";
}

/// The first line of rest_, with its '\n'.
std::size_t LineReader::size_of_line() const {
  const std::string_view begin = rest_.substr(0, longest_line() + 1);
  const std::size_t end = begin.find('\n');
  if (end == std::string_view::npos) {
    throw InputError(name() + ":" + std::to_string(line_) + too_long_line(begin));
  }
  return end + 1;
}

LineReader::~LineReader() {
  if (ahead_bytes_.valid()) ahead_bytes_.wait();
}

std::int64_t LineReader::bytes_left() const {
  return is_mapped_ ? static_cast<std::int64_t>(rest_.size() + unfinished_.size()) : -1;
}

std::uint64_t LineReader::bytes_total() const { return is_mapped_ ? source_.mapped().size() : 0; }

void LineReader::refuse(std::uint64_t line, const std::string& message) const {
  throw InputError(name() + ":" + std::to_string(line) + ": " + message);
}

void LineReader::require_no_lone_cr(std::uint64_t line, std::string_view text) const {
  const std::string lone_cr = found_lone_cr(text);
  if (!lone_cr.empty()) refuse(line, kLineEnds + lone_cr);
}

std::uint64_t LineReader::line_of(const TextPiece& piece, const char* place) const {
  const auto before = static_cast<std::size_t>(place - piece.text.data());
  return line_ + piece.lines_before + count_line_ends(piece.text.substr(0, before));
}

void LineReader::refuse_at(const TextPiece& piece, const char* place,
                           const std::string& message) const {
  const auto before = static_cast<std::size_t>(place - piece.text.data());
  const std::size_t begin = piece.text.substr(0, before).rfind('\n') + 1;
  const std::uint64_t line = line_of(piece, place);
  require_no_lone_cr(line, piece.text.substr(begin));
  refuse(line, message);
}

std::string_view LineReader::open_line() const {
  if (last_line_.empty() || source_.is_compressed()) return {};
  return std::string_view(last_line_).substr(0, last_line_.size() - 1);
}

bool LineReader::refill() {
  if (!fill()) return false;
  if (is_at_start_ && starts_with_byte_order_mark(rest_)) {
    rest_.remove_prefix(kByteOrderMark.size());
  }
  is_at_start_ = false;
  return true;
}

/// Makes rest_ non-empty, or returns false at the end.
bool LineReader::fill() {
  if (!rest_.empty()) return true;
  if (is_at_end_) return false;
  if (is_mapped_) {
    is_at_end_ = true;
    if (unfinished_.empty()) return false;
    last_line_.assign(unfinished_).push_back('\n');
    unfinished_ = {};
    rest_ = last_line_;
    return true;
  }
  const Offset block = block_bytes();
  if (buffer_.size() == 0) {
    buffer_ = Buffer<char>(2 * block);
    ahead_ = Buffer<char>(block);
    ahead_bytes_ = std::async(std::launch::deferred, [this] {
      return source_.read(ahead_.data(), static_cast<std::size_t>(ahead_.size()));
    });
  }
  std::memmove(buffer_.data(), buffer_.data() + carried_from_, static_cast<std::size_t>(carried_));
  for (;;) {
    if (carried_ > static_cast<Offset>(longest_line())) {
      throw InputError(name() + ":" + std::to_string(line_) +
                       too_long_line({buffer_.data(), static_cast<std::size_t>(carried_)}));
    }
    const auto came = static_cast<Offset>(ahead_bytes_.get());
    if (carried_ + came + 1 > buffer_.size()) {
      Buffer<char> larger(2 * (carried_ + came + 1));
      std::memcpy(larger.data(), buffer_.data(), static_cast<std::size_t>(carried_));
      buffer_ = std::move(larger);
    }
    std::memcpy(buffer_.data() + carried_, ahead_.data(), static_cast<std::size_t>(came));
    const Offset filled = carried_ + came;
    if (came < ahead_.size()) {
      is_at_end_ = true;
      if (filled == 0) return false;
      Offset size = filled;
      if (buffer_[filled - 1] != '\n') {
        buffer_[size++] = '\n';
        const std::string_view all(buffer_.data(), static_cast<std::size_t>(filled));
        last_line_.assign(all.substr(end_of_last_line(all))).push_back('\n');
      }
      rest_ = {buffer_.data(), static_cast<std::size_t>(size)};
      return true;
    }
    ahead_bytes_ = std::async(std::launch::async, [this] {
      return source_.read(ahead_.data(), static_cast<std::size_t>(ahead_.size()));
    });
    const auto fresh = std::string_view(buffer_.data() + carried_, static_cast<std::size_t>(came));
    const std::size_t whole = end_of_last_line(fresh);
    if (whole > 0) {
      const Offset size = carried_ + static_cast<Offset>(whole);
      rest_ = {buffer_.data(), static_cast<std::size_t>(size)};
      carried_from_ = size;
      carried_ = filled - size;
      return true;
    }
    carried_ = filled;
  }
}

bool LineReader::peek_line(std::string_view& line) {
  if (!refill()) return false;
  line = rest_.substr(0, size_of_line() - 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  require_no_lone_cr(line_, line);
  return true;
}

bool LineReader::next_line(std::string_view& line) {
  if (!peek_line(line)) return false;
  const std::size_t size = size_of_line();
  rest_.remove_prefix(size);
  bytes_done_ += size;
  ++line_;
  return true;
}

bool LineReader::next_block(std::string_view& block) {
  if (!refill()) return false;
  // A mapped file needs no buffer, and in long blocks threads wait for each other less often.
  const std::size_t factor = is_mapped_ && omp_get_max_threads() > 1 ? 8 : 1;
  const std::size_t wanted = factor * static_cast<std::size_t>(block_bytes());
  std::size_t size = rest_.size();
  if (size > wanted) {
    size = end_of_last_line(rest_.substr(0, wanted));
    if (size == 0) size = size_of_line();
  }
  block = rest_.substr(0, size);
  rest_.remove_prefix(size);
  bytes_done_ += size;
  return true;
}

std::uint64_t count_line_ends(std::string_view text) {
  std::uint64_t count = 0;
  std::size_t at = 0;
  // Byte-wide partial sums let the compiler use whole SIMD registers.
  for (; at + 128 <= text.size(); at += 128) {
    std::uint8_t strip = 0;
    for (std::size_t i = 0; i < 128; ++i)
      strip = static_cast<std::uint8_t>(strip + (text[at + i] == '\n'));
    count += strip;
  }
  for (; at < text.size(); ++at) count += text[at] == '\n';
  return count;
}

std::string doubt_of_end(std::string_view open_line, std::uint64_t line, Offset largest) {
  const std::string_view word = open_line.substr(open_line.find_last_of(" \t,;") + 1);
  if (!may_go_on(word, largest)) return {};
  return "line " + std::to_string(line) + ", the last one, has no line end behind " +
         scan::quote_word((std::string(word) + "\n").c_str()) +
         ": if the file was cut there, this number is wrong; compare its size with the original's, "
         "and add a line end if it is whole";
}

int usual_pieces() { return 32 * omp_get_max_threads(); }

std::uint64_t cut_into_pieces(std::string_view block, int pieces, std::vector<TextPiece>& result) {
  constexpr std::size_t kSmallestPiece = 1 << 14;
  result.clear();
  const std::size_t step =
      std::max(kSmallestPiece, block.size() / static_cast<std::size_t>(pieces) + 1);
  for (std::size_t begin = 0; begin < block.size();) {
    std::size_t end = block.size();
    if (block.size() - begin > step) {
      end = block.find('\n', begin + step - 1);
      end = end == std::string_view::npos ? block.size() : end + 1;
    }
    result.push_back({block.substr(begin, end - begin)});
    begin = end;
  }
  const auto count = static_cast<int>(result.size());
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
  for (int i = 0; i < count; ++i) result[i].lines = count_line_ends(result[i].text);
  std::uint64_t lines = 0;
  for (TextPiece& piece : result) {
    piece.lines_before = lines;
    lines += piece.lines;
  }
  return lines;
}

}  // namespace csrkit
