// csr-forecast --ranks: which grids there are, the forecast of each, and what to ask Slurm for.
#include "tools/forecast/rank_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "core/contract/countable.h"
#include "tools/cli/json_reader.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/provenance.h"
#include "tools/cli/report.h"
#include "tools/forecast/out_of_core.h"
#include "tools/forecast/rank_forecast.h"

namespace csrkit {

namespace {

constexpr Index kMostRanks = rank_layout::kMaxParts;
constexpr std::uint64_t kProcessBytes = 64 << 20;
constexpr double kProducts = 12;  // in the time to ask for, as in the forecast of one rank
constexpr double kSlowReadBytesPerSecond = 100e6;
constexpr double kWorthwhile = 1.1;  // faster than one rank by less than that is not worth it

/// The levels of the file, or none; and of what plain blocks would move, if the history says it.
std::map<Index, CountedParts> levels_of_file(const std::string& path, const std::string& history) {
  std::map<Index, CountedParts> levels;
  for (PartLevel& level : read_rank_heads(path)) {
    const auto parts = static_cast<Index>(level.parts.size());
    levels[parts] = {std::move(level), true, std::nullopt};
  }
  const std::optional<Json> provenance = parse_provenance(history);
  if (!provenance) return levels;
  for (const Json& step : (*provenance)["steps"]) {
    if (!step.is_object() || step.value("tool", Json()) != "csr-partition") continue;
    const Json details = step.value("details", Json());
    if (!details.is_object()) continue;
    const Json plain = details.value("plain_blocks", Json());
    if (!plain.is_array()) continue;
    for (auto& [parts, level] : levels) level.plain_halo_cols.reset();
    for (const Json& row : plain) {
      if (!row.is_object() || !row.value("parts", Json()).is_number_integer() ||
          !row.value("halo_cols", Json()).is_number_integer()) {
        continue;
      }
      const auto found = levels.find(row["parts"].get<Index>());
      if (found != levels.end()) found->second.plain_halo_cols = row["halo_cols"].get<Offset>();
    }
  }
  return levels;
}

/// All parts that the grids need. Only if some are not in the file, its entries are looked at.
std::map<Index, CountedParts> all_parts(const Options& options, const RankSizes& sizes,
                                        const std::set<Index>& wanted, double* count_seconds) {
  const std::string& path = options.names().front();
  std::vector<Index> missing;
  std::map<Index, CountedParts> levels = levels_of_file(path, read_csr_provenance(path));
  for (const Index parts : wanted) {
    if (levels.count(parts) > 0) continue;
    if (parts == 1) {
      levels[1] = one_part(sizes);
    } else {
      missing.push_back(parts);
    }
  }
  const Stopwatch watch;
  if (!missing.empty()) {
    const CsrMatrix matrix = read_csr_file(path, read_options(options)).matrix;
    std::vector<CountedLevel> counted =
        count_parts(matrix, plain_blocks(matrix, missing), 0, terminal_progress());
    for (std::size_t l = 0; l < missing.size(); ++l) {
      levels[missing[l]].level = std::move(counted[l].level);
    }
  }
  *count_seconds = watch.seconds();
  return levels;
}

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
  lines.push_back("#SBATCH --time=" +
                  std::to_string(static_cast<std::int64_t>(std::ceil(2 * seconds / 60)) + 1));
  return lines;
}

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
  const std::string path = options.names().front();
  const ClusterProfile profile = read_cluster_profile(options.text("profile"));
  std::set<Index> wanted_ranks;
  for (const std::int64_t ranks : options.integers("ranks", 1, kMostRanks)) {
    wanted_ranks.insert(static_cast<Index>(ranks));
  }
  const Index most = profile.nodes == 0 ? kMostRanks : profile.nodes * profile.ranks_per_node;
  if (*wanted_ranks.rbegin() > most) {
    throw UsageError("--ranks " + std::to_string(*wanted_ranks.rbegin()) + ": the profile '" +
                     profile.name + "' is of " + counted(most, "rank"));
  }
  std::vector<Index> widths;
  for (const std::int64_t width : options.integers("dense-cols", 1, kMaxIndex)) {
    widths.push_back(static_cast<Index>(width));
  }
  const CsrFileHeader header = read_csr_header(path);
  for (const Index width : widths) require_countable(std::max(header.rows, header.cols), width);
  const RankSizes sizes{header.rows, header.cols, header.nnz, header.value_kind};
  std::set<Index> wanted_parts{1};
  for (const Index ranks : wanted_ranks) {
    for (const Index width : widths) {
      for (const Index parts : parts_of_grids(ranks, sizes.rows, width)) wanted_parts.insert(parts);
    }
  }
  const Stopwatch sampling;
  const std::shared_ptr<const SampledReads> sample =
      options.flag("random-reads") ? nullptr : sampled_reads(path, profile);
  const ReadSeconds in_order = reads_in_order(sample, profile.device);
  const double sample_seconds = sampling.seconds();
  double count_seconds = 0;
  const std::map<Index, CountedParts> levels =
      all_parts(options, sizes, wanted_parts, &count_seconds);

  Report report;
  report.add("matrix", "matrix", path);
  report.add("profile", "profile", profile.name);
  report.add_json("reads", in_order ? "in order" : "random");
  report.add_json("sample", sample ? to_json(*sample) : Json(nullptr));
  report.add_json("sample_seconds", sample_seconds);
  report.add_json("count_seconds", count_seconds);
  Json heads = Json::object();
  for (const auto& [parts, level] : levels) {
    if (level.level.parts.size() <= kMostHeads) heads[std::to_string(parts)] = to_json(level.level);
  }
  report.add_json("parts", heads);
  Json json = Json::array(), best_json = Json::array(), out_of_core = Json::array();
  std::optional<GridForecast> overall;
  for (const Index width : widths) {
    TextTable table({"ranks", "grid", "parts from", "moved", "worst rank", "memory a rank", "time",
                     "efficiency", "gained", ""});
    const GridForecast alone = forecast_grid(sizes, levels.at(1), 1, width, profile, in_order);
    std::string verdicts;
    if (!alone.fits && profile.device.device == kGpu) {
      std::string why_not;
      const auto cut = alone_out_of_core(options, width, profile, &why_not);
      verdicts = cut ? "one GPU, out of core: " + readable_seconds(cut->report.forecast_seconds) +
                           " (" + words_of(*cut) + ")\n"
                     : "one GPU holds it only out of core; " + why_not + "\n";
      if (cut) {
        Json row = to_json(*cut);
        row["dense_cols"] = width;
        out_of_core.push_back(std::move(row));
      }
    }
    for (const Index ranks : wanted_ranks) {
      std::vector<GridForecast> grids;
      for (const Index parts : parts_of_grids(ranks, sizes.rows, width)) {
        grids.push_back(
            forecast_grid(sizes, levels.at(parts), ranks / parts, width, profile, in_order));
        grids.back().efficiency = alone.seconds / (grids.back().seconds * ranks);
      }
      if (grids.empty()) {
        throw UsageError("--ranks " + std::to_string(ranks) +
                         ": there are not enough rows and "
                         "columns for so many ranks");
      }
      const GridForecast best = *std::min_element(grids.begin(), grids.end(), is_better);
      for (const GridForecast& grid : grids) {
        const bool is_best = grid.parts == best.parts;
        table.add({with_commas(grid.ranks),
                   std::to_string(grid.parts) + " x " + std::to_string(grid.groups),
                   grid.is_of_file   ? "file"
                   : grid.parts == 1 ? "-"
                                     : "blocks",
                   readable_bytes(static_cast<double>(grid.moved_bytes)),
                   readable_bytes(static_cast<double>(grid.worst_received_bytes)),
                   readable_bytes(static_cast<double>(grid.rank_bytes)),
                   readable_seconds(grid.seconds), fixed(100 * grid.efficiency, 1) + " %",
                   gained_text(grid),
                   !grid.fits ? "does not fit"
                   : is_best  ? "best"
                              : ""});
        Json row = to_json(grid);
        row["dense_cols"] = width;
        json.push_back(std::move(row));
      }
      const double speed_up = alone.seconds / best.seconds;
      const bool is_worth_it = best.fits && (!alone.fits || speed_up >= kWorthwhile || ranks == 1);
      Json verdict = to_json(best);
      verdict["dense_cols"] = width;
      verdict["speed_up"] = speed_up;
      verdict["is_worth_it"] = is_worth_it;
      best_json.push_back(std::move(verdict));
      verdicts +=
          counted(ranks, "rank") + ": " +
          (!best.fits ? "no grid fits the memory of a rank"
           : is_worth_it
               ? "best " + std::to_string(best.parts) + " x " + std::to_string(best.groups) +
                     (alone.fits ? ", " + fixed(speed_up, 2) + " times as fast as one rank"
                                 : "; one rank does not have the memory")
               : "not worth it: one rank takes " + readable_seconds(alone.seconds)) +
          "\n";
      if (best.fits && (!overall || is_better(best, *overall))) overall = best;
    }
    report.add_text("\nK = " + std::to_string(width) +
                    ", one rank: " + readable_seconds(alone.seconds) +
                    (alone.fits ? "" : ", does not fit") + "\n" + table.text() + verdicts);
  }
  report.add_json("grids", json);
  report.add_json("best", best_json);
  report.add_json("out_of_core", out_of_core);
  if (overall) {
    const std::vector<std::string> lines =
        slurm_lines(*overall, profile, static_cast<double>(header.file_bytes));
    report.add_json("sbatch", lines);
    std::string text = "\n";
    for (const std::string& line : lines) text += line + "\n";
    report.add_text(text);
  }
  print(report, options.json());
}

}  // namespace csrkit
