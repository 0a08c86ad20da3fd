#include "api/reordering.h"

#include <algorithm>
#include <memory>

#include "api/measured_flags.h"
#include "core/base/counted.h"
#include "preprocess/reorder/parts/partition_borders.h"

namespace csrkit {

namespace {

std::optional<Permutation> continued(const std::optional<Permutation>& earlier,
                                     const Permutation& order) {
  return earlier ? earlier->then(order) : order;
}

/// The parts stay what they are; the row numbers they are listed by move.
Partition moved(const Partition& partition, const Permutation& order) {
  Buffer<Index> part_of_row(order.size());
  for (Index old_row = 0; old_row < order.size(); ++old_row) {
    part_of_row[order.new_of_old()[old_row]] = (*partition.part_of_row)[old_row];
  }
  return {partition.parts, std::make_shared<const Buffer<Index>>(std::move(part_of_row))};
}

/// The borders of a partition belong to the matrix as it is stored, as do its parts for ranks:
/// those are left out, because rows of a part need no longer be neighbours.
void measure_borders(CsrFile* file) {
  file->ranks.reset();
  if (!file->partition) return;
  const CsrMatrix& matrix = file->matrix;
  file->partition->borders.reset();
  if (matrix.rows() != matrix.cols() || file->partition->parts > matrix.rows()) return;
  file->partition->borders =
      std::make_shared<const Buffer<Offset>>(partition_borders(matrix, *file->partition));
}

}  // namespace

Sides sides_of(const std::string& name, const CsrMatrix& matrix) {
  if (name == "rows") return Sides::rows;
  if (name == "cols") return Sides::cols;
  return name == "both" || matrix.rows() == matrix.cols() ? Sides::both : Sides::rows;
}

const char* name_of(Sides sides) {
  return sides == Sides::rows ? "rows" : sides == Sides::cols ? "cols" : "both";
}

CsrFile in_order(const CsrFile& file, const Ordering& ordering, Sides sides) {
  const CsrMatrix& matrix = file.matrix;
  const Permutation& order = ordering.order;
  CsrFile result = file;
  if (sides == Sides::cols) {
    result.matrix = permute_cols(matrix, order);
    result.col_order = continued(file.col_order, order);
  } else {
    if (sides == Sides::rows) {
      result.matrix = permute_rows(matrix, order);
    } else if (matrix.rows() == matrix.cols()) {
      result.matrix = permute_both(matrix, order);
      result.col_order = continued(file.col_order, order);
    } else {
      result.matrix = permute_cols(permute_rows(matrix, order), *ordering.col_order);
      result.col_order = continued(file.col_order, *ordering.col_order);
    }
    result.row_order = continued(file.row_order, order);
    if (ordering.partition) {
      result.partition = ordering.partition;
    } else if (file.partition) {
      result.partition = moved(*file.partition, order);
    }
  }
  measure_borders(&result);
  // Rows and columns that move together keep every symmetry; otherwise it has to be looked up.
  if (sides != Sides::both) result.flags = measured_flags(result.matrix);
  return result;
}

CsrFile reordered(const CsrFile& file, const std::string& method, Sides sides,
                  const ReorderOptions& options) {
  const CsrMatrix& matrix = file.matrix;
  const bool is_square = matrix.rows() == matrix.cols();
  // A matrix that the method refuses is refused by its own shape, not by that of its transpose.
  const bool is_refused = !is_square && find_reorder_method(method).needs_square();
  Ordering ordering = make_ordering(
      method, sides == Sides::cols && !is_refused ? transpose(matrix) : matrix, options);
  if (sides == Sides::both && !is_square && !ordering.col_order) {
    ordering.col_order = make_ordering(method, transpose(matrix), options).order;
  }
  return in_order(file, ordering, sides);
}

void require_taken(const ParameterValues& parameters, const std::vector<std::string>& methods) {
  std::vector<Parameter> taken;
  for (const std::string& method : methods) {
    for (const Parameter& parameter : find_reorder_method(method).parameters) {
      taken.push_back(parameter);
    }
  }
  for (const auto& [name, value] : parameters) {
    if (find_parameter(taken, name) != nullptr) continue;
    throw UsageError("--" + name + " is for --method " + owners_of(reorder_methods(), name));
  }
}

CsrFile reordered(const CsrFile& file, const std::vector<std::string>& methods, Sides sides,
                  const ReorderOptions& options) {
  require_taken(options.parameters, methods);  // all or nothing
  CsrFile result = file;
  for (const std::string& method : methods) {
    ReorderOptions own = options;
    own.parameters = own_values(find_reorder_method(method).parameters, options.parameters);
    result = reordered(result, method, sides, own);
  }
  return result;
}

CsrFile restored(const CsrFile& file, const std::string& name) {
  if (!file.row_order && !file.col_order) {
    throw UsageError(name +
                     " holds no order to undo: its rows and columns are in the order of import; "
                     "use it as it is");
  }
  CsrFile result = file;
  if (file.row_order) {
    const Permutation back = file.row_order->inverse();
    result.matrix = permute_rows(result.matrix, back);
    if (file.partition) result.partition = moved(*file.partition, back);
  }
  if (file.col_order) result.matrix = permute_cols(result.matrix, file.col_order->inverse());
  measure_borders(&result);
  result.row_order.reset();
  result.col_order.reset();
  result.flags = measured_flags(result.matrix);
  return result;
}

DenseMatrix operand_moved(const DenseMatrix& operand, const CsrFile& file, const std::string& sides,
                          bool is_undo, const std::string& name) {
  if (!file.row_order && !file.col_order) {
    throw UsageError(name +
                     " holds no order to apply: its rows and columns are in the order of import; "
                     "use the operand as it is");
  }
  const Permutation rows = file.row_order.value_or(Permutation::identity(file.matrix.rows()));
  const Permutation cols = file.col_order.value_or(Permutation::identity(file.matrix.cols()));
  const bool is_same =
      rows.size() == cols.size() &&
      std::equal(rows.new_of_old(), rows.new_of_old() + rows.size(), cols.new_of_old());
  const bool fits_rows = operand.rows() == rows.size(), fits_cols = operand.rows() == cols.size();
  if (sides.empty() && fits_rows && fits_cols && !is_same) {
    throw UsageError(
        "rows and columns of the file are in different orders; say which the operand follows: "
        "--sides=cols for B, whose rows belong to columns of the matrix, --sides=rows for C");
  }
  const bool by_rows = sides == "rows" || (sides.empty() && fits_rows);
  const Permutation& order = by_rows ? rows : cols;
  if (operand.rows() != order.size()) {
    throw UsageError("the operand has " + counted(operand.rows(), "row") + ", but the matrix " +
                     counted(rows.size(), "row") + " and " + counted(cols.size(), "column") +
                     (sides.empty() ? "" : " (--sides=" + sides + ")"));
  }
  DenseMatrix result(operand.rows(), operand.cols(), operand.kind());
  permute_rows(operand.view(), is_undo ? order.inverse() : order, result.view());
  return result;
}

}  // namespace csrkit
