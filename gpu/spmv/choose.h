// auto: chooses the kernel that is fastest by a model of the machine, from the profile of the
// matrix. No CUDA here: the rules are tested without a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/types.h"
#include "gpu/device/device_info.h"

namespace csrkit::gpu {

/// A stencil that is so many times as large as CSR is never a candidate.
inline constexpr std::uint64_t kMostStencilShare = 2;

/// What the model knows of a matrix.
struct SpmvProfile {
  Index rows = 0;
  Offset nnz = 0;
  std::uint64_t vector_bytes = 0;  // x and y, once each
  std::uint64_t x_bytes = 0;       // of them, those of x
  std::uint64_t csr_bytes = 0;     // of A in each format
  std::uint64_t jagged_bytes = 0;
  std::uint64_t sell_bytes = 0;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t bsr_bytes = 0;
  std::uint64_t stencil_bytes = 0;
  Offset gathered_sectors = 0;  // of x, by 32 entries in sequence at once
  int jagged_height = 0;        // entries of its longest segment
  bool jagged_is_padded = false;
  Offset jagged_places = 0;  // entries with padding
  Offset sell_places = 0;
  Offset bsr_places = 0;
  Offset stencil_places = 0;  // 0: there are too many diagonals
  Offset longest_slice = 0;   // steps: the longest row
  int warps_per_slice = 1;
  std::uint64_t available_bytes = 0;  // for a format beside CSR
  CardRates card;
};

struct SpmvChoice {
  const char* kernel;
  std::string because;
};

/// The model's seconds of one product: the sum of launch cost, bytes, entries, rows and the gathers
/// of x. Where A as CSR takes more than 0.8 of L2, all costs are others, and bytes come from memory
/// but for those that stay: then it is at least what memory takes.
double model_seconds(const std::string& kernel, const SpmvProfile& profile);

/// The kernel with the least seconds; csr_balanced, which needs no memory, if no other fits.
SpmvChoice choose_spmv(const SpmvProfile& profile);

}  // namespace csrkit::gpu
