#include "core/facts/sampled_reads.h"

#include <algorithm>
#include <cmath>

namespace csrkit {

namespace {

constexpr int kFewWorkers = 16;

/// Half-way between powers of two as well: 1, 1.5, 2, 3, ...
std::vector<double> capacities_up_to(double most) {
  std::vector<double> capacities;
  for (double power = 1; capacities.empty() || capacities.back() < most; power *= 2) {
    capacities.push_back(power);
    capacities.push_back(1.5 * power);
  }
  return capacities;
}

/// Hits by capacity, in reads.
struct Hits {
  double reads = 0;
  double touched_rows = 0;  // of B
  std::vector<double> private_hits, shared_hits;
};

/// The entries of a view of some rows, whose offsets need not begin at 0.
Offset entries_of(const CsrMatrix& rows) {
  return rows.row_offsets()[rows.rows()] - rows.row_offsets()[0];
}

/// Rows one after the other.
CsrMatrix joined(const std::vector<CsrMatrix>& pieces) {
  Index rows = 0;
  Offset nnz = 0;
  for (const CsrMatrix& piece : pieces) {
    rows += piece.rows();
    nnz += entries_of(piece);
  }
  Buffer<Offset> offsets(Offset{rows} + 1);
  Buffer<Index> columns(nnz);
  offsets[0] = 0;
  Index row = 0;
  for (const CsrMatrix& piece : pieces) {
    const Offset before = offsets[row];
    std::copy_n(piece.col_indices() + piece.row_offsets()[0], entries_of(piece),
                columns.begin() + before);
    for (Index i = 0; i < piece.rows(); ++i, ++row) {
      offsets[row + 1] = before + piece.row_offsets()[i + 1] - piece.row_offsets()[0];
    }
  }
  const Index cols = pieces.empty() ? 0 : pieces.front().cols();
  return CsrMatrix(rows, cols, std::move(offsets), std::move(columns),
                   ValueArray(ValueKind::none, nnz));
}

CsrMatrix first_rows(const CsrMatrix& matrix, Index rows) {
  return CsrMatrix(rows, matrix.cols(), matrix.row_offsets(), matrix.col_indices(), ValueKind::none,
                   nullptr, std::make_shared<CsrMatrix>(matrix));
}

CsrMatrix rows_of_first_workers(const CsrMatrix& matrix, const DeviceProfile& device) {
  std::vector<CsrMatrix> pieces;
  const Offset turn = Offset{device.rows_per_turn} * device.workers;
  for (Offset first = 0; first < matrix.rows(); first += turn) {
    const Offset last =
        std::min<Offset>(first + Offset{device.rows_per_turn} * kFewWorkers, matrix.rows());
    pieces.emplace_back(static_cast<Index>(last - first), matrix.cols(),
                        matrix.row_offsets() + first, matrix.col_indices(), ValueKind::none,
                        nullptr, std::make_shared<CsrMatrix>(matrix));
  }
  return joined(pieces);
}

Hits hits_of(const CsrMatrix& matrix, const DeviceProfile& device, bool is_warm,
             const std::vector<double>& capacities) {
  ReuseOptions options;
  options.exact_reads = matrix.nnz();
  options.has_output_rows = true;
  options.readers = {device.workers, device.rows_per_turn, /*has_private_caches=*/false};
  const ReuseProfile shared = reuse_profile(matrix, options);
  ReuseProfile of_one = shared;
  if (device.workers > 1) {
    // Each worker's cache costs a pass over all columns, and one worker is like another.
    const bool are_many = device.rows_per_turn > 0 && device.workers > kFewWorkers && !is_warm;
    options.readers.has_private_caches = true;
    if (are_many) options.readers.workers = kFewWorkers;
    of_one = reuse_profile(are_many ? rows_of_first_workers(matrix, device) : matrix, options);
  }
  Hits hits;
  hits.reads = static_cast<double>(matrix.nnz());
  hits.touched_rows = shared.first_reads();
  const auto share = [&](const ReuseProfile& reads, double capacity) {
    return is_warm ? reads.warm_hit_share(capacity) : reads.hit_share(capacity);
  };
  for (const double capacity : capacities) {
    hits.private_hits.push_back(hits.reads * share(of_one, capacity));
    hits.shared_hits.push_back(hits.reads * share(shared, capacity));
  }
  return hits;
}

/// Adds the hits of caches beyond `reach` for reads that no sample saw again. These are taken to
/// fall on the `untouched` rows of B alike: after x of them for each of those rows the cache holds
/// 1 - exp(-x) of the rows, and rows of C have passed by at their usual rate.
void add_far_reads(const SampledReads& reads, double reach, double untouched, HitCurve* curve) {
  const double seen = curve->at(reach), far = 1 - seen;
  if (!(far > 0)) return;
  const double c_rows = untouched / far * reads.rows / reads.nnz;  // for each x
  for (std::size_t i = 0; i < curve->shares.size(); ++i) {
    const double beyond = curve->capacity_rows[i] - reach;
    if (beyond <= 0) continue;
    double low = 0, high = 64;  // of x; e^-64 is nothing
    for (int halving = 0; halving < 50; ++halving) {
      const double x = (low + high) / 2;
      (untouched * -std::expm1(-x) + c_rows * x < beyond ? low : high) = x;
    }
    // A repeated product finds everything where there is room for it.
    const bool holds_all = curve->capacity_rows[i] >= reads.rows + reads.cols;
    curve->shares[i] = std::max(curve->shares[i], holds_all ? 1 : seen - far * std::expm1(-low));
  }
}

}  // namespace

double HitCurve::at(double capacity) const {
  if (capacity_rows.empty() || capacity < capacity_rows.front()) return 0;
  const auto above = static_cast<std::size_t>(
      std::upper_bound(capacity_rows.begin(), capacity_rows.end(), capacity) -
      capacity_rows.begin());
  if (above == capacity_rows.size()) return shares.back();
  const double low = capacity_rows[above - 1], high = capacity_rows[above];
  return shares[above - 1] + (shares[above] - shares[above - 1]) * (capacity - low) / (high - low);
}

SampledReads sample_reads(Index rows, Index cols, Offset nnz, const RowReader& read,
                          const DeviceProfile& device, const SampleOptions& options) {
  SampledReads result;
  result.rows = rows;
  result.cols = cols;
  result.nnz = static_cast<double>(nnz);
  const std::vector<double> capacities = capacities_up_to(result.rows + result.cols);
  result.private_hits =
      result.shared_hits = {capacities, std::vector<double>(capacities.size(), 0)};
  if (nnz == 0) return result;

  const bool is_dealt = device.rows_per_turn > 0;
  const auto pieces = is_dealt ? Index{1} : static_cast<Index>(device.workers);
  const double share = 2.0 * static_cast<double>(options.reads_each) / result.nnz;
  const auto half_rows = std::max<Index>(static_cast<Index>(share / 2 * result.rows / pieces), 1);
  const auto windows = static_cast<Index>(
      std::min<double>(options.windows, result.rows / pieces / (2.0 * half_rows)));
  if (windows < 2) {
    const Hits whole = hits_of(read(0, rows), device, /*is_warm=*/true, capacities);
    for (std::size_t i = 0; i < capacities.size(); ++i) {
      result.private_hits.shares[i] = whole.private_hits[i] / whole.reads;
      result.shared_hits.shares[i] = whole.shared_hits[i] / whole.reads;
    }
    result.looked_at = whole.reads;
    return result;
  }

  double reads = 0, touched = result.cols;
  for (Index window = 0; window < windows; ++window) {
    std::vector<CsrMatrix> both, first;
    for (Index piece = 0; piece < pieces; ++piece) {
      const double piece_rows = result.rows / pieces;
      const auto begin = static_cast<Index>(piece * piece_rows + (piece_rows - 2.0 * half_rows) *
                                                                     (window + 0.5) / windows);
      both.push_back(read(begin, begin + 2 * half_rows));
      first.push_back(first_rows(both.back(), half_rows));
    }
    const Hits long_hits = hits_of(joined(both), device, false, capacities);
    const Hits short_hits = hits_of(joined(first), device, false, capacities);
    reads += long_hits.reads - short_hits.reads;
    touched = std::min(touched, short_hits.touched_rows);
    result.looked_at += long_hits.reads;
    for (std::size_t i = 0; i < capacities.size(); ++i) {
      result.private_hits.shares[i] += long_hits.private_hits[i] - short_hits.private_hits[i];
      result.shared_hits.shares[i] += long_hits.shared_hits[i] - short_hits.shared_hits[i];
    }
  }
  for (HitCurve* const curve : {&result.private_hits, &result.shared_hits}) {
    double nearer = 0;
    for (double& hits : curve->shares) {  // a difference of two samples may fall by a few reads
      hits = nearer = std::clamp(hits / std::max(reads, 1.0), nearer, 1.0);
    }
    add_far_reads(result, touched + static_cast<double>(half_rows) * pieces,
                  std::max(result.cols - touched, 1.0), curve);
  }
  return result;
}

HitShare hit_share(const DeviceProfile& device, const SampledReads& reads, double row_bytes) {
  const double private_bytes = device.private_cache_bytes;
  return [&reads, private_bytes, row_bytes](double bytes) {
    const double own = reads.private_hits.at(std::min(bytes, private_bytes) / row_bytes);
    return bytes <= private_bytes ? own : std::max(own, reads.shared_hits.at(bytes / row_bytes));
  };
}

SpmmForecast forecast_spmm(const DeviceProfile& device, const SampledReads& reads,
                           double row_bytes) {
  return forecast_spmm(device, hit_share(device, reads, row_bytes), reads.rows, reads.cols,
                       reads.nnz, row_bytes);
}

}  // namespace csrkit
