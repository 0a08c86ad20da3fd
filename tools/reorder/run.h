// What csr-reorder does with the matrix that it has read.
#pragma once

#include <optional>

#include "tools/cli/report.h"
#include "tools/reorder/options.h"

namespace csrkit {

/// A file in another order, or back in the order at import; and what finding the order took.
struct ReorderRun {
  CsrFile file;
  double order_seconds = 0;
  std::optional<double> modularity;  // of the parts in the file
};

/// --method and --undo. The result carries a step of provenance.
ReorderRun reorder_file(const ReorderToolOptions& options, const CsrFile& before);
/// What the run did, with the locality before and after.
void add_reorder(Report& report, const ReorderToolOptions& options, const CsrFile& before,
                 const ReorderRun& run);

/// --apply-to: reads the operand, writes it moved, reports.
void move_operand(const ReorderToolOptions& options, const CsrFile& file);

/// --advise: tries the methods, reports.
void give_advice(const ReorderToolOptions& options, const CsrMatrix& matrix);

}  // namespace csrkit
