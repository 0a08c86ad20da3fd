#include "preprocess/generate/drawn_rows/row_length_model.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"

namespace csrkit {

namespace {

/// The quantile of the standard normal distribution, by Newton steps on the complementary error
/// function; exact to double precision for the probabilities used here.
double normal_quantile(double probability) {
  if (probability > 0.5) return -normal_quantile(1 - probability);
  // The tail expansion starts close enough for the steps to converge from any probability.
  const double t = std::sqrt(-2 * std::log(probability));
  double x = -(t - (2.515517 + 0.802853 * t) / (1 + 1.432788 * t + 0.189269 * t * t));
  for (int step = 0; step < 2; ++step) {
    const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - probability;
    x -= error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
  }
  return x;
}

double clamped(double value, double least, double most) {
  return value == 0 ? 0 : std::min(std::max(value, least), most);
}

}  // namespace

std::vector<double> quantiles_of(const RowLengthHistogram& histogram, Index count) {
  std::vector<double> lengths;
  lengths.reserve(static_cast<std::size_t>(count));
  std::size_t bin = 0;
  Offset rows_up_to = histogram.bins.empty() ? 0 : histogram.bins[0].rows;
  for (Index i = 0; i < count && bin < histogram.bins.size(); ++i) {
    const double position = (i + 0.5) / count * histogram.rows;
    while (static_cast<double>(rows_up_to) <= position) rows_up_to += histogram.bins[++bin].rows;
    lengths.push_back(histogram.bins[bin].length);
  }
  return lengths;
}

std::vector<double> lognormal_quantiles(Index count, double spread) {
  const double sigma = std::sqrt(std::log1p(spread * spread));
  std::vector<double> lengths(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < count; ++i) {
    lengths[static_cast<std::size_t>(i)] = std::exp(sigma * normal_quantile((i + 0.5) / count));
  }
  return lengths;
}

std::vector<double> pareto_quantiles(Index count, double exponent, double ratio) {
  const double tail = std::pow(ratio, 1 - exponent);
  std::vector<double> lengths(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < count; ++i) {
    const double above = 1 - (i + 0.5) / count * (1 - tail);
    lengths[static_cast<std::size_t>(i)] = std::pow(above, 1 / (1 - exponent));
  }
  return lengths;
}

Buffer<Index> fit_lengths(const std::vector<double>& shape, Offset nnz, Index shortest,
                          Index longest, bool reach_longest) {
  const std::size_t count = shape.size();
  Buffer<Index> lengths(static_cast<Offset>(count));
  if (count == 0) return lengths;
  const std::size_t free_rows = reach_longest ? count - 1 : count;
  const Offset sum = reach_longest ? nnz - longest : nnz;
  if (reach_longest) lengths[static_cast<Offset>(count) - 1] = longest;

  // The factor that makes the clamped real lengths add up, by bisection of its logarithm.
  double low = -60, high = 60;
  for (int step = 0; step < 60; ++step) {
    const double factor = std::exp((low + high) / 2);
    double total = 0;
    for (std::size_t i = 0; i < free_rows; ++i)
      total += clamped(factor * shape[i], shortest, longest);
    (total < static_cast<double>(sum) ? low : high) = (low + high) / 2;
  }
  // Rounding carries its error from row to row, so that short rows keep their mean.
  const double factor = std::exp((low + high) / 2);
  double target = 0;
  Offset placed = 0;
  for (std::size_t i = 0; i < free_rows; ++i) {
    if (shape[i] == 0) {
      lengths[static_cast<Offset>(i)] = 0;
      continue;
    }
    target += clamped(factor * shape[i], shortest, longest);
    const Offset wanted = static_cast<Offset>(std::floor(target + 0.5)) - placed;
    const Offset length = std::min<Offset>(std::max<Offset>(wanted, shortest), longest);
    lengths[static_cast<Offset>(i)] = static_cast<Index>(length);
    placed += length;
  }
  // What clamping left over goes, one by one, to the rows that still have room, longest first.
  while (placed != sum) {
    const Index step = placed < sum ? 1 : -1;
    const Offset before = placed;
    for (std::size_t i = free_rows; i-- > 0 && placed != sum;) {
      const Offset row = static_cast<Offset>(i);
      const Index next = lengths[row] + step;
      if (shape[i] > 0 && next >= shortest && next <= longest) {
        lengths[row] = next;
        placed += step;
      }
    }
    if (placed == before) {
      throw UsageError(counted(nnz, "entry") + " do not fit " + counted(count, "row") + " of " +
                       std::to_string(shortest) + " to " + std::to_string(longest));
    }
  }
  return lengths;
}

}  // namespace csrkit
