#include "gpu/spmv/profile.h"

#include "gpu/spmv/bsr/block_rows.h"
#include "gpu/spmv/compressed/encode.h"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/gathers.h"
#include "gpu/spmv/jagged/pieces.h"
#include "gpu/spmv/slices/slices.h"
#include "gpu/spmv/stencil/encode.h"

namespace csrkit::gpu {

namespace {

/// compressed and bsr are not looked for if a row has more entries: a warp would go through it, and
/// kernels that cut rows are done before that.
constexpr Offset kLongestWalk = 4096;

void measure_stencil(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory,
                     SpmvProfile& profile) {
  EncodedDiagonals diagonals;
  if (!diagonals.measure(a, value_bytes, kFewDiagonals, memory)) return;
  const std::uint64_t bytes = diagonals.bytes(a.rows, value_bytes);
  if (bytes > kMostStencilShare * profile.csr_bytes) return;
  profile.stencil_bytes = bytes;
  profile.stencil_places = Offset{diagonals.count()} * a.rows;
}

void measure_jagged(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory,
                    SpmvProfile& profile) {
  JaggedPieces pieces;
  pieces.make(a, value_bytes, memory, current_multiprocessors());
  const std::uint64_t of_a_column = pieces.is_narrow() ? sizeof(std::uint16_t) : sizeof(Index);
  profile.jagged_height = pieces.shape().height;
  profile.jagged_is_padded = pieces.shape().is_padded;
  profile.jagged_places = pieces.places(a.nnz);
  profile.jagged_bytes =
      pieces.bytes() + static_cast<std::uint64_t>(profile.jagged_places) *
                           (of_a_column + static_cast<std::uint64_t>(value_bytes));
}

void measure_compressed(const DeviceCsrView<void>& a, const Slices& slices, int value_bytes,
                        DeviceMemory& memory, SpmvProfile& profile) {
  EncodedColumns columns;
  columns.measure(a, slices, memory);
  ValueTable table;
  table.find(a.values, a.nnz, value_bytes, memory);
  profile.compressed_bytes =
      slices.bytes() + compressed_bytes(slices.view().count, slices.steps(),
                                        columns.difference_bytes(), value_bytes, table.size() > 0);
}

/// Not where the longest row has so many times the average: such matrices have no blocks.
void measure_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory,
                    SpmvProfile& profile) {
  constexpr Offset kMostUneven = 32;
  if (profile.longest_slice * a.rows > kMostUneven * a.nnz) return;
  if (!may_pay_blocks(a, value_bytes, memory)) return;
  const BlockCount blocks = best_blocks(a, value_bytes, memory);
  const std::uint64_t bytes = block_bytes(blocks, a.rows, value_bytes);
  if (bytes > profile.csr_bytes) return;  // blocks are mostly gaps
  profile.bsr_bytes = bytes;
  profile.bsr_places = blocks.blocks * blocks.size * blocks.size;
}

}  // namespace

SpmvProfile profile_of(const DeviceCsr& a, std::uint64_t vector_bytes, int element_bytes,
                       DeviceMemory& memory) {
  const DeviceCsrView<void> view = a.view<void>();
  const int value_bytes = static_cast<int>(size_of(a.value_kind()));
  SpmvProfile profile;
  profile.rows = a.rows();
  profile.nnz = a.nnz();
  profile.vector_bytes = vector_bytes;
  profile.x_bytes =
      static_cast<std::uint64_t>(a.cols()) * static_cast<std::uint64_t>(element_bytes);
  profile.csr_bytes = csr_bytes_of(a);
  if (a.nnz() == 0) return profile;

  profile.gathered_sectors = count_gathered_sectors(view, element_bytes, memory);
  measure_jagged(view, value_bytes, memory, profile);
  measure_stencil(view, value_bytes, memory, profile);
  const Slices slices(view, memory);
  profile.sell_places = slices.places();
  profile.longest_slice = slices.longest();
  profile.warps_per_slice = warps_per_slice(slices);
  profile.sell_bytes =
      slices.bytes() + static_cast<std::uint64_t>(slices.places()) *
                           (sizeof(Index) + static_cast<std::uint64_t>(value_bytes));
  if (slices.longest() <= kLongestWalk) {
    measure_compressed(view, slices, value_bytes, memory, profile);
    measure_blocks(view, value_bytes, memory, profile);
  }
  profile.available_bytes = memory.available_bytes();
  profile.card = current_card_rates();
  return profile;
}

}  // namespace csrkit::gpu
