#include "cpu/spmv/slice_diagonals.h"

#include <array>

namespace csrkit::cpu::spmv {

namespace {

/// Merges [begin, middle) and [middle, end) without a jump that a processor could guess wrongly.
void merge(const OnDiagonal* begin, const OnDiagonal* middle, const OnDiagonal* end,
           OnDiagonal* to) {
  const OnDiagonal* one = begin;
  const OnDiagonal* other = middle;
  while (one < middle && other < end) {
    const bool takes_other = other->bits < one->bits;
    *to++ = takes_other ? *other : *one;
    other += takes_other ? 1 : 0;
    one += takes_other ? 0 : 1;
  }
  to = std::copy(one, middle, to);
  std::copy(other, end, to);
}

}  // namespace

/// The rows are merged by two, by four, ...
void SliceDiagonals::go_to(Index first, Index last) {
  sorted_.clear();
  std::array<std::size_t, kMostLaneRows + 1> ends{};
  for (Index row = first; row < last; ++row) {
    const Offset length = a_.row_length(row) > hub_length_ ? 0 : a_.row_length(row);
    const Index* const cols = a_.col_indices() + a_.row_offsets()[row];
    for (Offset k = 0; k < length; ++k) {
      sorted_.push_back(OnDiagonal::of(cols[k], row - first, k));
    }
    ends[static_cast<std::size_t>(row - first) + 1] = sorted_.size();
  }
  const auto rows = static_cast<std::size_t>(last - first);
  other_.resize(sorted_.size());
  for (std::size_t width = 1; width < rows; width *= 2) {
    for (std::size_t begin = 0; begin < rows; begin += 2 * width) {
      const auto at = [&](std::size_t n) { return sorted_.data() + ends[std::min(n, rows)]; };
      merge(at(begin), at(begin + width), at(begin + 2 * width),
            other_.data() + (at(begin) - sorted_.data()));
    }
    sorted_.swap(other_);
  }
}

}  // namespace csrkit::cpu::spmv
