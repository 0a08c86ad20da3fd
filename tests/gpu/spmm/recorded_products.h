// Products that were measured on an H100 and an H200, as the choice between kernels sees them. The
// times are studies/spmm_choices', those of spmm_choices_slices and spmm_choices_twelfth
// csr-bench's.
#pragma once

#include <string>
#include <vector>

#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

struct RecordedProduct {
  std::string matrix;
  SpmmProfile profile;
  bool is_transposed = false;
  double bins = 0, panels = 0;        // microseconds
  double windows = 0;                 // 0 where dense_windows was not seen
  double best = 0, other_chosen = 0;  // of all kernels; of the one that an earlier rule took
};

/// Products of several columns that both kernels did, of operands that have so many columns more in
/// memory. Where row_bins is another kernel now, and what it takes was not seen, a product is left
/// out. `record`: below docs/results, without its ending.
std::vector<RecordedProduct> recorded_products(const std::string& record, int padding = 0);

/// Whether a matrix had no part in fitting the formula, nor in what is learnt of likeness: about a
/// third of all, among them all of the second set of real and of generated ones.
bool is_kept_out(const std::string& matrix);

}  // namespace csrkit::gpu
