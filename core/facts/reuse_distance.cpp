#include "core/facts/reuse_distance.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/counted.h"
#include "core/base/team_errors.h"
#include "core/facts/column_sample.h"
#include "core/facts/stack_distance.h"
#include "core/matrix/filled_columns.h"

namespace csrkit {

namespace {

// Distances below 128 have a bin each; above, every power of two has 64, so that a capacity of at
// most seven significant bits is the edge of a bin.
constexpr std::size_t kBins = 27 * 64;

std::size_t bin_of(std::int64_t distance) {
  if (distance < 128) return static_cast<std::size_t>(distance);
  const int exponent = 63 - __builtin_clzll(static_cast<unsigned long long>(distance));
  return static_cast<std::size_t>((exponent - 6) * 64 + (distance >> (exponent - 6)));
}

double lower_edge(std::size_t bin) {
  if (bin < 128) return static_cast<double>(bin);
  const int exponent = static_cast<int>(bin / 64) + 5;
  return std::ldexp(static_cast<double>(bin % 64 + 64), exponent - 6);
}

/// The reads in bins below `capacity`; of the bin that holds it, a share.
double below_capacity(const double* bins, double capacity) {
  double sum = 0;
  for (std::size_t bin = 0; bin < kBins && lower_edge(bin) < capacity; ++bin) {
    const double width = lower_edge(bin + 1) - lower_edge(bin);
    sum += bins[bin] * std::min(1.0, (capacity - lower_edge(bin)) / width);
  }
  return sum;
}

/// Sampled items are numbered in the order of their columns; neighbours go to different groups.
std::size_t group_of_sampled(Index item) {
  constexpr std::uint32_t kSampledGroups = 16;
  return 1 + (static_cast<std::uint32_t>(item) * 2654435769u >> 16) % kSampledGroups;
}

/// Reads counted by distance: those of always-taken columns in group 0, those of sampled columns in
/// groups of columns, so that the differences between groups tell the error.
struct Counts {
  explicit Counts(int groups)
      : repeated(static_cast<std::size_t>(groups) * kBins),
        reads_of_group(static_cast<std::size_t>(groups)),
        first(2 * kBins) {}

  void add(const Counts& more) {
    const auto sum = [](std::vector<Offset>& to, const std::vector<Offset>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    sum(repeated, more.repeated);
    sum(reads_of_group, more.reads_of_group);
    sum(first, more.first);
  }

  std::vector<Offset> repeated;        // [group][bin]
  std::vector<Offset> reads_of_group;  // first reads included
  std::vector<Offset> first;           // [always taken, sampled][bin]
};

/// Reads of the rows of B in the order of the visits, each stream through a cache of its own.
class Simulation {
 public:
  /// Borrows all three.
  Simulation(const CsrMatrix& matrix, const ReuseOptions& options, const ColumnSample& items)
      : matrix_(matrix), options_(options), items_(items) {}

  Counts run(int groups) const {
    const std::vector<std::vector<Visit>> streams = streams_of_reads();
    // A cache takes 4 bytes per item: only as many at once as fit a GiB.
    const auto count = static_cast<int>(streams.size());
    const auto at_once =
        static_cast<int>(std::clamp<Offset>((Offset{1} << 28) / std::max<Offset>(items_.count, 1),
                                            1, std::min(count, omp_get_max_threads())));
    Counts counts(groups);
    std::vector<std::optional<StackDistance>> caches(static_cast<std::size_t>(at_once));
    TeamErrors errors;
#pragma omp parallel for schedule(static, 1) num_threads(at_once)
    for (int i = 0; i < at_once; ++i) {
      errors.guard([&] {
        caches[static_cast<std::size_t>(i)].emplace(items_.count, items_.always, items_.scale,
                                                    options_.has_output_rows ? matrix_.rows() : 0);
      });
    }
    errors.rethrow();
#pragma omp parallel num_threads(at_once)
    {
      StackDistance& cache = *caches[static_cast<std::size_t>(omp_get_thread_num())];
      std::optional<Counts> own;
      errors.guard([&] { own.emplace(groups); });
#pragma omp for schedule(dynamic, 1)
      for (int stream = 0; stream < count; ++stream) {
        errors.guard([&] { read(streams[static_cast<std::size_t>(stream)], &cache, &*own); });
      }
#pragma omp critical(csrkit_reuse_profile)
      errors.guard([&] { counts.add(*own); });
    }
    errors.rethrow();
    return counts;
  }

 private:
  Index row_at(Index place) const {
    return options_.row_order == nullptr ? place : options_.row_order[place];
  }

  /// One for each worker, or one for all if they share a cache.
  std::vector<std::vector<Visit>> streams_of_reads() const {
    std::vector<Offset> reads_before(static_cast<std::size_t>(matrix_.rows()) + 1);
    for (Index place = 0; place < matrix_.rows(); ++place) {
      const auto at = static_cast<std::size_t>(place);
      reads_before[at + 1] = reads_before[at] + matrix_.row_length(row_at(place));
    }
    return visits_of(reads_before, options_.readers);
  }

  void read(const std::vector<Visit>& stream, StackDistance* cache, Counts* counts) const {
    cache->reset();
    Offset new_reads[2] = {0, 0};
    for (const Visit& visit : stream) {
      for (Index place = visit.first; place < visit.last; ++place) {
        const Index row = row_at(place);
        for (Offset at = matrix_.row_offsets()[row]; at < matrix_.row_offsets()[row + 1]; ++at) {
          const Index item = items_.of(matrix_.col_indices()[at]);
          if (item == ColumnSample::kLeftOut) continue;
          const double distance = cache->read(item);
          const std::size_t group = item < items_.always ? 0 : group_of_sampled(item);
          ++counts->reads_of_group[group];
          if (distance == StackDistance::kFirst) {
            ++new_reads[item < items_.always ? 0 : 1];
          } else {
            // k others of a sample stand for k to k + 1 times the scale: the middle of that.
            const double middle = group == 0 ? 0 : (items_.scale - 1) / 2;
            ++counts->repeated[group * kBins + bin_of(std::llround(distance + middle))];
          }
        }
        if (options_.has_output_rows) cache->pass_by();
      }
    }
    const std::size_t bin = bin_of(std::llround(std::max(0.0, cache->held() - 1)));
    counts->first[bin] += new_reads[0];
    counts->first[kBins + bin] += new_reads[1];
  }

  const CsrMatrix& matrix_;
  const ReuseOptions& options_;
  const ColumnSample& items_;
};

}  // namespace

double ReuseProfile::hit_share(double capacity_rows) const {
  if (reads_ == 0) return 0;
  double hits = 0;
  for (std::size_t group = 0; group < kGroups; ++group) {
    hits += below_capacity(repeated_.data() + group * kBins, capacity_rows);
  }
  return hits / reads_;
}

double ReuseProfile::warm_hit_share(double capacity_rows) const {
  if (reads_ == 0) return 0;
  return hit_share(capacity_rows) + below_capacity(first_.data(), capacity_rows) / reads_;
}

double ReuseProfile::hit_share_error(double capacity_rows) const {
  if (is_exact_ || reads_ == 0) return 0;
  // The hits of the sampled columns are a ratio of sums over groups that were taken independently;
  // its variance comes from the residuals of the groups (Cochran, Sampling Techniques, 6.4). Group
  // 0 was not sampled.
  double hits = 0, reads = 0;
  for (std::size_t group = 1; group < kGroups; ++group) {
    hits += below_capacity(repeated_.data() + group * kBins, capacity_rows);
    reads += reads_of_group_[group];
  }
  double squares = 0;
  for (std::size_t group = 1; group < kGroups; ++group) {
    const double residual = below_capacity(repeated_.data() + group * kBins, capacity_rows) -
                            hits / std::max(reads, 1.0) * reads_of_group_[group];
    squares += residual * residual;
  }
  return std::sqrt(squares * (kGroups - 1) / (kGroups - 2)) / reads_;
}

ReuseProfile reuse_profile(const CsrMatrix& matrix, const ReuseOptions& options) {
  const ReadOrder& readers = options.readers;
  if (readers.workers < 1 || readers.rows_per_turn < 0) {
    throw UsageError("reads by " + std::to_string(readers.workers) + " workers, " +
                     counted(readers.rows_per_turn, "row") +
                     " a turn: expected at least 1 worker, and 0 rows or more");
  }
  constexpr int kGroups = ReuseProfile::kGroups;
  ReuseProfile profile;
  profile.repeated_.assign(static_cast<std::size_t>(kGroups) * kBins, 0);
  profile.first_.assign(kBins, 0);
  profile.reads_of_group_.assign(kGroups, 0);
  profile.reads_ = static_cast<double>(matrix.nnz());
  if (matrix.nnz() == 0) return profile;
  if (is_hypersparse(matrix)) return reuse_profile(filled_columns(matrix).pattern, options);

  const ColumnSample items =
      column_sample(matrix, options.exact_reads, options.sampled_reads, options.seed);
  const Counts counts = Simulation(matrix, options, items).run(kGroups);

  // The true number of reads of sampled columns is known, so the sample is scaled to it.
  Offset simulated = 0;
  for (const Offset reads : counts.reads_of_group) simulated += reads;
  const Offset sampled = simulated - counts.reads_of_group[0];
  const double scale = sampled == 0 ? 0
                                    : static_cast<double>(matrix.nnz() - counts.reads_of_group[0]) /
                                          static_cast<double>(sampled);
  profile.is_exact_ = items.is_everything;
  profile.sampled_share_ = static_cast<double>(simulated) / profile.reads_;
  for (std::size_t group = 0; group < kGroups; ++group) {
    const double weight = group == 0 ? 1 : scale;
    profile.reads_of_group_[group] = weight * static_cast<double>(counts.reads_of_group[group]);
    for (std::size_t bin = group * kBins; bin < (group + 1) * kBins; ++bin) {
      profile.repeated_[bin] = weight * static_cast<double>(counts.repeated[bin]);
    }
  }
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    profile.first_[bin] = static_cast<double>(counts.first[bin]) +
                          scale * static_cast<double>(counts.first[kBins + bin]);
    profile.first_reads_ += profile.first_[bin];
  }
  return profile;
}

}  // namespace csrkit
