// Orderings applied to a file: the matrix moves, and the orders since import move with it.
#pragma once

#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "core/matrix/dense_matrix.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {

enum class Sides { rows, cols, both };

/// "" means both for a square matrix, rows otherwise.
Sides sides_of(const std::string& name, const CsrMatrix& matrix);
const char* name_of(Sides sides);

/// `file` in that order, applied to the rows, to the columns (`cols`), or to both. For `both` of a
/// rectangular matrix the ordering must hold an order of the columns, too. Drops parts for ranks.
CsrFile in_order(const CsrFile& file, const Ordering& ordering, Sides sides);

/// `file` in the order of `method`. Orders in the file are continued, so that they still lead from
/// the matrix at import to the stored one; a partition moves with the rows. For `cols` the method
/// sees the transpose. For `both` of a rectangular matrix, columns get the order that the method
/// makes of them together with the rows, or, if it makes none, that of the transpose's rows.
CsrFile reordered(const CsrFile& file, const std::string& method, Sides sides,
                  const ReorderOptions& options);

/// Throws UsageError for a parameter that none of the methods takes, and for an unknown method.
void require_taken(const ParameterValues& parameters, const std::vector<std::string>& methods);

/// One method after the other, each on what the one before left. Parameters go to the methods that
/// take them. Throws UsageError as require_taken does.
CsrFile reordered(const CsrFile& file, const std::vector<std::string>& methods, Sides sides,
                  const ReorderOptions& options);

/// `file` in the order at import, without its parts for ranks. Throws UsageError if it was never
/// reordered; the message begins with `name`.
CsrFile restored(const CsrFile& file, const std::string& name = "the file");

/// A dense operand of the matrix at import, moved to the file's order, or back if `is_undo`. Rows
/// of B are ordered like columns of the matrix, rows of C like its rows; `sides` ("rows", "cols" or
/// "") says which. "" will do where both are the same, or only one fits. Throws UsageError; `name`
/// is that of `file` in its message.
DenseMatrix operand_moved(const DenseMatrix& operand, const CsrFile& file, const std::string& sides,
                          bool is_undo, const std::string& name = "the file");

}  // namespace csrkit
