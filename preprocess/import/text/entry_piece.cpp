#include "preprocess/import/text/entry_piece.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/huge_pages.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

namespace {

constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53

void grow(Buffer<Index>& array, Offset used, Offset wanted) {
  Buffer<Index> larger(wanted);
  advise_huge_pages(larger.data(), larger.size_bytes());
  if (used > 0) {
    std::memcpy(larger.data(), array.data(), static_cast<std::size_t>(used) * sizeof(Index));
  }
  array = std::move(larger);
}

bool is_comment(const char* at, std::string_view comments) {
  for (const char c : comments) {
    if (*at == c && (c != '/' || at[1] == '/')) return true;
  }
  return false;
}

const char* line_end(const char* at, const char* end) {
  return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
}

bool ends_line(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }

/// Goes behind the end of a line, if `at` is there.
bool pass_line_end(const char*& at) {
  if (!ends_line(at)) return false;
  at += *at == '\r' ? 2 : 1;
  return true;
}

/// Goes behind the line of a comment. False, at its carriage return, if that ends no line: it hides
/// what follows from those who wrote it, so the reader names it.
bool pass_comment(const char*& at, const char* end) {
  const char* const next = line_end(at, end);
  const void* const cr = std::memchr(at, '\r', static_cast<std::size_t>(next - at));
  const bool is_line = cr == nullptr || cr == next - 1;
  at = is_line ? next + 1 : static_cast<const char*>(cr);
  return is_line;
}

/// Behind a number: to the next one, over at most one comma or semicolon.
template <bool kCsv>
const char* skip_separator(const char* at) {
  at = scan::skip_blanks(at);
  if constexpr (kCsv) {
    if (*at == ',' || *at == ';') at = scan::skip_blanks(at + 1);
  }
  return at;
}

/// Reads one value; Stored is what is kept, or ImplicitOne to check and drop. `is_lost`: it is kept
/// as 0 and is not 0.
template <class Stored, bool kInteger>
Fault read_value(const char*& at, const char* end, bool must_be_exact, Stored* slot,
                 bool& is_lost) {
  using Number = std::conditional_t<std::is_same_v<Stored, float>, float, double>;
  const char* const begin = at;
  Number number;
  if constexpr (kInteger) {
    const char* digits = at + (*at == '-' || *at == '+');
    const bool is_negative = *at == '-';
    std::uint64_t magnitude;
    const char* stop = digits;
    const bool is_short = scan::read_digits(stop, magnitude);
    if (stop == digits) return Fault::integer;
    if (*stop == '.' || *stop == 'e' || *stop == 'E') return Fault::integer;
    if (must_be_exact &&
        (!is_short || magnitude > static_cast<std::uint64_t>(kLargestExactInteger))) {
      return Fault::inexact;
    }
    if (is_short) {
      const auto whole = static_cast<std::int64_t>(magnitude);
      number = static_cast<Number>(is_negative ? -whole : whole);
      at = stop;
    } else if (!scan::read_real(at, stop, number)) {
      return Fault::overflow;
    }
  } else {
    if (!scan::read_real(at, end, number)) {
      double wide;
      const char* again = begin;
      const bool fits_double = scan::read_real(again, end, wide);
      const char first = *begin == '-' || *begin == '+' ? begin[1] : *begin;
      return fits_double || scan::is_digit(first) ? Fault::overflow : Fault::value;
    }
  }
  if constexpr (std::is_same_v<Stored, float> || std::is_same_v<Stored, double>) {
    *slot = number;
  } else if constexpr (!std::is_same_v<Stored, ImplicitOne>) {
    *slot = store_as<Stored>(number);
    if (std::isinf(load_as<float>(*slot)) && !std::isinf(number)) return Fault::overflow;
  }
  if constexpr (!kInteger && !std::is_same_v<Stored, ImplicitOne>) {
    is_lost = load_as<double>(*slot) == 0 && !scan::is_written_zero(begin, at);
  }
  return Fault::none;
}

/// A row or column that counts from `base` and is below `limit` when it counts from 0.
Fault read_id(const char*& at, std::uint64_t base, std::uint64_t limit, Fault malformed,
              Fault outside, std::uint64_t& id) {
  const char* const word = at;
  if (!scan::read_digits(at, id)) return at == word ? malformed : outside;
  if (*at == '.' || *at == 'e' || *at == 'E') return malformed;
  id -= base;  // beyond every limit if it was smaller
  return id < limit ? Fault::none : outside;
}

/// A row and a column, and what stands before a value. At a fault `word` is its place.
template <bool kHasValue, bool kCsv>
[[gnu::always_inline]] inline Fault read_ids(const char*& at, const IdLimits& limits,
                                             const char*& word, std::uint64_t& row,
                                             std::uint64_t& col) {
  word = at;
  Fault fault = read_id(at, limits.base, limits.rows, Fault::row, Fault::row_range, row);
  if (fault != Fault::none) return fault;
  const char* const behind_row = at;
  at = skip_separator<kCsv>(at);
  if (at == behind_row && !ends_line(at)) return Fault::row;
  word = at;
  fault = read_id(at, limits.base, limits.cols, Fault::col, Fault::col_range, col);
  if (fault != Fault::none) return fault;
  if constexpr (kHasValue) {
    const char* const behind_col = at;
    at = skip_separator<kCsv>(at);
    if (at == behind_col && !ends_line(at)) return Fault::col;
  }
  return Fault::none;
}

template <class Stored, bool kHasIds, bool kHasValue, bool kInteger, bool kCsv>
void parse_piece(const EntryLineOptions& options, const IdLimits& limits, EntryStore& store,
                 EntryPiece& piece) {
  const char* at = piece.text.text.data();
  const char* const end = at + piece.text.text.size();
  Index* row_slot = kHasIds ? store.rows.data() + piece.first_slot : nullptr;
  Index* col_slot = kHasIds ? store.cols.data() + piece.first_slot : nullptr;
  Stored* value_slot = nullptr;
  if constexpr (kHasValue && !std::is_same_v<Stored, ImplicitOne>) {
    value_slot = store.values.as<Stored>() + piece.first_slot;
  }
  std::uint64_t largest_row = 0, largest_col = 0;  // plus one
  Offset count = 0, underflows = 0;
  const auto fail = [&](Fault fault, const char* place) {
    piece.fault = fault;
    piece.fault_at = place;
  };
  while (at != end) {
    at = scan::skip_blanks(at);
    if (pass_line_end(at)) continue;
    if (is_comment(at, options.comments)) {
      if (!pass_comment(at, end)) return fail(Fault::extra, at);
      continue;
    }
    if constexpr (kHasIds) {
      const char* word;
      std::uint64_t row, col;
      const Fault fault = read_ids<kHasValue, kCsv>(at, limits, word, row, col);
      if (fault != Fault::none) return fail(fault, word);
      row_slot[count] = static_cast<Index>(row);
      col_slot[count] = static_cast<Index>(col);
      largest_row = std::max(largest_row, row + 1);
      largest_col = std::max(largest_col, col + 1);
    }
    if constexpr (kHasValue) {
      const char* const word = at;
      Stored* slot = nullptr;
      if constexpr (!std::is_same_v<Stored, ImplicitOne>) slot = value_slot + count;
      bool is_lost = false;
      const Fault fault = ends_line(at)
                              ? Fault::value
                              : read_value<Stored, kInteger>(
                                    at, end, options.integers_must_be_exact, slot, is_lost);
      if (fault != Fault::none) return fail(fault, word);
      if (is_lost && underflows++ == 0) piece.first_underflow = word;
    }
    at = scan::skip_blanks(at);
    if (!pass_line_end(at)) return fail(Fault::extra, at);
    ++count;
  }
  piece.count = count;
  piece.underflows = underflows;
  piece.largest_row = static_cast<Index>(largest_row) - 1;
  piece.largest_col = static_cast<Index>(largest_col) - 1;
}

template <class Stored>
ParsePiece choose_valued(const EntryLineOptions& options) {
  if (!options.has_ids) {
    return options.values_are_integers ? &parse_piece<Stored, false, true, true, false>
                                       : &parse_piece<Stored, false, true, false, false>;
  }
  if (options.values_are_integers) {
    return options.is_csv_like ? &parse_piece<Stored, true, true, true, true>
                               : &parse_piece<Stored, true, true, true, false>;
  }
  return options.is_csv_like ? &parse_piece<Stored, true, true, false, true>
                             : &parse_piece<Stored, true, true, false, false>;
}

}  // namespace

void EntryStore::reserve(Offset wanted) {
  if (wanted <= capacity) return;
  // The arrays grow one after the other, so at most one of them exists twice.
  if (has_ids) {
    grow(rows, size, wanted);
    grow(cols, size, wanted);
  }
  ValueArray larger(values.kind(), wanted);
  advise_huge_pages(larger.data(), static_cast<std::size_t>(wanted * size_of(values.kind())));
  const auto used = static_cast<std::size_t>(size * size_of(values.kind()));
  if (used > 0) std::memcpy(larger.data(), values.data(), used);
  values = std::move(larger);
  capacity = wanted;
}

void EntryStore::move(Offset from, Offset to, Offset count) {
  const auto items = static_cast<std::size_t>(count);
  if (has_ids) {
    std::memmove(rows.data() + to, rows.data() + from, items * sizeof(Index));
    std::memmove(cols.data() + to, cols.data() + from, items * sizeof(Index));
  }
  const auto width = static_cast<std::size_t>(size_of(values.kind()));
  if (width > 0) {
    auto* bytes = static_cast<char*>(values.data());
    std::memmove(bytes + static_cast<std::size_t>(to) * width,
                 bytes + static_cast<std::size_t>(from) * width, items * width);
  }
}

ParsePiece choose_parser(const EntryLineOptions& options, bool has_value) {
  if (!has_value) {
    return options.is_csv_like ? &parse_piece<ImplicitOne, true, false, false, true>
                               : &parse_piece<ImplicitOne, true, false, false, false>;
  }
  return with_value_type(options.value_kind, [&](auto tag) {
    return choose_valued<typename decltype(tag)::type>(options);
  });
}

/// Text of the first line that holds an entry, "" if none does.
std::string_view first_entry_line(std::string_view block, std::string_view comments) {
  const char* at = block.data();
  const char* const end = at + block.size();
  while (at != end) {
    const char* begin = scan::skip_blanks(at);
    const char* stop = line_end(begin, end);
    if (!ends_line(begin) && !is_comment(begin, comments)) {
      return {begin, static_cast<std::size_t>(stop - begin)};
    }
    at = stop + 1;
  }
  return {};
}

std::string describe(const EntryPiece& piece, const EntryLineOptions& options, bool has_value) {
  const std::string found = ", found " + scan::quote_word(piece.fault_at);
  const auto id = [&](const char* what, Offset limit) {
    const std::string lowest = std::to_string(options.index_base);
    if (limit == 0 && options.expected_entries >= 0) {
      return std::string("expected no entry in a matrix without ") + what + "s" + found;
    }
    const bool has_sizes = options.expected_entries >= 0;
    std::string advice = "; correct it, or the sizes";
    if (options.index_base == 1 && found == ", found \"0\"") {
      advice = has_sizes ? "; rows and columns begin at 1 here, add 1 to all of them"
                         : "; if ids start at 0, use --base=0";
    } else if (limit <= 0) {
      advice = "; renumber the ids from 0 without gaps, rows and columns are 32-bit numbers";
    }
    const Offset most = options.index_base + (limit > 0 ? limit : Offset{kMaxIndex}) - 1;
    return std::string("expected ") + (limit > 0 ? std::string("a ") + what + " number" : "an id") +
           " from " + lowest + " to " + std::to_string(most) + found + advice;
  };
  switch (piece.fault) {
    case Fault::row: return "expected a row as a whole number" + found;
    case Fault::col: return "expected a column as a whole number" + found;
    case Fault::row_range: return id("row", options.row_limit);
    case Fault::col_range: return id("column", options.col_limit);
    case Fault::value: return "expected a number as the value" + found;
    case Fault::integer: return "expected a whole number as the value" + found;
    case Fault::inexact:
      return "expected a whole number of at most 2^53, which a float64 holds exactly" + found +
             "; --value-kind=f64 rounds it";
    case Fault::overflow: {
      const ValueKind kind =
          options.value_kind == ValueKind::none ? ValueKind::f64 : options.value_kind;
      return std::string("expected a value within the range of ") + name_of(kind) + found +
             (kind == ValueKind::f64 ? "; no kind here is wider, scale the values before"
                                     : "; a wider --value-kind may hold it");
    }
    case Fault::extra: {
      const int columns = (options.has_ids ? 2 : 0) + (has_value ? 1 : 0);
      return "expected the line to end after " + counted(columns, "number") + found;
    }
    case Fault::none: break;
  }
  return "expected an entry" + found;
}

}  // namespace csrkit
