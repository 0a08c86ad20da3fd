// degree: rows by their number of stored entries, shortest first (or longest first). Rows of equal
// length keep their order, so what locality there is among them survives. Binned, lengths count as
// equal within a factor of two, and more of it survives.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

namespace {

constexpr int kDigitBits = 16;  // two passes cover every row length, 64 Ki counters stay in L2

/// One stable counting pass over a digit of the key.
template <class KeyOf>
void sort_by_digit(const Buffer<Index>& from, Buffer<Index>& to, int shift, KeyOf&& key_of) {
  constexpr std::uint32_t kMask = (1u << kDigitBits) - 1;
  std::array<Index, (1u << kDigitBits)> next{};
  for (const Index row : from) ++next[(key_of(row) >> shift) & kMask];
  Index running = 0;
  for (Index& slot : next) running += std::exchange(slot, running);
  for (const Index row : from) to[next[(key_of(row) >> shift) & kMask]++] = row;
}

/// 0, 1, 2-3, 4-7, ...
Offset bin_of(Offset length) {
  Offset bin = 0;
  for (; length > 0; length >>= 1) ++bin;
  return bin;
}

}  // namespace

Ordering degree(const CsrMatrix& matrix, const MethodRequest& request) {
  const bool is_descending = request.parameters.flag("descending");
  const bool is_binned = request.parameters.flag("binned");
  Offset longest = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    longest = std::max(longest, matrix.row_length(row));
  }
  const auto size_of = [&](Offset length) { return is_binned ? bin_of(length) : length; };
  longest = size_of(longest);
  // A row holds every column at most once, so lengths fit 31 bits. Descending order is ascending
  // order of the complement, which keeps the sort stable; reversing the result would not.
  const auto key_of = [&](Index row) {
    const Offset length = size_of(matrix.row_length(row));
    return static_cast<std::uint32_t>(is_descending ? longest - length : length);
  };
  Buffer<Index> old_of_new(matrix.rows()), scratch(matrix.rows());
  std::iota(scratch.begin(), scratch.end(), Index{0});
  sort_by_digit(scratch, old_of_new, 0, key_of);
  if (longest >> kDigitBits != 0) {
    sort_by_digit(old_of_new, scratch, kDigitBits, key_of);
    old_of_new = std::move(scratch);
  }
  return {Permutation::from_old_of_new(std::move(old_of_new))};
}

}  // namespace csrkit::reorder
