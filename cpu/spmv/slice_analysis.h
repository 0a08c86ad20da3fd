// What a slice of 32 rows looks like, and in which form it takes the fewest bytes: for compressed.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "cpu/spmv/inner_loops.h"
#include "cpu/spmv/row_sums.h"
#include "cpu/spmv/value_table.h"

namespace csrkit::cpu::spmv {

/// The diagonals that the rows of a slice have entries on.
template <class A>
struct Diagonals {
  static constexpr int kMost = 128;

  int steps = 0;
  bool is_uniform = true;  // one value on each, which may stand for the entries that are not there
  std::array<std::int32_t, kMost> offsets;  // ascending
  std::array<std::uint32_t, kMost> masks;   // which rows have an entry
  std::array<Offset, kMost> firsts;         // where an entry of the diagonal is

  /// False if there are more than `most`.
  bool find(const CsrView<A>& a, Index first, Index last, int most) {
    steps = 0;
    for (Index row = first; row < last; ++row) {
      int step = 0;
      for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
        const Index offset = a.col_indices[at] - row;
        while (step < steps && offsets[static_cast<std::size_t>(step)] < offset) ++step;
        if (step == steps || offsets[static_cast<std::size_t>(step)] != offset) {
          if (steps == most) return false;
          insert(step, offset, at);
        }
        masks[static_cast<std::size_t>(step)] |= 1u << (row - first);
      }
    }
    return true;
  }

  /// Whether the entries of every diagonal are equal to the bit, and finite where some are missing:
  /// there the loops multiply by 0.
  void look_at_values(const CsrView<A>& a, Index first, Index last) {
    is_uniform = true;
    if constexpr (!std::is_same_v<A, ImplicitOne>) {
      for (int step = 0; step < steps; ++step) {
        const bool is_full = masks[static_cast<std::size_t>(step)] == 0xffffffff;
        const A value = a.values[firsts[static_cast<std::size_t>(step)]];
        if (!is_full && !std::isfinite(load_as<double>(value))) is_uniform = false;
      }
      for (Index row = first; row < last && is_uniform; ++row) {
        int step = 0;
        for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1] && is_uniform; ++at) {
          while (offsets[static_cast<std::size_t>(step)] < a.col_indices[at] - row) ++step;
          const A value = a.values[firsts[static_cast<std::size_t>(step)]];
          is_uniform = bits_of(a.values[at]) == bits_of(value);
        }
      }
    }
  }

 private:
  void insert(int step, std::int32_t offset, Offset at) {
    for (int n = steps++; n > step; --n) {
      const auto to = static_cast<std::size_t>(n);
      offsets[to] = offsets[to - 1];
      masks[to] = masks[to - 1];
      firsts[to] = firsts[to - 1];
    }
    const auto to = static_cast<std::size_t>(step);
    offsets[to] = offset;
    masks[to] = 0;
    firsts[to] = at;
  }
};

/// The form of a slice, and what it costs.
struct SliceHead {
  std::uint64_t at = 0;        // of the slice's own bytes
  std::int32_t first_col = 0;  // bytes and words: what columns are counted from
  std::uint16_t steps = 0;     // diagonals
  ColumnForm columns = ColumnForm::in_place;
  ValueForm values = ValueForm::raw;
};

struct SliceCost {
  std::uint64_t own = 0;       // bytes that are stored for the slice, a multiple of 8
  std::uint64_t in_place = 0;  // bytes read from the CSR arrays
  std::uint64_t read() const { return own + in_place; }
};

/// Bytes up to the next multiple of 8, so that what follows lies on its own boundary.
inline std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

/// Chooses the form with the fewest bytes for rows [first, last) without hubs. `table` is null
/// where the matrix has too many values; `pads` says whether one of its values may stand for
/// nothing.
template <class A>
SliceHead cheapest_form(const CsrView<A>& a, Index first, Index last, const ValueTable* table,
                        bool pads, Diagonals<A>* diagonals, SliceCost* cost) {
  const Offset begin = a.row_offsets[first];
  const Offset entries = a.row_offsets[last] - begin;
  const auto count = static_cast<std::uint64_t>(entries);
  const std::uint64_t size = value_bytes<A>();
  const auto rows = static_cast<std::uint64_t>(last - first);
  SliceHead best;
  *cost = {0, count * (sizeof(Index) + size) + rows * sizeof(Offset)};
  const auto offer = [&](const SliceHead& head, const SliceCost& its) {
    if (its.read() >= cost->read()) return;
    best = head;
    *cost = its;
  };
  if (entries == 0) return best;
  Index low = std::numeric_limits<Index>::max(), high = 0;
  for (Index row = first; row < last; ++row) {
    if (a.row_offsets[row] == a.row_offsets[row + 1]) continue;
    low = std::min(low, a.col_indices[a.row_offsets[row]]);
    high = std::max(high, a.col_indices[a.row_offsets[row + 1] - 1]);
  }
  const bool has_codes = size > 1 && table != nullptr;
  if (entries <= 65535 && high - low < 65536) {
    const bool is_near = high - low < 256;
    SliceHead head;
    head.first_col = low;
    head.columns = is_near ? ColumnForm::bytes : ColumnForm::words;
    const std::uint64_t own = padded((rows + 1) * 2) + padded(count * (is_near ? 1 : 2));
    offer(head, {own, count * size + (size > 0 ? sizeof(Offset) : 0)});
    head.values = ValueForm::coded;
    if (has_codes) offer(head, {own + padded(count), 0});
  }
  const auto most = std::min<Offset>(Diagonals<A>::kMost, 2 * (entries / (last - first)) + 8);
  if (!diagonals->find(a, first, last, static_cast<int>(most))) return best;
  diagonals->look_at_values(a, first, last);
  const auto steps = static_cast<std::uint64_t>(diagonals->steps);
  SliceHead head;
  head.columns = ColumnForm::diagonals;
  head.steps = static_cast<std::uint16_t>(steps);
  head.values = ValueForm::uniform;
  if (diagonals->is_uniform) offer(head, {steps * 8 + padded(steps * size), 0});
  head.values = ValueForm::coded;
  if (has_codes && pads) offer(head, {steps * (8 + kCompressedRows), 0});
  head.values = ValueForm::raw;
  if (size > 0) offer(head, {steps * (8 + kCompressedRows * size), 0});
  return best;
}

}  // namespace csrkit::cpu::spmv
