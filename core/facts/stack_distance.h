// LRU stack distances of one stream of reads, each in O(log n) with a small constant.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace csrkit {

/// Time is a row of slots, and the last read of every item holds one. The distance of a read is the
/// number of slots held after the item's own (Bennett, Kruskal, LRU stack processing, IBM J. Res.
/// Dev. 19, 1975). Held slots are bits, counted block by block in a Fenwick tree: with 512 bits a
/// block the tree of a million items stays in L1. When all slots are used, they are renumbered.
///
/// In a sample, the first `single` items stand for themselves and every other one for `scale`.
/// `passers_by` is the largest number of reads of items that are never read again: those hold their
/// slots for ever.
class StackDistance {
 public:
  static constexpr double kFirst = -1;

  StackDistance(Index items, Index single, double scale, Offset passers_by = 0);
  explicit StackDistance(Index items) : StackDistance(items, items, 1) {}
  void reset();

  /// How many other items were read since the last read of this one; kFirst if it never was.
  double read(Index item);
  /// Reads an item that is never read again.
  void pass_by();
  /// Different items read so far.
  double held() const { return weight(held_); }

 private:
  static constexpr std::uint32_t kNever = 0xffffffffu;

  /// Single items are counted in the low half, the others in the high half.
  using Counts = std::uint64_t;
  double weight(Counts counts) const {
    return static_cast<double>(counts & 0xffffffffu) + static_cast<double>(counts >> 32) * scale_;
  }
  Counts one_of(Index item) const { return item < single_ ? Counts{1} : Counts{1} << 32; }
  std::vector<std::uint64_t>& bits_of(Index item) { return item < single_ ? bits_ : other_bits_; }

  Counts held_up_to(std::uint32_t slot) const;  // slot itself included
  void add(std::uint32_t block, Counts change);
  void renumber();

  Index single_;
  double scale_;
  std::vector<std::uint32_t> slot_of_item_;
  std::vector<std::uint64_t> bits_, other_bits_;  // the second is empty if every item is single
  std::vector<Counts> tree_;                      // 1-based Fenwick tree over blocks
  std::uint32_t slots_ = 0, next_slot_ = 0;
  Counts held_ = 0;
};

}  // namespace csrkit
