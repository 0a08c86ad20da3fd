// Counts distinct columns.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/base/types.h"

namespace csrkit::gpu::look {

/// Counts the distinct columns of windows of rows, and of parts of them, by a hash table without
/// chains. A column is counted again if another one took its place meanwhile: with 4,096 places and
/// 1,000 entries this happens to one in twenty. A merge of sorted rows would be exact but take ten
/// times as long, because its branches cannot be predicted.
class ColumnCounter {
 public:
  static constexpr std::uint32_t kParts = 4;  // of a window, at most
  struct Counts {
    Offset in_parts = 0, in_windows = 0;
    void add(std::uint32_t differs) {
      in_parts += differs != 0 ? 1 : 0;
      in_windows += differs >= kParts ? 1 : 0;
    }
  };
  /// Fewer than 1,000 windows.
  void start(int window, Index part) {
    group_ = (static_cast<std::uint32_t>(window) + 1) * kParts + static_cast<std::uint32_t>(part);
  }
  /// Adds ascending columns up to the first that is not below `end_col`, and returns how many.
  Offset add_below(Index end_col, const Index* begin, const Index* end, Counts& counts) {
    const std::uint32_t group = group_;
    Counts own;  // in registers
    const Index* at = begin;
    for (; at < end && *at < end_col; ++at) own.add(note(*at, group));
    counts.in_parts += own.in_parts;
    counts.in_windows += own.in_windows;
    return at - begin;
  }

 private:
  /// How the place of a column differs from what it would be if the column was there before. The
  /// place is the upper bits of the hash. The lower ones and the part are left to compare.
  std::uint32_t note(Index col, std::uint32_t group) {
    const std::uint32_t hash = static_cast<std::uint32_t>(col) * 0x9e3779b1u;
    const std::uint32_t key = (hash << kLog2Places) + group;
    return std::exchange(last_[hash >> (32 - kLog2Places)], key) ^ key;
  }

  static constexpr int kLog2Places = 12;
  std::array<std::uint32_t, 1 << kLog2Places> last_ = {};
  std::uint32_t group_ = 0;
};

}  // namespace csrkit::gpu::look
