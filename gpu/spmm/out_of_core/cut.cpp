#include "gpu/spmm/out_of_core/cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "gpu/device/workspace_layout.h"

namespace csrkit::gpu {

namespace {

// Blocks begin at multiples of this: in 16 bits, row_panels makes panels of so many rows.
constexpr Index kRowsTogether = 8;
constexpr Offset kEntriesTogether = 8;  // see BlockLayout::first_entry
constexpr int kVectorBytes = 16;        // panels are multiples of what a lane loads at once

// Rates of an H200 and its 16 cores (docs/scaling.md). A piece of a row of B or C on the host costs
// half a cache line beside its bytes; if it is no multiple of lines, it shares lines with other
// panels, and those of C are read and written for each panel. A piece in device memory costs a
// line.
constexpr double kCopyBytesPerSecond = 46e9;  // each way, both at once
constexpr double kLine = 64, kPieceBytes = 32, kSharedLines = 4;
constexpr double kGatherBytesPerSecond = 2.2e12, kLeastGathered = 128;
constexpr double kAnalysisBytesPerEntry = 40;

// Steps of a panel are large enough to hide launches and waits, and small enough that the first
// download starts early.
constexpr std::uint64_t kStepBytes = std::uint64_t{128} << 20;
// of an A that is streamed: while one is multiplied, the next is copied
constexpr Index kFewestBlocks = 8;

std::uint64_t times(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b) *
         static_cast<std::uint64_t>(c);
}

BlockLayout lay_out_block(const OutOfCoreProduct& product, Index first, Index last,
                          Index panel_cols) {
  BlockLayout block;
  block.first_row = first;
  block.rows = last - first;
  const Offset begin = product.row_offsets[first];
  block.first_entry = begin / kEntriesTogether * kEntriesTogether;
  block.skipped = static_cast<Index>(begin - block.first_entry);
  block.entries = product.row_offsets[last] - block.first_entry;
  WorkspaceLayout layout;
  layout.reserve<std::uint32_t>(Offset{block.rows} + 1);
  block.cols_at = layout.reserve<Index>(block.entries);
  block.values_at = layout.reserve_bytes(times(block.entries, product.value_bytes));
  block.workspace_at =
      layout.reserve_bytes(product.workspace_bytes(block.sizes(product, panel_cols)));
  block.bytes = layout.bytes();
  return block;
}

/// Upper limits of a block.
struct BlockLimits {
  Index rows = kMaxIndex;
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // with its part of C
};

/// The largest blocks within the limits, or nothing if somewhere even kRowsTogether rows exceed
/// them.
std::optional<std::vector<BlockLayout>> blocks_within(const OutOfCoreProduct& product,
                                                      Index panel_cols, const BlockLimits& limits) {
  constexpr Offset kMostEntries = std::numeric_limits<std::uint32_t>::max();
  std::vector<BlockLayout> blocks;
  const auto fits = [&](const BlockLayout& block) {
    const std::uint64_t c_bytes = times(block.rows, panel_cols, product.c_bytes);
    return block.entries <= kMostEntries && block.bytes <= limits.bytes &&
           c_bytes <= limits.bytes - block.bytes;
  };
  for (Index first = 0; first < product.rows || blocks.empty();) {
    const Index left = product.rows - first;
    // In units of kRowsTogether rows, the last of which may have fewer.
    const auto last_of = [&](Index count) {
      return static_cast<Index>(
          std::min<Offset>(Offset{first} + Offset{count} * kRowsTogether, product.rows));
    };
    const Index least = left == 0 ? 0 : 1;
    Index low = least;
    const Index units = left / kRowsTogether + (left % kRowsTogether == 0 ? 0 : 1);
    Index high = std::max(least, std::min(units, std::max(limits.rows / kRowsTogether, 1)));
    BlockLayout best = lay_out_block(product, first, last_of(low), panel_cols);
    if (!fits(best)) return std::nullopt;
    while (low < high) {
      const Index middle = low + (high - low + 1) / 2;
      const BlockLayout block = lay_out_block(product, first, last_of(middle), panel_cols);
      if (fits(block)) {
        low = middle;
        best = block;
      } else {
        high = middle - 1;
      }
    }
    blocks.push_back(best);
    if (left == 0) break;
    first = last_of(low);
  }
  return blocks;
}

Index most_rows(const std::vector<BlockLayout>& blocks) {
  Index most = 0;
  for (const BlockLayout& block : blocks) most = std::max(most, block.rows);
  return most;
}

std::uint64_t most_bytes(const std::vector<BlockLayout>& blocks) {
  std::uint64_t most = 0;
  for (const BlockLayout& block : blocks) most = std::max(most, block.bytes);
  return most;
}

std::uint64_t bytes_of_a(const OutOfCoreProduct& product, const std::vector<BlockLayout>& blocks) {
  std::uint64_t bytes = 0;
  for (const BlockLayout& block : blocks) {
    bytes += times(Offset{block.rows} + 1, sizeof(std::uint32_t)) +
             times(block.entries, std::int64_t{sizeof(Index)} + product.value_bytes);
  }
  return bytes;
}

/// Buffers, bytes and time of a cut whose blocks are known.
void complete(const OutOfCoreProduct& product, Cut* cut) {
  const Index panels = cut->panels, steps = cut->steps();
  cut->b_buffers = std::min<Index>(panels, 2);
  cut->c_buffers = std::min<Index>(steps, 2);
  cut->b_buffer_bytes =
      WorkspaceLayout::aligned(times(product.cols, cut->panel_cols, product.b_bytes));
  cut->c_buffer_bytes =
      WorkspaceLayout::aligned(times(most_rows(cut->blocks), cut->panel_cols, product.c_bytes));
  std::uint64_t a_bytes = 0;
  if (cut->keeps_a) {
    for (const BlockLayout& block : cut->blocks) a_bytes += block.bytes;
  } else {
    cut->a_buffers = std::min<Index>(steps, 2);
    cut->a_buffer_bytes = most_bytes(cut->blocks);
    a_bytes = times(cut->a_buffers, 1) * cut->a_buffer_bytes;
  }
  cut->device_bytes = a_bytes + times(cut->b_buffers, 1) * cut->b_buffer_bytes +
                      times(cut->c_buffers, 1) * cut->c_buffer_bytes;

  const std::uint64_t b_bytes = times(product.cols, product.dense_cols, product.b_bytes);
  const std::uint64_t a_moved = cut->keeps_a ? 0 : bytes_of_a(product, cut->blocks);
  cut->bytes_in = b_bytes + times(panels, 1) * a_moved;
  cut->bytes_out = times(product.rows, product.dense_cols, product.c_bytes);

  // Multiplication waits for the first panel, and C's last piece comes after all products. In
  // between the slowest of copies in, products and copies out decides.
  const auto piece = [&](int bytes) {
    const double size = static_cast<double>(cut->panel_cols) * bytes;
    if (cut->panels == 1 || product.is_panel_major) return 1.0;
    const bool has_lines = std::fmod(size, kLine) == 0;
    return (size + kPieceBytes) / size * (has_lines ? 1 : kSharedLines);
  };
  const double b_piece = piece(product.b_bytes), c_piece = piece(product.c_bytes);
  const auto block_count = static_cast<double>(cut->blocks.size());
  const double first = (static_cast<double>(cut->b_buffer_bytes) * b_piece +
                        static_cast<double>(a_moved) / block_count) /
                       kCopyBytesPerSecond;
  const double in = (static_cast<double>(b_bytes) * b_piece +
                     static_cast<double>(panels) * static_cast<double>(a_moved)) /
                    kCopyBytesPerSecond;
  const double out = static_cast<double>(cut->bytes_out) * c_piece / kCopyBytesPerSecond;
  const double gathered =
      std::max(static_cast<double>(cut->panel_cols) * product.b_bytes, kLeastGathered) +
      (cut->keeps_a ? 0 : kAnalysisBytesPerEntry);
  const double products = static_cast<double>(panels) * static_cast<double>(product.nnz()) *
                          gathered / kGatherBytesPerSecond;
  const double last = steps == 0 ? 0 : out / steps;
  cut->seconds =
      std::min(first, in) + std::max({in - std::min(first, in), out - last, products}) + last;
}

/// The scheme where A stays on the device, with pieces of C of a convenient size that fits.
std::optional<Cut> cut_with_a(const OutOfCoreProduct& product, std::uint64_t limit, Index panels,
                              Index panel_cols) {
  const std::uint64_t row_bytes = times(panel_cols, product.c_bytes);
  for (std::uint64_t step_bytes = kStepBytes; step_bytes > 0; step_bytes /= 4) {
    const std::uint64_t rows = std::max<std::uint64_t>(step_bytes / row_bytes, kRowsTogether);
    const BlockLimits limits{static_cast<Index>(std::min<std::uint64_t>(rows, kMaxIndex)),
                             std::numeric_limits<std::uint64_t>::max()};
    Cut cut;
    cut.keeps_a = true;
    cut.panels = panels;
    cut.panel_cols = panel_cols;
    auto blocks = blocks_within(product, panel_cols, limits);
    if (!blocks) return std::nullopt;  // a row has more than 2^32 entries
    cut.blocks = std::move(*blocks);
    complete(product, &cut);
    if (cut.device_bytes <= limit) return cut;
    // Smaller pieces of C help only if C's buffers are what does not fit.
    if (cut.device_bytes - times(cut.c_buffers, 1) * cut.c_buffer_bytes > limit)
      return std::nullopt;
    if (rows <= kRowsTogether) return std::nullopt;
  }
  return std::nullopt;
}

/// The scheme where blocks of A are streamed: two buffers, each with its part of C.
std::optional<Cut> cut_without_a(const OutOfCoreProduct& product, std::uint64_t limit, Index panels,
                                 Index panel_cols) {
  const std::uint64_t b_bytes =
      times(std::min<Index>(panels, 2), 1) *
      WorkspaceLayout::aligned(times(product.cols, panel_cols, product.b_bytes));
  if (b_bytes >= limit) return std::nullopt;
  const std::uint64_t whole = lay_out_block(product, 0, product.rows, panel_cols).bytes +
                              times(product.rows, panel_cols, product.c_bytes);
  const std::uint64_t wanted = std::max<std::uint64_t>(whole / kFewestBlocks + 1, kStepBytes);
  Cut cut;
  cut.panels = panels;
  cut.panel_cols = panel_cols;
  constexpr std::uint64_t kRounding = 256;  // of C's buffer
  const std::uint64_t half = (limit - b_bytes) / 2;
  if (half <= kRounding) return std::nullopt;
  // The largest block and the largest piece of C may belong to different steps: there must be room
  // for both.
  for (std::uint64_t room = std::min(half - kRounding, wanted); room > 0; room = room * 3 / 4) {
    auto blocks = blocks_within(product, panel_cols, {kMaxIndex, room});
    if (!blocks) return std::nullopt;
    cut.blocks = std::move(*blocks);
    complete(product, &cut);
    if (cut.device_bytes <= limit) return cut;
  }
  return std::nullopt;
}

/// The least bytes that any cut needs: a panel of the least width (two if there are several) and
/// the block with the longest rows, twice.
std::uint64_t least_bytes(const OutOfCoreProduct& product, Index panel_cols) {
  std::uint64_t most = 0;
  Offset most_entries = -1;
  for (Index first = 0; first < product.rows;
       first += std::min(kRowsTogether, product.rows - first)) {
    const Index last = first + std::min(kRowsTogether, product.rows - first);
    const Offset entries = product.row_offsets[last] - product.row_offsets[first];
    if (entries <= most_entries) continue;
    most_entries = entries;
    most = lay_out_block(product, first, last, panel_cols).bytes;
  }
  const bool is_one = panel_cols >= product.dense_cols;
  return (is_one ? 1 : 2) *
             WorkspaceLayout::aligned(times(product.cols, panel_cols, product.b_bytes)) +
         2 * (most + WorkspaceLayout::aligned(times(kRowsTogether, panel_cols, product.c_bytes)));
}

}  // namespace

SpmmSizes BlockLayout::sizes(const OutOfCoreProduct& product, Index panel_cols) const {
  SpmmSizes sizes;
  sizes.rows = rows;
  sizes.cols = product.cols;
  sizes.nnz = entries;
  sizes.dense_cols = panel_cols;
  sizes.whole_rows = product.rows;
  sizes.whole_nnz = product.nnz();
  sizes.whole_dense_cols = product.dense_cols;
  return sizes;
}

Cut choose_cut(const OutOfCoreProduct& product, std::uint64_t limit_bytes, OutOfCore how,
               Index most_panel_cols) {
  const Index unit = std::max(kVectorBytes / std::min(product.b_bytes, product.c_bytes), 1);
  const Index units = (product.dense_cols - 1) / unit + 1;
  std::optional<Cut> best;
  Index tried = 0;  // the last width
  for (Index panels = 1; panels <= units; ++panels) {
    const Index panel_cols = panels == 1 ? product.dense_cols : ((units - 1) / panels + 1) * unit;
    if (panel_cols == tried) continue;
    tried = panel_cols;
    const Index count = (product.dense_cols - 1) / panel_cols + 1;
    if (most_panel_cols > 0 && panel_cols > std::max(most_panel_cols, unit)) continue;
    for (const bool keeps_a : {true, false}) {
      if (how == (keeps_a ? OutOfCore::rows : OutOfCore::columns)) continue;
      const std::optional<Cut> cut = keeps_a
                                         ? cut_with_a(product, limit_bytes, count, panel_cols)
                                         : cut_without_a(product, limit_bytes, count, panel_cols);
      if (cut && (!best || cut->seconds < best->seconds)) best = *cut;
    }
  }
  if (best) return *std::move(best);
  throw MemoryError(
      "no room for the product out of core" +
      std::string(how == OutOfCore::columns ? " with A on the device (--out-of-core rows)" : "") +
      ": the limit is " + counted(limit_bytes, "byte") + " of device memory; blocks of rows and " +
      "panels of " + counted(std::min(unit, product.dense_cols), "column") +
      " need at least about " +
      counted(least_bytes(product, std::min(unit, product.dense_cols)), "byte") +
      "; raise --memory-limit, or use a narrower --value-kind");
}

}  // namespace csrkit::gpu
