// Row lengths with a prescribed sum: from a histogram, or from a distribution that stands in for
// it.
#pragma once

#include <string>
#include <vector>

#include "core/base/buffer.h"

namespace csrkit {

/// How many rows have which length; lengths ascending, counts positive.
struct RowLengthHistogram {
  struct Bin {
    Index length;
    Index rows;
  };
  std::vector<Bin> bins;
  Index rows = 0;
  Offset nnz = 0;
};

/// Whether it is the path of a file, and not the name of a built-in histogram: it has a slash, or
/// ends in .tsv.
bool is_histogram_path(const std::string& name_or_path);

/// A histogram of datasets/row_length_histograms by its name, or any other file of that form by its
/// path. UsageError for an unknown name, which lists the known ones; IoError and InputError for
/// files.
RowLengthHistogram row_length_histogram(const std::string& name_or_path);

/// `count` quantiles of the histogram, ascending: the same shape with fewer or more rows.
std::vector<double> quantiles_of(const RowLengthHistogram& histogram, Index count);

/// `count` quantiles, ascending and up to a factor, of a lognormal distribution with coefficient of
/// variation `spread`, or of a Pareto distribution with density x^-exponent between 1 and `ratio`.
std::vector<double> lognormal_quantiles(Index count, double spread);
std::vector<double> pareto_quantiles(Index count, double exponent, double ratio);

/// Integer lengths in proportion to `shape` (ascending, not negative) with sum `nnz`, each within
/// [shortest, longest]; zeros stay zero. With `reach_longest` the last row gets exactly `longest`.
/// The caller has made sure that bounds and sum fit together.
Buffer<Index> fit_lengths(const std::vector<double>& shape, Offset nnz, Index shortest,
                          Index longest, bool reach_longest);

}  // namespace csrkit
