// Matrix Market (Boisvert, Pozo, Remington 1996): a banner, comments, sizes, one entry per line.
//
// Accepted beyond the standard: comments and blank lines anywhere, either line end, a missing last
// line end, blanks around numbers, Fortran exponents, inf and nan, "double" for real, and entries
// above the diagonal of a symmetric file. Those are mirrored like the entries below; where both are
// stored, they are duplicates, and a warning says so if they are added up. Real and integer values
// become f64, unless the user asks for another kind or a comment before the sizes names one, as our
// exporter writes it. An array keeps every entry, zeros included: the file states them.
#include "preprocess/import/text/matrix_market.h"

#include <omp.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "preprocess/import/text/entry_lines.h"
#include "preprocess/import/text/matrix_market_header.h"

namespace csrkit {

namespace {

/// An entry takes at least "1 1\n", "1 1 1\n" or "1\n"; the last line end may be missing.
void require_plausible(const LineReader& lines, const MarketHeader& header) {
  const std::int64_t left = lines.bytes_left();
  if (left < 0) return;
  const Offset bytes_per_entry = header.is_array ? 2 : header.is_pattern ? 4 : 6;
  if (header.entries > (left + 1) / bytes_per_entry) {
    lines.refuse(
        lines.line() - 1,
        "expected " + counted(header.entries, "entry") + " as the sizes say, found " +
            counted(left, "byte") +
            " behind them, too few for that; the file is cut short or its header is wrong");
  }
}

/// The places of a dense array, which goes column by column (the lower triangle if symmetric).
void place_array(const MarketHeader& header, CooMatrix& coo) {
  const auto rows = static_cast<Index>(header.rows), cols = static_cast<Index>(header.cols);
  coo.rows = rows;
  coo.cols = cols;
  coo.row_indices = Buffer<Index>(header.entries);
  coo.col_indices = Buffer<Index>(header.entries);
  const Offset order = header.rows;
  const Offset skip = header.symmetry == MarketSymmetry::skew ? 1 : 0;
#pragma omp parallel for schedule(static)
  for (Index col = 0; col < cols; ++col) {
    Index first = 0;
    Offset at = Offset{col} * order;
    if (header.symmetry != MarketSymmetry::general) {
      first = static_cast<Index>(col + skip);
      // Columns 0 .. col - 1 hold order - skip, order - skip - 1, ... entries.
      at = Offset{col} * (order - skip) - Offset{col} * (Offset{col} - 1) / 2;
    }
    for (Index row = first; row < rows; ++row, ++at) {
      coo.row_indices[at] = row;
      coo.col_indices[at] = col;
    }
  }
}

/// A skew-symmetric matrix has a diagonal of zeros.
void require_zero_diagonal(const CooMatrix& coo, const std::string& name) {
  const double* values = coo.values.as<double>();
  for (Offset at = 0; at < coo.nnz(); ++at) {
    if (coo.row_indices[at] == coo.col_indices[at] && !(values[at] == 0)) {
      const std::string place = std::to_string(coo.row_indices[at] + Offset{1});
      throw InputError(name +
                       ": expected no value on the diagonal of a skew-symmetric matrix, found " +
                       rounded(values[at]) + " at row " + place + ", column " + place +
                       "; is the matrix \"symmetric\" or \"general\"?");
    }
  }
}

struct Triangles {
  bool lower = false, upper = false;
};
Triangles triangles_of(const CooMatrix& coo) {
  bool lower = false, upper = false;
#pragma omp parallel for schedule(static) reduction(|| : lower, upper)
  for (Offset at = 0; at < coo.nnz(); ++at) {
    lower = lower || coo.row_indices[at] > coo.col_indices[at];
    upper = upper || coo.row_indices[at] < coo.col_indices[at];
  }
  return {lower, upper};
}

}  // namespace

void read_matrix_market_source(ByteSource& source, const ReadRequest& request,
                               ImportResult& result) {
  LineReader lines(source);
  const MarketHeader header = read_market_header(lines);
  require_plausible(lines, header);

  EntryLineOptions how;
  how.index_base = 1;
  how.row_limit = header.rows;
  how.col_limit = header.cols;
  how.has_ids = !header.is_array;
  how.is_csv_like = false;
  how.comments = "%";
  how.value_columns = header.is_pattern ? 0 : 1;
  how.values_are_integers = header.is_integer;
  how.integers_must_be_exact = request.value_kind == "auto";
  how.value_kind = wanted_kind(request.value_kind, header.value_kind);
  how.expected_entries = header.entries;
  how.progress = request.progress;
  if (header.symmetry == MarketSymmetry::skew)
    how.value_kind = ValueKind::f64;  // signs must be seen

  EntryLines entries = parse_entry_lines(lines, how);
  CooMatrix coo = std::move(entries.coo);
  if (header.is_array) place_array(header, coo);
  result.entries_read = entries.entries;
  result.underflow = entries.underflow;
  if (!entries.doubt_of_end.empty()) result.warnings.push_back(entries.doubt_of_end);

  if (header.symmetry == MarketSymmetry::general) {
    finish_coo(std::move(coo), request, source.name(), result);
    return;
  }
  if (header.symmetry == MarketSymmetry::skew) require_zero_diagonal(coo, source.name());
  const Triangles triangles = triangles_of(coo);
  if (triangles.lower && triangles.upper) {
    result.notes["triangles"] =
        "the file declares symmetry and yet has entries on both sides of the diagonal";
  }
  const Offset out_of_order = count_out_of_order(coo);
  result.entries_mirrored = append_mirrored(coo, header.symmetry == MarketSymmetry::skew);
  finish_coo(std::move(coo), request, source.name(), result);
  // Mirrored entries always come late; users want to know the order in the file.
  result.repairs.out_of_order = out_of_order;
  if (triangles.lower && triangles.upper && !header.is_pattern && result.repairs.duplicates > 0 &&
      request.duplicates == Duplicates::sum) {
    result.warnings.push_back(
        "the file declares symmetry and yet has entries on both sides of the diagonal: each was "
        "mirrored and added to the other; if both say the same, say --duplicates first");
  }
  // Merged entries were added in different orders on both sides, so their bits may differ.
  result.is_symmetric_by_format =
      header.symmetry == MarketSymmetry::symmetric && result.repairs.duplicates == 0;
}

bool matches_matrix_market(const Peek& peek) {
  return !peek.is_directory &&
         lower_case(peek.head.substr(0, kMarketBanner.size())) == kMarketBanner;
}

ImportResult read_matrix_market(const std::string& path, const ReadRequest& request) {
  ImportResult result;
  result.inputs.push_back({path, 0, {}});
  const std::shared_ptr<ByteSource> source = open_input(path, request);
  read_matrix_market_source(*source, request, result);
  return result;
}

}  // namespace csrkit
