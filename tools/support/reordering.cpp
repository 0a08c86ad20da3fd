#include "tools/support/reordering.h"

#include <memory>

#include "tools/support/matrix_facts.h"

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

}  // namespace

Sides sides_of(const std::string& name, const CsrMatrix& matrix) {
  const bool is_square = matrix.rows() == matrix.cols();
  if (name == "rows") return Sides::rows;
  if (name == "cols") return Sides::cols;
  if (name == "both" && !is_square) {
    throw UsageError(
        "--sides=both moves rows and columns together and needs a square matrix; this "
        "one has " +
        std::to_string(matrix.rows()) + " rows and " + std::to_string(matrix.cols()) +
        " columns, use rows or cols");
  }
  return name == "both" || is_square ? Sides::both : Sides::rows;
}

CsrFile reordered(const CsrFile& file, const std::string& method, Sides sides,
                  const ReorderOptions& options) {
  const Ordering ordering =
      make_ordering(method, sides == Sides::cols ? transpose(file.matrix) : file.matrix, options);
  const Permutation& order = ordering.order;
  CsrFile result = file;
  if (sides == Sides::cols) {
    result.matrix = permute_cols(file.matrix, order);
    result.col_order = continued(file.col_order, order);
  } else {
    result.matrix =
        sides == Sides::both ? permute_both(file.matrix, order) : permute_rows(file.matrix, order);
    result.row_order = continued(file.row_order, order);
    if (sides == Sides::both) result.col_order = continued(file.col_order, order);
    if (ordering.partition) {
      result.partition = ordering.partition;
    } else if (file.partition) {
      result.partition = moved(*file.partition, order);
    }
  }
  // Rows and columns that move together keep every symmetry; otherwise it has to be looked up.
  if (sides != Sides::both) result.flags = measured_flags(result.matrix);
  return result;
}

CsrFile restored(const CsrFile& file) {
  if (!file.row_order && !file.col_order) {
    throw UsageError("the file holds no order to undo: it was not made by csr-reorder --method");
  }
  CsrFile result = file;
  if (file.row_order) {
    const Permutation back = file.row_order->inverse();
    result.matrix = permute_rows(result.matrix, back);
    if (file.partition) result.partition = moved(*file.partition, back);
  }
  if (file.col_order) result.matrix = permute_cols(result.matrix, file.col_order->inverse());
  result.row_order.reset();
  result.col_order.reset();
  result.flags = measured_flags(result.matrix);
  return result;
}

}  // namespace csrkit
