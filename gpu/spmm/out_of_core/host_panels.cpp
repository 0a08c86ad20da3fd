#include "gpu/spmm/out_of_core/host_panels.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/available_memory.h"
#include "core/matrix/dense_block.h"
#include "gpu/plan/operands.h"

namespace csrkit::gpu {

void HostPanels::bind(const ConstDenseView& operand) {
  operand_ = operand;
  if (!has_copies_) return;
  const std::uint64_t bytes = dense_bytes(operand.rows, operand.cols, operand.kind);
  if (copies_.size_bytes() == bytes) return;
  require_available_memory(bytes, "a page-locked copy of B or C", "multiply without --panel-major");
  copies_ = {};
  copies_ = PageLockedMemory(bytes, threads_);
}

Index HostPanels::cols_of(Index panel) const {
  const Offset left = Offset{operand_.cols} - Offset{panel} * panel_cols_;
  return static_cast<Index>(std::min<Offset>(left, panel_cols_));
}

Region HostPanels::rows_of_operand(Index panel, Index first_row, Index rows, std::byte* at) const {
  const auto element = static_cast<std::size_t>(size_of(operand_.kind));
  const Offset first = Offset{first_row} * operand_.leading_dim + Offset{panel} * panel_cols_;
  auto* const bytes = const_cast<std::byte*>(operand_.as<std::byte>());  // only C is written
  return {bytes + static_cast<std::size_t>(first) * element,
          static_cast<std::size_t>(operand_.leading_dim) * element,
          static_cast<std::size_t>(cols_of(panel)) * element, rows, at};
}

Region HostPanels::rows_of_copy(Index panel, Index first_row, Index rows, std::byte* at) const {
  const auto element = static_cast<std::size_t>(size_of(operand_.kind));
  const Offset cols = cols_of(panel);
  const Offset first =
      Offset{operand_.rows} * (Offset{panel} * panel_cols_) + Offset{first_row} * cols;
  const std::size_t row_bytes = static_cast<std::size_t>(cols) * element;
  Region region{copies_.data() + static_cast<std::size_t>(first) * element, row_bytes, row_bytes,
                rows, at};
  region.is_locked = true;
  return region;
}

/// Calls f(panel, first_row, rows) on all threads, for blocks of rows that fit a core's cache.
template <class F>
void HostPanels::over_blocks(F&& f) const {
  constexpr Offset kRows = 1024;
  const Offset rows = operand_.rows;
  std::atomic<Offset> next{0};
  const auto work = [&] {
    for (Offset first = next.fetch_add(kRows); first < rows; first = next.fetch_add(kRows)) {
      const auto count = static_cast<Index>(std::min<Offset>(kRows, rows - first));
      for (Index panel = 0; Offset{panel} * panel_cols_ < operand_.cols; ++panel) {
        f(panel, static_cast<Index>(first), count);
      }
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads_ && Offset{i} * kRows < rows; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

void HostPanels::pack() const {
  over_blocks([&](Index panel, Index first_row, Index rows) {
    const Region from = rows_of_operand(panel, first_row, rows, nullptr);
    const Region to = rows_of_copy(panel, first_row, rows, nullptr);
    pack_rows(to.host, {from.host, from.pitch_bytes}, from.row_bytes, rows);
  });
}

void HostPanels::unpack() const {
  over_blocks([&](Index panel, Index first_row, Index rows) {
    const Region from = rows_of_copy(panel, first_row, rows, nullptr);
    const Region to = rows_of_operand(panel, first_row, rows, nullptr);
    unpack_rows({to.host, to.pitch_bytes}, from.host, to.row_bytes, rows);
  });
}

}  // namespace csrkit::gpu
