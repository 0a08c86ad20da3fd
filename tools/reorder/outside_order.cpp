#include "tools/reorder/outside_order.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/base/counted.h"
#include "preprocess/import/numpy/npz_archive.h"
#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/source/scan.h"
#include "tools/cli/log.h"

namespace csrkit {

namespace {

Buffer<Index> numbers_of_text(ByteSource& source, Index size, Offset limit, const std::string& item,
                              std::string* doubt) {
  LineReader lines(source);
  Buffer<Index> numbers(size);
  Index count = 0;
  bool ends_with_number = false;
  std::string_view line;
  while (lines.next_line(line)) {
    const std::string text = std::string(line) + "\n";
    const char* at = scan::skip_blanks(text.data());
    ends_with_number = false;
    if (*at == '#' || *at == '%' || *at == '\n' || *at == '\r') continue;
    const char* const word = at;
    std::uint64_t number = 0;
    const bool is_number = scan::read_digits(at, number);
    const bool is_word = is_number && (scan::is_blank(*at) || *at == ',' || *at == ';');
    at = scan::skip_blanks(at);
    if (!is_number || (*at != '\n' && *at != '\r') || number >= static_cast<std::uint64_t>(limit)) {
      const bool is_in_range = number < static_cast<std::uint64_t>(limit);
      const bool is_next = is_number && number == static_cast<std::uint64_t>(limit);
      lines.refuse(
          lines.line() - 1,
          "expected one number from 0 to " + std::to_string(limit - 1) + ", found " +
              scan::quote_word(word) +
              (is_word && is_in_range ? " and more in the line; write each on its own line"
               : is_next ? "; numbers count from 0: if the first here is 1, subtract 1 from all"
                         : ""));
    }
    if (count == size) {
      lines.refuse(lines.line() - 1, "expected " + counted(size, "number") + ", one for each " +
                                         item + ", found more");
    }
    numbers[count++] = static_cast<Index>(number);
    ends_with_number = true;
  }
  if (count < size) {
    lines.refuse(lines.line(), "expected " + counted(size, "number") + ", one for each " + item +
                                   ", found " + std::to_string(count));
  }
  if (ends_with_number) *doubt = doubt_of_end(lines.open_line(), lines.line() - 1, limit - 1);
  return numbers;
}

/// `doubt` tells of a last number that may be cut, for a warning.
Buffer<Index> read_numbers(const std::string& path, Index size, Offset limit, const char* item,
                           std::string* doubt) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  if (source->mapped().substr(0, 6) != "\x93NUMPY")
    return numbers_of_text(*source, size, limit, item, doubt);
  const NpyArray array = read_npy_array(*source, static_cast<std::uint64_t>(source->size_bytes()));
  array.require_column(size, item);
  return array.to_indices(limit);
}

}  // namespace

Ordering read_outside_order(const std::string& path, Index size, Direction direction,
                            const char* item) {
  std::string doubt;  // none is left where every number from 0 on is there once
  Buffer<Index> numbers = read_numbers(path, size, std::max<Offset>(size, 1), item, &doubt);
  return {direction == Direction::old_of_new
              ? Permutation::from_old_of_new(std::move(numbers), path)
              : Permutation::from_new_of_old(std::move(numbers), path)};
}

Ordering read_outside_partition(const std::string& path, Index rows) {
  // There can be no more parts than rows.
  std::string doubt;
  const Buffer<Index> part_of_old =
      read_numbers(path, rows, std::max<Offset>(rows, 1), "row", &doubt);
  if (!doubt.empty()) log_warning(path + ": " + doubt);
  Buffer<Index> old_of_new(rows), part_of_new(rows);
  std::iota(old_of_new.begin(), old_of_new.end(), Index{0});
  std::stable_sort(old_of_new.begin(), old_of_new.end(),
                   [&](Index a, Index b) { return part_of_old[a] < part_of_old[b]; });
  for (Index row = 0; row < rows; ++row) part_of_new[row] = part_of_old[old_of_new[row]];
  const Index parts = rows == 0 ? 1 : part_of_new[rows - 1] + 1;
  if (rows > 0 && part_of_new[0] > 0) {
    log_warning(path + ": no row is in part 0, so it is empty; parts count from 0: if the first " +
                "one here is 1, subtract 1 from all numbers");
  }
  return {Permutation::from_old_of_new(std::move(old_of_new)),
          Partition{parts, std::make_shared<const Buffer<Index>>(std::move(part_of_new))}};
}

}  // namespace csrkit
