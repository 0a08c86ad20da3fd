// What tools say about a matrix, in the same words and JSON keys everywhere.
#pragma once

#include <string>

#include "core/csr_file.h"
#include "core/matrix_stats.h"
#include "tools/support/json.h"
#include "tools/support/report.h"

namespace csrkit {

/// "yes", "pattern only", "no" or "no (not square)".
std::string symmetry_text(const CsrFlags& flags, bool is_square);

/// The flags as they are, found by looking at the matrix.
CsrFlags measured_flags(const CsrMatrix& matrix);

/// rows, cols, nnz, value kind.
void add_shape(Report& report, const CsrMatrix& matrix);

/// Parts, balance, cut and halos.
void add_partition(Report& report, const Partition& partition, const CsrMatrix& matrix);

Json to_json(const MatrixStats& stats);

/// Row lengths by powers of two, as bars.
std::string row_length_histogram(const RowLengthProfile& profile);

/// "[{"name", ...}]" or aligned text for lists of (name, summary).
std::string list_rows(const std::string& heading,
                      const std::vector<std::pair<std::string, std::string>>& rows, bool as_json);

}  // namespace csrkit
