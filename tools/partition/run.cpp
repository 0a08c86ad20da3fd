#include "tools/partition/run.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "api/reordering.h"
#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "preprocess/reorder/parts/part_nesting.h"
#include "preprocess/reorder/parts/stream_parts.h"
#include "tools/cli/provenance.h"
#include "tools/info/matrix_facts.h"
#include "tools/reorder/outside_order.h"

namespace csrkit {

namespace {

constexpr Offset kEntriesPerPiece = 8;

/// Throws MemoryError if `bytes` are above the limit that was given, or above what is there.
void require_memory(const PartitionToolOptions& options, std::uint64_t bytes, const char* what) {
  if (bytes > options.reorder.memory_limit_bytes) {
    throw MemoryError(std::string(what) + " take " + counted(bytes, "byte") +
                      " beside the matrix, more than the limit of " +
                      std::to_string(options.reorder.memory_limit_bytes) +
                      "; raise the limit, or ask for fewer parts");
  }
  require_available_memory(bytes, what, "ask for fewer parts");
}

/// The part of every row of the matrix as it is, from an ordering that gathers parts.
Partition parts_of_old_rows(const Ordering& ordering) {
  const Buffer<Index>& part_of_new = *ordering.partition->part_of_row;
  Buffer<Index> part_of_old(part_of_new.size());
  for (Offset row = 0; row < part_of_new.size(); ++row) {
    part_of_old[ordering.order.old_of_new()[row]] = part_of_new[row];
  }
  return {ordering.partition->parts, std::make_shared<const Buffer<Index>>(std::move(part_of_old))};
}

/// The rows that are split, ascending; none, unless it was asked for.
std::vector<Index> hubs_of(const PartitionToolOptions& options, const CsrMatrix& matrix) {
  std::vector<Index> hubs;
  if (!options.splits_hubs) return hubs;
  const Offset parts = options.parts.back();
  // A row of as many entries as there are parts may come to as many pieces, each of them a row of C
  // that moves: shorter rows have nothing to gain.
  const Offset limit =
      options.hub_entries.value_or(std::max(matrix.nnz() / parts / 4, kEntriesPerPiece * parts));
  for (Index row = 0; row < matrix.rows(); ++row) {
    if (matrix.row_length(row) > limit) hubs.push_back(row);
  }
  return hubs;
}

/// What the method finds; its number of parts is a multiple of the finest level's.
Partition found_parts(const PartitionToolOptions& options, const CsrFile& file) {
  // Hubs are no part's load, and draw no rows to theirs.
  const CsrMatrix matrix = without_rows(file.matrix, hubs_of(options, file.matrix));
  const Index finest = options.parts.back();
  if (options.method == PartMethod::metis) {
    if (matrix.rows() != matrix.cols()) {  // the ordering's own words advise other orderings
      throw UsageError("--method metis needs a square matrix; '" + options.input + "' has " +
                       counted(matrix.rows(), "row") + " and " + counted(matrix.cols(), "column") +
                       ": community, stream and blocks take any shape");
    }
    return parts_of_old_rows(make_ordering("metis-partition", matrix, options.reorder));
  }
  if (options.method == PartMethod::stream) {
    require_memory(options, stream_parts_bytes(matrix.rows(), matrix.cols(), finest),
                   "the parts of a stream");
    StreamOptions stream;
    stream.parts = finest;
    stream.passes = options.passes;
    stream.progress = options.reorder.progress;
    return stream_parts(matrix, stream);
  }
  if (options.method == PartMethod::carried && !file.partition) {
    throw UsageError("'" + options.input +
                     "' carries no partition; csr-reorder --method metis-partition makes one");
  }
  Partition parts =
      options.method == PartMethod::carried
          ? *file.partition
          : parts_of_old_rows(read_outside_partition(options.partition_from, matrix.rows()));
  if (parts.parts % finest != 0) {
    throw UsageError(
        "--parts " + std::to_string(finest) + " cannot be made of the " +
        counted(parts.parts, "part") + " of '" +
        (options.method == PartMethod::carried ? options.input : options.partition_from) +
        "': expected a number that divides " + std::to_string(parts.parts));
  }
  return parts;
}

/// Rows gathered by part, in the order they had, parts numbered so that levels nest.
Ordering gathered(const CsrMatrix& matrix, const Partition& parts,
                  const std::vector<Index>& levels) {
  const Index finest = levels.back(), ratio = parts.parts / finest;
  const std::vector<Index> numbers = nested_numbers(matrix, parts, levels);
  const auto number = [&](Offset row) {
    return numbers[static_cast<std::size_t>((*parts.part_of_row)[row])] / ratio;
  };
  std::vector<Index> next(static_cast<std::size_t>(finest) + 1, 0);
  for (Index row = 0; row < matrix.rows(); ++row) ++next[static_cast<std::size_t>(number(row)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Buffer<Index> new_of_old(matrix.rows()), part_of_new(matrix.rows());
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Index part = number(row);
    new_of_old[row] = next[static_cast<std::size_t>(part)]++;
    part_of_new[new_of_old[row]] = part;
  }
  return {Permutation::from_new_of_old(std::move(new_of_old)),
          Partition{finest, std::make_shared<const Buffer<Index>>(std::move(part_of_new))}};
}

/// Where the parts of a file begin whose rows have been gathered.
std::vector<PartBorders> gathered_borders(const CsrFile& file, const std::vector<Index>& levels) {
  const Buffer<Index>& part_of_row = *file.partition->part_of_row;
  std::vector<PartBorders> all = plain_blocks(file.matrix, levels);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Index ratio = levels.back() / levels[l];
    for (Index p = 0; p <= levels[l]; ++p) {
      const Index* at = std::lower_bound(part_of_row.begin(), part_of_row.end(), p * ratio);
      all[l].rows[static_cast<std::size_t>(p)] = static_cast<Index>(at - part_of_row.begin());
    }
    if (file.matrix.rows() == file.matrix.cols()) all[l].cols = all[l].rows;
  }
  return all;
}

/// The file in the order of its parts, and where they begin.
std::pair<CsrFile, std::vector<PartBorders>> in_parts(const PartitionToolOptions& options,
                                                      const CsrFile& before) {
  const CsrMatrix& matrix = before.matrix;
  if (options.method == PartMethod::blocks) {
    CsrFile file = before;
    file.ranks.reset();
    return {std::move(file), plain_blocks(matrix, options.parts, hubs_of(options, matrix))};
  }
  require_memory(options, matrix.size_bytes(), "the entries in their new order");
  if (options.method == PartMethod::community) {
    // Columns of a rectangular matrix move with their communities, too.
    const Ordering ordering = make_ordering("community", matrix, options.reorder);
    CsrFile file =
        in_order(before, ordering, ordering.col_order ? Sides::both : sides_of("", matrix));
    std::vector<PartBorders> borders =
        plain_blocks(file.matrix, options.parts, hubs_of(options, file.matrix));
    return {std::move(file), std::move(borders)};
  }
  const Ordering ordering = gathered(matrix, found_parts(options, before), options.parts);
  CsrFile file = in_order(before, ordering, sides_of("", matrix));
  std::vector<PartBorders> borders = gathered_borders(file, options.parts);
  return {std::move(file), std::move(borders)};
}

std::vector<LevelFacts> facts_of(const std::vector<CountedLevel>& counted) {
  std::vector<LevelFacts> facts;
  facts.reserve(counted.size());
  for (const CountedLevel& level : counted) facts.push_back(level_facts(level.level));
  return facts;
}

}  // namespace

PartitionRun partition_file(const PartitionToolOptions& options, const CsrFile& before) {
  const CsrMatrix& matrix = before.matrix;
  if (options.parts.back() > matrix.rows()) {
    throw UsageError("--parts " + std::to_string(options.parts.back()) + ": '" + options.input +
                     "' has " + counted(matrix.rows(), "row") +
                     "; there can be no more parts than rows");
  }
  PartitionRun run;
  const ProgressCallback& progress = options.reorder.progress;
  run.plain = facts_of(count_parts(matrix, plain_blocks(matrix, options.parts), 0, progress));
  const Stopwatch order_watch;
  auto [file, borders] = in_parts(options, before);
  run.order_seconds = order_watch.seconds();

  const Stopwatch list_watch;
  const std::vector<Index> hubs = hubs_of(options, file.matrix);
  std::uint64_t halo_cols = 0;
  for (const CountedLevel& level : count_parts(file.matrix, borders, 0, progress, {}, hubs)) {
    halo_cols += static_cast<std::uint64_t>(level_facts(level.level).halo_cols);
  }
  require_memory(options, 3 * sizeof(Index) * halo_cols, "the lists of the parts");
  file.ranks = RankSections::of(file.matrix, borders, 0, progress, hubs);
  for (const PartLevel& level : file.ranks->levels()) run.levels.push_back(level_facts(level));
  run.list_seconds = list_watch.seconds();

  const Offset share = matrix.nnz() / options.parts.back();
  for (Index row = 0; row < file.matrix.rows(); ++row) {
    const bool is_split = std::binary_search(hubs.begin(), hubs.end(), row);
    run.long_rows += file.matrix.row_length(row) > share && !is_split;
  }
  const auto listed = [](const std::vector<LevelFacts>& all) {
    Json rows = Json::array();
    for (const LevelFacts& level : all) rows.push_back(to_json(level));
    return rows;
  };
  // csr-forecast says from these what the parts have gained.
  Json details{{"method", options.method_name},
               {"levels", listed(run.levels)},
               {"plain_blocks", listed(run.plain)}};
  if (!is_time_given()) details["order_seconds"] = run.order_seconds;
  std::vector<FileDigest> inputs = {digest_file(options.input)};
  if (!options.partition_from.empty()) inputs.push_back(digest_file(options.partition_from));
  file.provenance = append_step(before.provenance, {options.command_line, inputs, &details});
  run.file = std::move(file);
  return run;
}

void report_partition(const PartitionToolOptions& options, const PartitionRun& run) {
  Report report;
  report.add("output", "output", options.output);
  report.add("method", "method", options.method_name);
  add_shape(report, run.file.matrix);
  report.add_seconds("order_seconds", "making parts", run.order_seconds);
  report.add_seconds("list_seconds", "making lists", run.list_seconds);
  report.add("list_bytes", "size of the lists", Json(run.file.ranks->list_bytes()),
             readable_bytes(static_cast<double>(run.file.ranks->list_bytes())));
  const auto split_rows = static_cast<std::int64_t>(run.file.ranks->split_rows().rows.size());
  report.add_json("split_rows", split_rows);
  if (split_rows > 0) report.add_line("split rows", with_commas(split_rows));
  report.add_json("rows_beyond_a_share", run.long_rows);
  if (run.long_rows > 0) {
    report.add_line("rows beyond a part's share",
                    with_commas(run.long_rows) + ": " + counted(options.parts.back(), "part") +
                        " cannot be balanced; --split-hubs auto shares them out");
  }
  add_levels(report, run.levels, run.file.matrix.nnz(), run.plain);
  print(report, options.as_json);
}

}  // namespace csrkit
