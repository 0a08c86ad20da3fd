#include "tools/forecast/rank_forecast.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/file/csr_rows.h"

namespace csrkit {

namespace {

double at(const std::vector<double>& x, const std::vector<double>& y, double where) {
  if (where <= x.front()) return y.front();
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (where > x[i]) continue;
    const double share =
        (std::log(where) - std::log(x[i - 1])) / (std::log(x[i]) - std::log(x[i - 1]));
    return y[i - 1] + share * (y[i] - y[i - 1]);
  }
  return y.back();
}

/// Bytes of an element of B, and of C.
std::uint64_t element_bytes(ValueKind kind) {
  if (kind == ValueKind::f64) return sizeof(double);
  return kind == ValueKind::f16 || kind == ValueKind::bf16 ? 2 : sizeof(float);
}
std::uint64_t result_bytes(ValueKind kind) {
  return kind == ValueKind::f64 ? sizeof(double) : sizeof(float);
}

/// Seconds of the reads of one rank's entries from a table of B.
double reads_seconds(const GatherCurve& curve, Offset entries, double table_bytes) {
  if (entries == 0) return 0;
  return static_cast<double>(entries) *
         at(curve.table_bytes, curve.seconds_per_read, std::max(table_bytes, 1.0));
}

/// Seconds of an exchange of the rank or node that moves most.
double exchange_seconds(const LinkProfile& link, double bytes) {
  return bytes > 0 ? link.seconds_per_exchange + bytes / link.bytes_per_second : 0;
}

// What a product on a GPU loses for each second in which rows of B travel beside it: 0.21 and 0.26
// on two H200, read by the other GPU and sent by NCCL.
constexpr double kSlowedByTravel = 0.25;

// A line of the memory that is read: a row of fewer bytes costs as much.
constexpr std::uint64_t kPeerReadBytes = 128;

/// Seconds of an exchange by reading: rows of B where they are, and sums, which lie side by side.
double peer_seconds(const LinkProfile& peers, Offset rows, std::uint64_t row_bytes,
                    std::uint64_t sum_bytes) {
  const auto least = static_cast<double>(kPeerReadBytes);
  auto bytes = static_cast<double>(row_bytes);
  double rate = peers.bytes_per_second;
  if (peers.rows.empty()) {
    bytes = std::max(bytes, least);
  } else {  // shorter rows than were measured take as long as the shortest
    std::vector<double> widths, rates;
    for (const RowRate& row : peers.rows) {
      widths.push_back(row.row_bytes);
      rates.push_back(row.bytes_per_second);
    }
    rate = at(widths, rates, bytes);
    bytes = std::max(bytes, widths.front());
  }
  return peers.seconds_per_exchange + static_cast<double>(rows) * bytes / rate +
         static_cast<double>(sum_bytes) / peers.bytes_per_second;
}

/// What a product takes on a rank, and how much of that it waits for others.
struct RankSeconds {
  double all = 0, exchange = 0;
};

/// The ranks of a grid: one for each part and group of columns of B. All groups are as wide as the
/// widest.
struct GridModel {
  GridModel(const RankSizes& of_matrix, Index ranks, Index group_width,
            const ClusterProfile& cluster, const ReadSeconds& reads_in_order)
      : sizes(of_matrix),
        profile(cluster),
        in_order(reads_in_order),
        width(static_cast<std::uint64_t>(group_width)),
        row_bytes(width * element_bytes(sizes.kind)),
        sum_bytes(width * result_bytes(sizes.kind)),
        curve(gather_curve(profile.device, static_cast<double>(row_bytes) / 4)),
        per_node(std::min(ranks, profile.ranks_per_node)),
        is_one_node(ranks <= profile.ranks_per_node),
        is_in_place(is_one_node && profile.device.device == kCpu) {}

  const RankSizes& sizes;
  const ClusterProfile& profile;
  const ReadSeconds& in_order;
  std::uint64_t width;      // columns of B and C
  std::uint64_t row_bytes;  // of a row of B
  std::uint64_t sum_bytes;  // of a row of C
  GatherCurve curve;
  Index per_node;
  bool is_one_node;
  // Ranks on processors of one host read each other's rows of B where they are: none is stored
  // twice.
  bool is_in_place;

  std::uint64_t received_bytes(const PartHead& head) const {
    return static_cast<std::uint64_t>(head.halo_cols) * row_bytes +
           static_cast<std::uint64_t>(head.sums_received) * sum_bytes;
  }
  std::uint64_t sent_bytes(const PartHead& head) const {
    return static_cast<std::uint64_t>(head.send_cols) * row_bytes +
           static_cast<std::uint64_t>(head.sums_sent) * sum_bytes;
  }
  double exchanged_bytes(const PartHead& head) const {
    return static_cast<double>(std::max(received_bytes(head), sent_bytes(head)));
  }
  double table_bytes(Index rows) const {
    return static_cast<double>(rows) * static_cast<double>(row_bytes);
  }

  std::uint64_t memory_bytes(const PartHead& head) const {
    const auto rows = static_cast<std::uint64_t>(head.rows());
    return 2 * (rows + 1) * sizeof(Offset) +
           static_cast<std::uint64_t>(head.entries + head.piece_entries) *
               (sizeof(Index) + static_cast<std::uint64_t>(size_of(sizes.kind))) +
           (static_cast<std::uint64_t>(head.halo_cols) +
            static_cast<std::uint64_t>(head.send_cols)) *
               sizeof(Index) +
           static_cast<std::uint64_t>(head.own_cols()) * row_bytes +
           (is_in_place
                ? static_cast<std::uint64_t>(head.sums_received + head.sums_sent) * sum_bytes
                : received_bytes(head) + sent_bytes(head)) +
           rows * sum_bytes;
  }

  /// Of the node that moves most; ranks fill nodes one after the other.
  double busiest_node_bytes(const std::vector<PartHead>& parts, Index groups) const {
    double busiest = 0, node = 0;
    Index on_node = 0;
    for (const PartHead& head : parts) {
      for (Index group = 0; group < groups; ++group) {
        node += exchanged_bytes(head);
        busiest = std::max(busiest, node);
        if (++on_node == per_node) on_node = 0, node = 0;
      }
    }
    return busiest;
  }

  /// What reads take that are random in a table, or less in their order: a part has its share of
  /// the whole matrix', without `far_entries`, which were the far ones.
  double reads_of(const PartHead& head, Offset entries, double table, Offset far_entries) const {
    const double random = reads_seconds(curve, entries, table);
    if (!in_order || sizes.nnz == 0) return random;
    const double share = in_order(static_cast<double>(row_bytes)) / static_cast<double>(sizes.nnz) *
                         static_cast<double>(head.entries);
    const double far = reads_seconds(curve, far_entries, table_bytes(sizes.cols));
    return std::min(random, std::max(share - far, reads_seconds(curve, entries, 1)));
  }

  RankSeconds in_place(const PartHead& head) const {
    const double sums = static_cast<double>(std::max(head.sums_received, head.sums_sent)) *
                        static_cast<double>(sum_bytes);
    const double waited =
        head.neighbours == 0 && sums == 0
            ? 0
            : profile.link.seconds_per_exchange + sums / profile.link.bytes_per_second;
    const double own_table = table_bytes(head.own_cols());
    return {profile.device.fixed_seconds + waited + head.rows() * curve.seconds_per_streamed_row +
                reads_of(head, head.entries, own_table + table_bytes(head.halo_cols), 0) +
                reads_seconds(curve, head.piece_entries, own_table),
            waited};
  }

  /// The halo's rows of B come packed in messages, or each is read from its owner's memory.
  RankSeconds with_copies(const PartHead& head, bool reads_peers, double network_seconds) const {
    const double copy_rate = profile.device.copy_bytes_per_second;
    const bool is_gpu = profile.device.device == kGpu;
    const double moved = exchanged_bytes(head);
    const auto most_sums = static_cast<std::uint64_t>(std::max(head.sums_received, head.sums_sent));
    const double exchanged =
        moved == 0 ? 0
        : reads_peers
            ? peer_seconds(profile.peers, std::max<Offset>(head.halo_cols, head.send_cols),
                           row_bytes, most_sums * sum_bytes)
        : is_one_node ? exchange_seconds(profile.link, moved)
                      : network_seconds;
    const double packed =
        moved == 0 || reads_peers ? 0 : 2 * table_bytes(head.send_cols) / copy_rate;
    const double own_table = table_bytes(head.own_cols());
    const Offset halo_entries = head.entries - head.own_entries;
    const double rows_seconds = head.rows() * curve.seconds_per_streamed_row;
    const double own = rows_seconds + reads_of(head, head.own_entries, own_table, halo_entries);
    // The halo's terms are added to rows of C, which a GPU reads again.
    const double c_seconds = is_gpu ? head.rows() * static_cast<double>(sum_bytes) / copy_rate : 0;
    const double halo = head.halo_cols == 0
                            ? 0
                            : rows_seconds + c_seconds +
                                  reads_seconds(curve, halo_entries, table_bytes(head.halo_cols));
    const double pieces = reads_seconds(curve, head.piece_entries, own_table);
    const double slowed = is_gpu ? kSlowedByTravel * exchanged : 0;
    return {
        profile.device.fixed_seconds + packed + pieces + std::max(own + slowed, exchanged) + halo,
        exchanged};
  }
};

template <class SecondsOf>
RankSeconds slowest(const std::vector<PartHead>& parts, SecondsOf&& seconds_of) {
  RankSeconds latest;
  for (const PartHead& head : parts) {
    const RankSeconds seconds = seconds_of(head);
    if (seconds.all > latest.all) latest = seconds;
  }
  return latest;
}

/// Writes the times of the faster way for rows of B.
void forecast_seconds(const GridModel& model, const std::vector<PartHead>& parts,
                      GridForecast* grid) {
  const auto take = [&](bool reads_peers, const RankSeconds& seconds) {
    grid->reads_peers = reads_peers;
    grid->seconds = seconds.all;
    grid->exchange_seconds = seconds.exchange;
  };
  if (model.is_in_place) {
    return take(true, slowest(parts, [&](const PartHead& head) { return model.in_place(head); }));
  }
  const double network_seconds =
      model.is_one_node
          ? 0
          : exchange_seconds(model.profile.network, model.busiest_node_bytes(parts, grid->groups));
  const auto with_copies = [&](bool reads_peers) {
    return slowest(parts, [&](const PartHead& head) {
      return model.with_copies(head, reads_peers, network_seconds);
    });
  };
  take(false, with_copies(false));
  if (!model.is_one_node || model.profile.peers.bytes_per_second <= 0) return;
  const RankSeconds by_reading = with_copies(true);
  if (by_reading.all < grid->seconds) take(true, by_reading);
}

}  // namespace

CountedParts one_part(const RankSizes& sizes) {
  PartHead whole;
  whole.row_end = sizes.rows;
  whole.col_end = sizes.cols;
  whole.entries = whole.own_entries = sizes.nnz;
  CountedParts parts;
  parts.level.parts = {whole};
  return parts;
}

bool is_better(const GridForecast& a, const GridForecast& b) {
  return a.fits != b.fits ? a.fits : a.seconds < b.seconds;
}

GridForecast forecast_grid(const RankSizes& sizes, const CountedParts& parts, Index groups,
                           Index dense_cols, const ClusterProfile& profile,
                           const ReadSeconds& in_order) {
  const std::vector<PartHead>& heads = parts.level.parts;
  GridForecast grid;
  grid.parts = static_cast<Index>(heads.size());
  grid.groups = groups;
  grid.ranks = grid.parts * groups;
  grid.is_of_file = parts.is_of_file;
  const GridModel model(sizes, grid.ranks, (dense_cols + groups - 1) / groups, profile, in_order);
  Offset halo_cols = 0, sums = 0;
  for (const PartHead& head : heads) {
    halo_cols += head.halo_cols;
    sums += head.sums_received;
    grid.worst_received_bytes = std::max(grid.worst_received_bytes, model.received_bytes(head));
    grid.worst_sent_bytes = std::max(grid.worst_sent_bytes, model.sent_bytes(head));
    grid.rank_bytes = std::max(grid.rank_bytes, model.memory_bytes(head));
  }
  // All groups together have K columns.
  grid.moved_bytes = (static_cast<std::uint64_t>(halo_cols) * element_bytes(sizes.kind) +
                      static_cast<std::uint64_t>(sums) * result_bytes(sizes.kind)) *
                     static_cast<std::uint64_t>(dense_cols);
  forecast_seconds(model, heads, &grid);
  grid.fits = static_cast<double>(grid.rank_bytes) <= profile.rank_memory_bytes;
  if (parts.plain_halo_cols.value_or(0) > 0) {
    grid.gained =
        1 - static_cast<double>(halo_cols + sums) / static_cast<double>(*parts.plain_halo_cols);
  }
  return grid;
}

GridForecast best_stored_grid(const std::string& path, const RankSizes& sizes, Index ranks,
                              Index dense_cols, const ClusterProfile& profile,
                              const ReadSeconds& in_order) {
  std::vector<CountedParts> levels = {one_part(sizes)};
  std::string stored;
  for (PartLevel& level : read_rank_heads(path)) {
    append_item(stored, std::to_string(level.parts.size()));
    if (level.parts.size() > 1) levels.push_back({std::move(level), true, std::nullopt});
  }
  std::optional<GridForecast> best;
  for (const CountedParts& level : levels) {
    const auto parts = static_cast<Index>(level.level.parts.size());
    if (ranks % parts != 0 || ranks / parts > dense_cols) continue;
    const GridForecast grid =
        forecast_grid(sizes, level, ranks / parts, dense_cols, profile, in_order);
    if (!best || is_better(grid, *best)) best = grid;
  }
  if (best) return *best;
  throw UsageError(
      "'" + path + "': no grid has " + counted(ranks, "rank") +
      (dense_cols == 1 ? ": there is " : ": there are ") + counted(dense_cols, "column") +
      " of B to share out, and the file holds " +
      (stored.empty() ? "no row parts" : "row parts for " + stored) +
      (ranks <= sizes.rows
           ? "; csr-partition --method blocks --parts " + std::to_string(ranks) + " makes them"
           : "; use fewer ranks, as A has " + counted(sizes.rows, "row")));
}

GridForecast forecast_stored_grid(const std::string& path, const RankSizes& sizes, Index parts,
                                  Index groups, Index dense_cols, const ClusterProfile& profile) {
  if (parts == 1) return forecast_grid(sizes, one_part(sizes), groups, dense_cols, profile);
  for (PartLevel& level : read_rank_heads(path)) {
    if (static_cast<Index>(level.parts.size()) != parts) continue;
    return forecast_grid(sizes, {std::move(level), true, std::nullopt}, groups, dense_cols,
                         profile);
  }
  const std::string number = std::to_string(parts);
  throw UsageError("'" + path + "' holds no parts for " + number + " " + noun_for(parts, "rank") +
                   "; run csr-partition --method blocks --parts " + number);
}

std::vector<Index> parts_of_grids(Index ranks, Index rows, Index dense_cols) {
  std::vector<Index> parts;
  for (Index groups = 1; groups <= std::min(ranks, dense_cols); ++groups) {
    if (ranks % groups == 0 && ranks / groups <= std::max(rows, Index{1})) {
      parts.push_back(ranks / groups);
    }
  }
  return parts;
}

std::shared_ptr<const SampledReads> sampled_reads(const std::string& path,
                                                  const ClusterProfile& profile) {
  const DeviceProfile& device = profile.device;
  if (device.private_cache_bytes == 0 && device.shared_cache_bytes == 0) return nullptr;
  const CsrFileHeader header = read_csr_header(path);
  return std::make_shared<const SampledReads>(sample_reads(
      header.rows, header.cols, header.nnz,
      [&](Index begin, Index end) { return read_csr_rows(path, begin, end); }, device));
}

ReadSeconds reads_in_order(const std::shared_ptr<const SampledReads>& reads,
                           const DeviceProfile& device) {
  if (reads == nullptr) return nullptr;
  return [reads, device](double row_bytes) {
    return forecast_spmm(device, *reads, row_bytes).reads_seconds;
  };
}

}  // namespace csrkit
