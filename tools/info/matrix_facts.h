// What tools say about a matrix, in the same words and JSON keys everywhere.
#pragma once

#include <string>

#include "core/facts/matrix_stats.h"
#include "core/file/csr_file.h"
#include "tools/cli/json.h"
#include "tools/cli/report.h"

namespace csrkit {

/// "yes", "pattern only", "no" or "no (not square)".
std::string symmetry_text(const CsrFlags& flags, bool is_square);

/// rows, cols, nnz, value kind.
void add_shape(Report& report, const CsrMatrix& matrix);

/// Parts, balance, cut and halos.
void add_partition(Report& report, const Partition& partition, const CsrMatrix& matrix);

Json to_json(const MatrixStats& stats);

/// Row lengths by powers of two, as bars.
std::string row_length_histogram(const RowLengthProfile& profile);

}  // namespace csrkit
