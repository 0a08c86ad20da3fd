#include "cpu/spgemm/one_pass/output_estimate.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/team_errors.h"

namespace csrkit::cpu {

namespace {

/// A row to be counted.
struct Sample {
  Index first, last;  // rows of its piece
  Offset cost;        // where it is, from the piece's beginning
};

/// Rows of light pieces at equal distances of cost: one that costs more is met more often.
std::vector<Sample> pick_samples(const RowPieces& pieces, Offset light_cost) {
  constexpr Offset kMostSamples = 512;
  const Offset samples = std::clamp<Offset>(light_cost / 256, 1, kMostSamples);
  std::vector<Sample> picked;
  std::size_t piece = 0;
  Offset before = 0;  // of light pieces
  for (Offset n = 0; n < samples; ++n) {
    const Offset wanted = light_cost / samples * n + light_cost / samples / 2;
    while (pieces.is_heavy(piece) || before + pieces.cost(piece) <= wanted) {
      if (!pieces.is_heavy(piece)) before += pieces.cost(piece);
      ++piece;
    }
    picked.push_back({pieces.first_row(piece), pieces.first_row(piece + 1), wanted - before});
  }
  return picked;
}

/// Entries of C over the cost, of one row.
double count_sample(const Sample& sample, OnePassRows& rows, const Offset* cost_sums) {
  const auto sum_before = [&](Index row) { return row > 0 ? cost_sums[row - 1] : 0; };
  const Offset* const at = std::upper_bound(cost_sums + sample.first, cost_sums + sample.last,
                                            sum_before(sample.first) + sample.cost);
  const Index row = std::min<Index>(static_cast<Index>(at - cost_sums), sample.last - 1);
  Index nnz = 0;
  rows.count_rows(omp_get_thread_num(), row, row + 1, &nnz);
  return static_cast<double>(nnz) / static_cast<double>(cost_sums[row] - sum_before(row));
}

struct Share {
  double mean, most;  // four standard errors above the mean, and a little
};

Share share_of(const std::vector<double>& samples) {
  double sum = 0, squares = 0;
  for (const double share : samples) {
    sum += share;
    squares += share * share;
  }
  const auto count = static_cast<double>(samples.size());
  const double mean = sum / count;
  const double variance = std::max(0.0, squares / count - mean * mean);
  // 3 % more, because a few hundred rows may have missed rare ones.
  return {mean, (mean + 4 * std::sqrt(variance / count)) * 1.03};
}

}  // namespace

OutputEstimate estimate_output(OnePassRows& rows, const Offset* cost_sums, int threads) {
  const RowPieces& pieces = rows.pieces();
  OutputEstimate estimate;
  Offset light_cost = 0, heavy_entries = 0;
  for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
    if (pieces.is_heavy(piece)) {
      heavy_entries += std::min(pieces.cost(piece), rows.most_entries(pieces.first_row(piece),
                                                                      pieces.first_row(piece + 1)));
    } else {
      light_cost += pieces.cost(piece);
    }
  }
  estimate.nnz = estimate.at_most = heavy_entries;
  if (light_cost == 0) return estimate;

  const std::vector<Sample> picked = pick_samples(pieces, light_cost);
  std::vector<double> shares(picked.size());
  constexpr int kSamplesAtOnce = 8;
  const int team = picked.size() > kSamplesAtOnce ? threads : 1;
  TeamErrors errors;
  // The sums lie in the caches of the threads that made them: a search waits at every step.
#pragma omp parallel for schedule(dynamic, kSamplesAtOnce) num_threads(team)
  for (std::size_t n = 0; n < picked.size(); ++n) {
    errors.guard([&] { shares[n] = count_sample(picked[n], rows, cost_sums); });
  }
  errors.rethrow();
  const Share share = share_of(shares);
  const auto entries = [&](double of_cost) {
    return static_cast<Offset>(std::min(of_cost, 1.0) * static_cast<double>(light_cost)) + 1;
  };
  estimate.nnz += entries(share.mean);
  estimate.at_most += entries(share.most);
  return estimate;
}

}  // namespace csrkit::cpu
