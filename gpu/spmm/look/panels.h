// Panels of neighbouring rows: how many columns their rows share, and how even the rows are.
#pragma once

#include "gpu/spmm/look/entries.h"

namespace csrkit::gpu {

/// What a sample of panels of neighbouring rows has, by their shares of A's entries: panels of long
/// rows count for much.
struct PanelSample {
  Offset entries = 0;
  Offset distinct = 0;     // columns, panel by panel
  Offset places = 0;       // entries, if all rows of a panel were as long as its longest
  bool all_finite = true;  // of values in 16 bits; those of other kinds are not looked at

  /// How many entries of neighbouring rows have one column in common.
  double sharing() const {
    return distinct == 0 ? 1 : static_cast<double>(entries) / static_cast<double>(distinct);
  }
  double evenness() const {
    return places == 0 ? 1 : static_cast<double>(entries) / static_cast<double>(places);
  }
};

namespace look {

/// Samples the panels of evenly spread entries, so a panel counts in proportion to its entries.
PanelSample sample_panels(const CsrMatrix& a, Index panel_rows, const EntrySample& of_entries);

/// The same for panels of A's columns, for A^T. Columns of a row are sorted, so those of one panel
/// are neighbours. The lengths of columns are unknown and count as equal.
PanelSample sample_column_panels(const CsrMatrix& a, Index panel_cols,
                                 const EntrySample& of_entries);

}  // namespace look

}  // namespace csrkit::gpu
