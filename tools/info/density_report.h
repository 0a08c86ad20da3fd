// What csr-density counts and says.
#pragma once

#include "core/facts/summed_area_table.h"
#include "tools/info/density_options.h"

namespace csrkit {

/// The table, and what it took, into the report. Throws as require_gpu_room does if a GPU is asked
/// for.
SummedAreaTable make_table(Report& report, const DensityToolOptions& options,
                           const CsrMatrix& matrix);

/// Everything that the options ask of the table and the matrix.
void report_density(Report& report, const DensityToolOptions& options, const CsrMatrix& matrix,
                    const SummedAreaTable& table);

}  // namespace csrkit
