// What a product takes on several ranks: bytes that move, memory, time. docs/scaling.md derives it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/facts/sampled_reads.h"
#include "core/file/csr_file.h"
#include "tools/forecast/cluster_profile.h"

namespace csrkit {

/// Where parts come from: the file, or a count of contiguous blocks of its rows.
struct CountedParts {
  PartLevel level;
  bool is_of_file = false;
  /// Rows of B that plain blocks of the matrix as it was would move; of parts in the file, if their
  /// history says so.
  std::optional<Offset> plain_halo_cols;
};

/// R row parts times G groups of columns.
struct GridForecast {
  Index ranks = 0, parts = 0, groups = 0;
  bool is_of_file = false;
  std::uint64_t moved_bytes = 0;           // exact: all that any rank receives
  std::uint64_t worst_received_bytes = 0;  // exact: by the rank that receives most
  std::uint64_t worst_sent_bytes = 0;      // exact: by the rank that sends most
  std::uint64_t rank_bytes = 0;            // memory of the rank that needs most
  double seconds = 0;                      // a model
  double exchange_seconds = 0;             // of the rank that ends last
  bool reads_peers = false;                // faster than packed messages; of one node alone
  double efficiency = 0;                   // one rank's time over that of all ranks together
  bool fits = true;
  std::optional<double> gained;  // share of the bytes of plain blocks that the partition spares
};

struct RankSizes {
  Index rows = 0, cols = 0;
  Offset nnz = 0;
  ValueKind kind = ValueKind::none;
};

/// One part, the whole matrix.
CountedParts one_part(const RankSizes& sizes);

/// Whether `a` is faster; what does not fit the memory of a rank comes last.
bool is_better(const GridForecast& a, const GridForecast& b);

/// Seconds of all reads of the whole matrix in the order of its entries, by bytes of a row of B.
using ReadSeconds = std::function<double(double row_bytes)>;

/// A sample of the file's rows as the profile's device reads them; none where it knows no caches.
std::shared_ptr<const SampledReads> sampled_reads(const std::string& path,
                                                  const ClusterProfile& profile);
/// The seconds that these reads take; null if there are none.
ReadSeconds reads_in_order(const std::shared_ptr<const SampledReads>& reads,
                           const DeviceProfile& device);

/// `parts` cut one level; `dense_cols` is K. Of the ways that the profile has for rows of B, the
/// faster one. Without `in_order` reads are uniformly random.
GridForecast forecast_grid(const RankSizes& sizes, const CountedParts& parts, Index groups,
                           Index dense_cols, const ClusterProfile& profile,
                           const ReadSeconds& in_order = nullptr);

/// The grid of `ranks` ranks with the shortest forecast, among those whose parts the file holds and
/// the one that needs none. Reads the file's heads alone. Throws UsageError if there is no grid.
GridForecast best_stored_grid(const std::string& path, const RankSizes& sizes, Index ranks,
                              Index dense_cols, const ClusterProfile& profile,
                              const ReadSeconds& in_order = nullptr);

/// Of a grid whose parts the file holds, or that needs none. Throws UsageError if they are missing.
GridForecast forecast_stored_grid(const std::string& path, const RankSizes& sizes, Index parts,
                                  Index groups, Index dense_cols, const ClusterProfile& profile);

/// The numbers of parts of all grids of `ranks` ranks: its divisors, as far as there are rows and
/// columns for them.
std::vector<Index> parts_of_grids(Index ranks, Index rows, Index dense_cols);

}  // namespace csrkit
