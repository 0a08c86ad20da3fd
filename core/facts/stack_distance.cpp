#include "core/facts/stack_distance.h"

#include <algorithm>

namespace csrkit {

namespace {

constexpr std::uint32_t kBlockBits = 512;

/// Set bits of a block from its first to `slot`.
std::uint64_t count_in_block(const std::vector<std::uint64_t>& bits, std::uint32_t slot) {
  int count = 0;
  for (std::uint32_t word = slot / kBlockBits * (kBlockBits / 64); word < slot / 64; ++word) {
    count += __builtin_popcountll(bits[word]);
  }
  count += __builtin_popcountll(bits[slot / 64] & (~std::uint64_t{0} >> (63 - slot % 64)));
  return static_cast<std::uint64_t>(count);
}

void set(std::vector<std::uint64_t>& bits, std::uint32_t slot) {
  bits[slot / 64] |= std::uint64_t{1} << slot % 64;
}

void clear(std::vector<std::uint64_t>& bits, std::uint32_t slot) {
  bits[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
}

}  // namespace

StackDistance::StackDistance(Index items, Index single, double scale, Offset passers_by)
    : single_(single), scale_(scale), slot_of_item_(static_cast<std::size_t>(items), kNever) {
  // Twice the items, so that at least as many reads as items lie between two renumberings.
  const std::uint64_t wanted = std::max<std::uint64_t>(
      2 * static_cast<std::uint64_t>(items) + static_cast<std::uint64_t>(passers_by), 4096);
  slots_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((wanted + kBlockBits - 1) / kBlockBits * kBlockBits, 0xfffffe00u));
  bits_.resize(slots_ / 64);
  if (single < items) other_bits_.resize(slots_ / 64);
  tree_.resize(slots_ / kBlockBits + 1);
}

void StackDistance::reset() {
  std::fill(slot_of_item_.begin(), slot_of_item_.end(), kNever);
  std::fill(bits_.begin(), bits_.end(), 0);
  std::fill(other_bits_.begin(), other_bits_.end(), 0);
  std::fill(tree_.begin(), tree_.end(), 0);
  next_slot_ = 0;
  held_ = 0;
}

StackDistance::Counts StackDistance::held_up_to(std::uint32_t slot) const {
  Counts counts = count_in_block(bits_, slot);
  if (!other_bits_.empty()) counts += count_in_block(other_bits_, slot) << 32;
  for (std::uint32_t block = slot / kBlockBits; block > 0; block &= block - 1)
    counts += tree_[block];
  return counts;
}

void StackDistance::add(std::uint32_t block, Counts change) {
  for (std::uint32_t at = block + 1; at < tree_.size(); at += at & -at) tree_[at] += change;
}

void StackDistance::renumber() {
  for (std::uint32_t& slot : slot_of_item_) {
    if (slot == kNever) continue;
    const Counts before = held_up_to(slot);
    slot = static_cast<std::uint32_t>((before & 0xffffffffu) + (before >> 32) - 1);
  }
  std::fill(bits_.begin(), bits_.end(), 0);
  std::fill(other_bits_.begin(), other_bits_.end(), 0);
  std::fill(tree_.begin(), tree_.end(), 0);
  next_slot_ = static_cast<std::uint32_t>((held_ & 0xffffffffu) + (held_ >> 32));
  // Every slot before the next one is held now: by an item of the second kind, or by one of the
  // first, or by what passed by.
  for (std::size_t item = static_cast<std::size_t>(single_); item < slot_of_item_.size(); ++item) {
    if (slot_of_item_[item] != kNever) set(other_bits_, slot_of_item_[item]);
  }
  for (std::uint32_t slot = 0; slot < next_slot_; ++slot) {
    const bool is_other =
        !other_bits_.empty() && (other_bits_[slot / 64] >> slot % 64 & std::uint64_t{1}) != 0;
    if (!is_other) set(bits_, slot);
    tree_[slot / kBlockBits + 1] += is_other ? Counts{1} << 32 : Counts{1};
  }
  // Counts per block become a Fenwick tree in one sweep.
  for (std::size_t at = 1; at < tree_.size(); ++at) {
    const std::size_t parent = at + (at & -at);
    if (parent < tree_.size()) tree_[parent] += tree_[at];
  }
}

void StackDistance::pass_by() {
  if (next_slot_ == slots_) renumber();
  const std::uint32_t now = next_slot_++;
  ++held_;
  add(now / kBlockBits, 1);
  set(bits_, now);
}

double StackDistance::read(Index item) {
  if (next_slot_ == slots_) renumber();
  std::uint32_t& slot = slot_of_item_[static_cast<std::size_t>(item)];
  std::vector<std::uint64_t>& bits = bits_of(item);
  const std::uint32_t now = next_slot_++;
  const Counts one = one_of(item);
  double distance = kFirst;
  if (slot == kNever) {
    held_ += one;
    add(now / kBlockBits, one);
  } else {
    distance = weight(held_ - held_up_to(slot));
    clear(bits, slot);
    if (slot / kBlockBits != now / kBlockBits) {
      add(slot / kBlockBits, ~one + 1);
      add(now / kBlockBits, one);
    }
  }
  set(bits, now);
  slot = now;
  return distance;
}

}  // namespace csrkit
