// How far apart the reads of a row of B are in C = A * B, and so which of them hit a cache.
#pragma once

#include <vector>

#include "core/facts/row_visits.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

struct ReuseOptions {
  ReadOrder readers;
  /// Up to so many nonzeros every read is simulated; beyond, those of a random subset of columns.
  Offset exact_reads = Offset{1} << 25;
  /// How many reads a sample aims at.
  Offset sampled_reads = Offset{1} << 23;
  std::uint64_t seed = 1;
  /// True: after every row of A a row of C takes a place in the cache, as wide as a row of B and
  /// never read again, as in a real product. False: the cache holds B alone.
  bool has_output_rows = false;
  /// Visit the rows of A in this order instead (old_of_new, `rows` numbers); null: as stored.
  const Index* row_order = nullptr;
};

/// The distribution of LRU stack distances: how many other rows of B were read since the last read
/// of the same row. A read hits a cache of c rows (fully associative, least recently used goes
/// first) exactly if that number is below c.
class ReuseProfile {
 public:
  /// Share of the reads that hit a cache of `capacity_rows` rows of B that was empty before. Exact
  /// at capacities of at most seven significant bits (every power of two, 60 MiB of them), linear
  /// in between. 0 for a matrix without nonzeros.
  double hit_share(double capacity_rows) const;
  /// The same when the product is repeated and the cache holds what the last one left: the first
  /// read of a row also hits if all rows that the worker reads fit.
  double warm_hit_share(double capacity_rows) const;
  /// One standard error of hit_share, from the differences between groups of columns; 0 if exact.
  double hit_share_error(double capacity_rows) const;

  double reads() const { return reads_; }              // nonzeros of A
  double first_reads() const { return first_reads_; }  // summed over private caches, if they are
  bool is_exact() const { return is_exact_; }
  double sampled_share() const { return sampled_share_; }  // of the reads that were simulated

 private:
  friend ReuseProfile reuse_profile(const CsrMatrix&, const ReuseOptions&);
  static constexpr int kGroups = 17;  // always-taken columns, and 16 of sampled ones

  double reads_ = 0, first_reads_ = 0;
  bool is_exact_ = true;
  double sampled_share_ = 1;
  std::vector<double> repeated_;  // reads by distance bin, per group of columns: [group][bin]
  std::vector<double> first_;     // first reads, by the bin of the rows the worker reads in all
  std::vector<double> reads_of_group_;
};

/// O(nnz log cols) time for an exact profile (Bennett, Kruskal 1975; here a bitmap of the last
/// reads with a Fenwick tree over its blocks), 4 bytes per column and thread. Larger matrices by
/// spatial sampling (Waldspurger et al., SHARDS, FAST 2015): columns are chosen by a hash, their
/// distances scaled up; chosen in strata by their number of nonzeros, small strata whole, because a
/// few hubs decide much. The result depends on the seed, not on the number of threads.
ReuseProfile reuse_profile(const CsrMatrix& matrix, const ReuseOptions& options = {});

}  // namespace csrkit
