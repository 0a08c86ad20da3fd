// csr-forecast --ranks: which grids there are, the forecast of each, and what to ask Slurm for.
#include "tools/forecast/rank_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "core/contract/countable.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/report.h"
#include "tools/forecast/out_of_core.h"
#include "tools/forecast/rank_forecast.h"
#include "tools/forecast/rank_parts.h"
#include "tools/forecast/slurm_time.h"

namespace csrkit {

namespace {

constexpr Index kMostRanks = rank_layout::kMaxParts;
constexpr std::uint64_t kProcessBytes = 64 << 20;
constexpr double kProducts = 12;  // in the time to ask for, as in the forecast of one rank
constexpr double kSlowReadBytesPerSecond = 100e6;
constexpr double kWorthwhile = 1.1;  // faster than one rank by less than that is not worth it

/// What one GPU does with a product that it cannot hold: csr-spmm-gpu's cut. `why_not` where it is
/// not known.
std::optional<OutOfCoreForecast> alone_out_of_core(const Options& options, Index dense_cols,
                                                   const ClusterProfile& profile,
                                                   std::string* why_not) {
  const gpu::Face* const room = gpu_room();
  if (room == nullptr) {
    *why_not = "how it is cut the GPU library knows: " + why_no_gpu_room();
    return std::nullopt;
  }
  const CsrMatrix matrix = read_csr_file(options.names().front(), read_options(options)).matrix;
  try {
    return room->forecast_out_of_core_spmm("auto", default_spmm_problem(matrix, dense_cols),
                                           static_cast<std::uint64_t>(profile.rank_memory_bytes),
                                           profile.cores_per_rank, OutOfCore::automatic,
                                           /*most_panel_cols=*/0, /*is_panel_major=*/false);
  } catch (const MemoryError& error) {
    *why_not = error.what();
    return std::nullopt;
  }
}

std::string gained_text(const GridForecast& grid) {
  return grid.gained ? fixed(100 * *grid.gained, 1) + " %" : "-";
}

Json to_json(const GridForecast& grid) {
  return {{"ranks", grid.ranks},
          {"row_parts", grid.parts},
          {"column_groups", grid.groups},
          {"parts_from", grid.is_of_file ? "file" : "blocks"},
          {"moved_bytes", grid.moved_bytes},
          {"worst_received_bytes", grid.worst_received_bytes},
          {"worst_sent_bytes", grid.worst_sent_bytes},
          {"rank_bytes", grid.rank_bytes},
          {"fits", grid.fits},
          {"seconds", grid.seconds},
          {"exchange_seconds", grid.exchange_seconds},
          {"exchange", grid.moved_bytes == 0 ? "none"
                       : grid.reads_peers    ? "peer"
                                             : "packed"},
          {"efficiency", grid.efficiency},
          {"gained_over_plain_blocks", grid.gained ? Json(*grid.gained) : Json(nullptr)}};
}

Json to_json(const SampledReads& reads) {
  return {{"reads", reads.looked_at},
          {"capacity_rows", reads.private_hits.capacity_rows},
          {"private_hit_shares", reads.private_hits.shares},
          {"shared_hit_shares", reads.shared_hits.shares}};
}

/// Of few parts: what the forecast knows of each.
constexpr std::size_t kMostHeads = 64;
Json to_json(const PartLevel& level) {
  Json parts = Json::array();
  for (const PartHead& head : level.parts) {
    parts.push_back({{"rows", head.rows()},
                     {"cols", head.own_cols()},
                     {"entries", head.entries},
                     {"own_entries", head.own_entries},
                     {"halo_cols", head.halo_cols},
                     {"send_cols", head.send_cols},
                     {"piece_entries", head.piece_entries},
                     {"sums_sent", head.sums_sent},
                     {"sums_received", head.sums_received}});
  }
  return parts;
}

std::vector<std::string> slurm_lines(const GridForecast& grid, const ClusterProfile& profile,
                                     double file_bytes) {
  const Index per_node = std::min(grid.ranks, profile.ranks_per_node);
  constexpr std::uint64_t kMebibyte = 1 << 20;
  const bool is_gpu = profile.device.device == "gpu";
  std::vector<std::string> lines{
      "#SBATCH --nodes=" + std::to_string((grid.ranks + per_node - 1) / per_node),
      "#SBATCH --ntasks=" + std::to_string(grid.ranks),
      "#SBATCH --ntasks-per-node=" + std::to_string(per_node),
      "#SBATCH --cpus-per-task=" + std::to_string(profile.cores_per_rank)};
  if (is_gpu) {
    lines.push_back("#SBATCH --gres=gpu:" + std::to_string(per_node));
  } else {  // a tenth more than forecast, and what a process takes before it has a matrix
    const std::uint64_t bytes = grid.rank_bytes / 10 * 11 + kProcessBytes;
    lines.push_back("#SBATCH --mem=" +
                    std::to_string(bytes * static_cast<std::uint64_t>(per_node) / kMebibyte + 1) +
                    "M");
  }
  const double seconds = kProducts * grid.seconds + file_bytes / kSlowReadBytesPerSecond;
  lines.push_back(slurm_time(seconds));
  return lines;
}

std::set<Index> wanted_ranks(const Options& options, const ClusterProfile& profile) {
  std::set<Index> wanted;
  for (const std::int64_t ranks : options.different_integers("ranks", 1, kMostRanks)) {
    wanted.insert(static_cast<Index>(ranks));
  }
  const Index most = profile.nodes == 0 ? kMostRanks : profile.nodes * profile.ranks_per_node;
  if (*wanted.rbegin() > most) {
    throw UsageError("--ranks " + std::to_string(*wanted.rbegin()) + ": the profile '" +
                     profile.name + "' is of " + counted(most, "rank"));
  }
  return wanted;
}

/// All grids that the options ask for, with their forecasts, and what is said of them.
class RankForecasts {
 public:
  /// Reads the profile, the file's heads and a sample of its rows, and counts the parts that the
  /// file does not hold. Throws UsageError, InputError, IoError.
  explicit RankForecasts(const Options& options)
      : options_(options),
        path_(options.names().front()),
        profile_(read_cluster_profile(options.text("profile"))),
        ranks_(wanted_ranks(options, profile_)) {
    for (const std::int64_t width : options.different_integers("dense-cols", 1, kMaxIndex)) {
      widths_.push_back(static_cast<Index>(width));
    }
    const CsrFileHeader header = read_csr_header(path_);
    for (const Index width : widths_) require_countable(std::max(header.rows, header.cols), width);
    sizes_ = {header.rows, header.cols, header.nnz, header.value_kind};
    file_bytes_ = static_cast<double>(header.file_bytes);
    const Stopwatch sampling;
    if (!options.flag("random-reads")) sample_ = sampled_reads(path_, profile_);
    in_order_ = reads_in_order(sample_, profile_.device);
    sample_seconds_ = sampling.seconds();
    std::set<Index> wanted_parts{1};
    for (const Index ranks : ranks_) {
      for (const Index width : widths_) {
        for (const Index parts : parts_of_grids(ranks, sizes_.rows, width)) {
          wanted_parts.insert(parts);
        }
      }
    }
    levels_ = parts_for(options, sizes_, wanted_parts, &count_seconds_);
  }

  void add_inputs(Report* report) const {
    report->add("matrix", "matrix", path_);
    report->add("profile", "profile", profile_.name);
    report->add_json("reads", in_order_ ? "in order" : "random");
    report->add_json("sample", sample_ ? to_json(*sample_) : Json(nullptr));
    report->add_json("sample_seconds", sample_seconds_);
    report->add_json("count_seconds", count_seconds_);
    Json heads = Json::object();
    for (const auto& [parts, counted] : levels_) {
      const PartLevel& level = counted.level;
      if (level.parts.size() <= kMostHeads) heads[std::to_string(parts)] = to_json(level);
    }
    report->add_json("parts", heads);
  }

  void add_grids(Report* report) {
    for (const Index width : widths_) add_width(width, report);
    report->add_json("grids", grids_json_);
    report->add_json("best", best_json_);
    report->add_json("out_of_core", out_of_core_json_);
  }

  /// Of the best grid of all; nothing if none fits. Call add_grids first.
  void add_slurm_lines(Report* report) const {
    if (!overall_) return;
    const std::vector<std::string> lines = slurm_lines(*overall_, profile_, file_bytes_);
    report->add_json("sbatch", lines);
    std::string text = "\n";
    for (const std::string& line : lines) text += line + "\n";
    report->add_text(text);
  }

 private:
  /// A table of all grids for one width of B, and a line for each number of ranks.
  void add_width(Index width, Report* report) {
    TextTable table({"ranks", "grid", "parts from", "moved", "worst rank", "memory a rank", "time",
                     "efficiency", "gained", ""});
    const GridForecast alone = forecast_grid(sizes_, levels_.at(1), 1, width, profile_, in_order_);
    std::string verdicts;
    if (!alone.fits && profile_.device.device == kGpu) verdicts = out_of_core_verdict(width);
    for (const Index ranks : ranks_) {
      const std::vector<GridForecast> grids = grids_of(ranks, width, alone);
      const GridForecast best = *std::min_element(grids.begin(), grids.end(), is_better);
      for (const GridForecast& grid : grids) {
        add_row(grid, grid.parts == best.parts, &table);
        grids_json_.push_back(with_width(to_json(grid), width));
      }
      verdicts += verdict(best, alone, width);
      if (best.fits && (!overall_ || is_better(best, *overall_))) overall_ = best;
    }
    report->add_text("\nK = " + std::to_string(width) +
                     ", one rank: " + readable_seconds(alone.seconds) +
                     (alone.fits ? "" : ", does not fit") + "\n" + table.text() + verdicts);
  }

  std::string out_of_core_verdict(Index width) {
    std::string why_not;
    const auto cut = alone_out_of_core(options_, width, profile_, &why_not);
    if (!cut) return "one GPU holds it only out of core; " + why_not + "\n";
    out_of_core_json_.push_back(with_width(to_json(*cut), width));
    return "one GPU, out of core: " + readable_seconds(cut->report.forecast_seconds) + " (" +
           words_of(*cut) + ")\n";
  }

  std::vector<GridForecast> grids_of(Index ranks, Index width, const GridForecast& alone) const {
    std::vector<GridForecast> grids;
    for (const Index parts : parts_of_grids(ranks, sizes_.rows, width)) {
      grids.push_back(
          forecast_grid(sizes_, levels_.at(parts), ranks / parts, width, profile_, in_order_));
      grids.back().efficiency = alone.seconds / (grids.back().seconds * ranks);
    }
    if (!grids.empty()) return grids;
    throw UsageError("--ranks " + std::to_string(ranks) +
                     ": there are not enough rows and columns for so many ranks");
  }

  static void add_row(const GridForecast& grid, bool is_best, TextTable* table) {
    table->add(
        {with_commas(grid.ranks), std::to_string(grid.parts) + " x " + std::to_string(grid.groups),
         grid.is_of_file   ? "file"
         : grid.parts == 1 ? "-"
                           : "blocks",
         readable_bytes(static_cast<double>(grid.moved_bytes)),
         readable_bytes(static_cast<double>(grid.worst_received_bytes)),
         readable_bytes(static_cast<double>(grid.rank_bytes)), readable_seconds(grid.seconds),
         fixed(100 * grid.efficiency, 1) + " %", gained_text(grid),
         !grid.fits ? "does not fit"
         : is_best  ? "best"
                    : ""});
  }

  /// Whether the best grid of a number of ranks is worth it, in a line.
  std::string verdict(const GridForecast& best, const GridForecast& alone, Index width) {
    const double speed_up = alone.seconds / best.seconds;
    const bool is_worth_it =
        best.fits && (!alone.fits || speed_up >= kWorthwhile || best.ranks == 1);
    Json json = with_width(to_json(best), width);
    json["speed_up"] = speed_up;
    json["is_worth_it"] = is_worth_it;
    best_json_.push_back(std::move(json));
    const std::string ranks = counted(best.ranks, "rank") + ": ";
    if (!best.fits) return ranks + "no grid fits the memory of a rank\n";
    if (!is_worth_it) {
      return ranks + "not worth it: one rank takes " + readable_seconds(alone.seconds) + "\n";
    }
    return ranks + "best " + std::to_string(best.parts) + " x " + std::to_string(best.groups) +
           (alone.fits ? ", " + fixed(speed_up, 2) + " times as fast as one rank"
                       : "; one rank does not have the memory") +
           "\n";
  }

  static Json with_width(Json row, Index width) {
    row["dense_cols"] = width;
    return row;
  }

  const Options& options_;
  std::string path_;
  ClusterProfile profile_;
  std::set<Index> ranks_;
  std::vector<Index> widths_;
  RankSizes sizes_{};
  double file_bytes_ = 0;
  std::shared_ptr<const SampledReads> sample_;
  ReadSeconds in_order_;
  std::map<Index, CountedParts> levels_;
  double sample_seconds_ = 0, count_seconds_ = 0;
  Json grids_json_ = Json::array(), best_json_ = Json::array(), out_of_core_json_ = Json::array();
  std::optional<GridForecast> overall_;  // the best of all that fit
};

}  // namespace

void declare_rank_options(Options& options) {
  options
      .value(
          "ranks", "N,N",
          "spmm on so many ranks: bytes moved, memory, time and efficiency of every grid of "
          "row parts x column groups, and the best; parts that A.csr does not hold are counted "
          "as contiguous blocks of its rows; with --operation spgemm, bytes moved and how evenly "
          "the multiplications are shared out")
      .value("profile", "NAME",
             "of --ranks, what they run on: h200x4 (measured), cluster (usual figures) or a JSON "
             "file",
             "cluster")
      .flag("random-reads",
            "of --ranks, take reads of B for random instead of looking at the order of a few "
            "million entries; a profile without caches always does");
}

void report_rank_forecast(const Options& options) {
  RankForecasts forecasts(options);
  Report report;
  forecasts.add_inputs(&report);
  forecasts.add_grids(&report);
  forecasts.add_slurm_lines(&report);
  print(report, options.json());
}

}  // namespace csrkit
