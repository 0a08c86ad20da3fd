// The analysis behind row_panels: neighbouring rows share one list of columns.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/row_panels/panel.h"

namespace csrkit::gpu {

/// Plans and runs the analysis. All sizes are bounds from rows and nnz alone.
class PanelListMaker {
 public:
  PanelListMaker() = default;
  /// `one`: the number 1 in 16 bits, for the entries of an A without values.
  PanelListMaker(Index rows, Offset nnz, int value_bytes, std::uint16_t one = 0);

  Index panels() const { return panels_; }
  std::uint64_t workspace_bytes() const { return bytes_; }
  PanelLists lay_out(void* workspace) const;

  /// Queues the analysis, which finds the entries of each panel with a common column. It also
  /// clears the `cleared_behind` bytes after the workspace: a launch for these alone would take a
  /// few microseconds.
  void analyse(const DeviceCsrView<void>& a, void* workspace, std::uint64_t cleared_behind,
               cudaStream_t stream) const;

 private:
  template <class Word>
  void make_lists(const DeviceCsrView<void>& a, void* workspace, std::uint64_t cleared_behind,
                  cudaStream_t stream) const;

  Index panels_ = 0;
  int value_bytes_ = 0;
  std::uint16_t one_ = 0;
  Offset max_entries_ = 0;
  std::uint64_t bytes_ = 0;
  // Byte positions in the workspace.
  std::uint64_t counts_at_ = 0, long_at_ = 0, copied_at_ = 0, lengths_at_ = 0, cols_at_ = 0,
                masks_at_ = 0, values_at_ = 0;
};

}  // namespace csrkit::gpu
