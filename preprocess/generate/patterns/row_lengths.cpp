// row-lengths: exactly the row lengths of a histogram; columns by communities and popularity.
#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/hash.h"
#include "preprocess/generate/drawn_rows/column_drawer.h"
#include "preprocess/generate/drawn_rows/row_length_model.h"

namespace csrkit {

namespace {

enum Stream : std::uint64_t { kLengths = 201, kColumns };

/// The same shape with rows * scale rows of about the same mean length. Rows that are longer than
/// the smaller matrix is wide are cut, and no more than half of the matrix is filled.
Buffer<Index> scaled_lengths(const RowLengthHistogram& histogram, double scale, Index rows,
                             Index room) {
  const std::vector<double> shape = quantiles_of(histogram, rows);
  const auto filled = static_cast<Offset>(
      std::count_if(shape.begin(), shape.end(), [](double length) { return length > 0; }));
  Offset nnz = std::llround(static_cast<double>(histogram.nnz) * scale);
  nnz = std::min(nnz, std::max<Offset>(1, filled * room / 2));
  nnz = std::max(nnz, filled);
  if (room == 0 || filled == 0) nnz = 0;
  return fit_lengths(shape, nnz, nnz > 0 ? 1 : 0, room, false);
}

}  // namespace

std::vector<Parameter> row_lengths_parameters() {
  using namespace parameter;
  std::vector<Parameter> parameters = {
      text("histogram", "",
           "name of a built-in histogram, or path of a .tsv file: length, tab, rows"),
      integer("cols", "auto", 1, kMaxIndex, "columns; auto = as many as rows"),
      number("scale", "1", 1e-9, 1000,
             "other than 1: that share of the rows, the same shape and mean"),
  };
  for (const Parameter& parameter : column_model_parameters()) {
    parameters.push_back(parameter);
  }
  return parameters;
}

CsrMatrix generate_row_lengths(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const RowLengthHistogram histogram = row_length_histogram(given.text("histogram"));
  const double scale = given.number("scale");
  ColumnModel model = column_model_of(given);
  const double scaled_rows = std::round(histogram.rows * scale);
  if (scaled_rows > static_cast<double>(kMaxIndex)) given.refuse("scale", "fewer than 2^31 rows");
  const Index rows = scale == 1 ? histogram.rows : std::max(1, static_cast<Index>(scaled_rows));
  const Index cols = given.is_set("cols") ? given.index("cols") : rows;
  const Index room = model.diagonal == ColumnModel::Diagonal::never ? cols - 1 : cols;
  const Index longest = histogram.bins.back().length;
  if (scale == 1 && longest > room) {
    given.refuse_all("the longest row has " + counted(longest, "entry") +
                     ", but there is room for " + std::to_string(room) +
                     " (see cols and diagonal)");
  }
  if (model.diagonal == ColumnModel::Diagonal::always && histogram.bins.front().length == 0) {
    given.refuse("diagonal", "never or allowed, because the histogram has empty rows");
  }

  require_room(4 * Offset{rows}, rows, sizeof(Index));
  Buffer<Index> lengths(rows);
  if (scale == 1) {
    Offset row = 0;
    for (const auto& bin : histogram.bins) {
      std::fill(lengths.begin() + row, lengths.begin() + row + bin.rows, bin.length);
      row += bin.rows;
    }
  } else {
    lengths = scaled_lengths(histogram, scale, rows, room);
  }
  place_lengths(&model, &lengths, random_word(request.seed, kLengths));
  const ColumnDrawer drawer(model, rows, cols, lengths, random_word(request.seed, kColumns));
  CsrPattern pattern = drawer.draw(lengths, request.progress);
  return finish_matrix(rows, cols, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::independent);
}

}  // namespace csrkit
