#include "tools/partition/options.h"

#include <algorithm>

#include "core/base/ending.h"
#include "core/file/rank_sections.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"

namespace csrkit {

namespace {

const std::vector<std::string> kMethods = {"blocks", "metis", "community", "stream", "carried"};

std::vector<Index> read_parts(const Options& options) {
  std::vector<Index> parts;
  for (const std::int64_t count : options.integers("parts", 1, rank_layout::kMaxParts)) {
    parts.push_back(static_cast<Index>(count));
  }
  std::sort(parts.begin(), parts.end());
  for (std::size_t l = 1; l < parts.size(); ++l) {
    if (parts[l] != parts[l - 1] && parts[l] % parts[l - 1] == 0) continue;
    throw UsageError(
        "--parts: numbers of parts must divide each other, so that larger parts are "
        "made of smaller ones; " +
        std::to_string(parts[l - 1]) +
        (parts[l] == parts[l - 1] ? " is there twice"
                                  : " does not divide " + std::to_string(parts[l])));
  }
  if (parts.size() > static_cast<std::size_t>(rank_layout::kMaxLevels)) {
    throw UsageError("--parts: expected at most " + std::to_string(rank_layout::kMaxLevels) +
                     " numbers, found " + std::to_string(parts.size()));
  }
  return parts;
}

Options declare_partition() {
  Options options(
      "csr-partition", "INPUT.csr OUTPUT.csr", 2, 2,
      "Cuts a matrix into parts for several ranks: ranges of rows, equally many with equally "
      "many nonzeros, which exchange few rows of B. The file keeps them, with what every "
      "rank sends and receives.");
  options
      .value("parts", "N,N",
             "numbers of parts, each dividing the next: all of them are kept, and larger parts "
             "are made of smaller ones")
      .value("method", "NAME",
             "blocks: rows as they are; metis: METIS k-way; community: by communities; stream: row "
             "by row, for matrices METIS cannot take; carried: the "
             "partition in INPUT.csr (of csr-reorder)")
      .value("partition-from", "FILE",
             "instead of --method: the part of each row, from any partitioner, .npy or text")
      .value("split-hubs", "N",
             "split rows with more than N entries: each part multiplies those in its own columns, "
             "and one row of C moves for each part; auto: more than a quarter of a part's share")
      .value("passes", "N", "of --method stream over the rows", "10")
      .value("seed", "N", "of random choices", "1")
      .value("time-limit", "X", "of --method metis: give up after so many seconds")
      .value("memory-limit", "SIZE",
             "refuse what is expected to need more memory beside the matrix, e.g. 8G")
      .example("csr-partition tiny.csr ranked.csr --parts 2,4 --method blocks",
               "contiguous blocks for 2 and for 4 ranks")
      .example("csr-partition tiny.csr ranked.csr --parts 4 --method stream",
               "rows that share columns together")
      .example("csr-partition tiny.csr ranked.csr --parts 2 --partition-from parts.txt",
               "the parts that another program has found")
      .writes_files();
  declare_io(options);
  return options;
}

void read_method(const Options& options, PartitionToolOptions* result) {
  if (options.given("method") == options.given("partition-from")) {
    throw UsageError("expected one of --method NAME and --partition-from FILE");
  }
  if (options.given("method")) {
    result->method_name = options.choice("method", kMethods);
    result->method = static_cast<PartMethod>(
        std::find(kMethods.begin(), kMethods.end(), result->method_name) - kMethods.begin());
  } else {
    result->method = PartMethod::outside;
    result->partition_from = options.text("partition-from");
    result->method_name = "parts of " + result->partition_from;
  }
}

void refuse_options_of_other_methods(const Options& options, PartMethod chosen) {
  const auto require_method = [&](const char* option, PartMethod method, const char* name) {
    if (options.given(option) && chosen != method) {
      throw UsageError("--" + std::string(option) + " is for --method " + name);
    }
  };
  require_method("passes", PartMethod::stream, "stream");
  require_method("time-limit", PartMethod::metis, "metis");
  require_method("seed", PartMethod::metis, "metis");
}

void read_split_hubs(const Options& options, PartitionToolOptions* result) {
  if (!options.given("split-hubs")) return;
  result->splits_hubs = true;
  if (options.text("split-hubs") == "auto") return;
  try {
    result->hub_entries = options.integer("split-hubs", 1, kMaxIndex);
  } catch (const UsageError& error) {
    throw UsageError(std::string(error.what()) + ", or auto");
  }
}

void read_method_options(const Options& options, PartitionToolOptions* result) {
  result->passes = static_cast<int>(options.integer("passes", 1, 100));
  if (result->method == PartMethod::metis) {
    result->reorder.parameters["parts"] = std::to_string(result->parts.back());
    result->reorder.parameters["balance"] = "both";
    if (options.given("time-limit")) {
      result->reorder.parameters["time-limit"] = options.text("time-limit");
    }
  }
  result->reorder.seed = options.seed();
  if (options.given("memory-limit")) {
    result->reorder.memory_limit_bytes = options.bytes("memory-limit");
  }
  result->reorder.progress = terminal_progress();
}

}  // namespace

PartitionToolOptions parse_partition_options(int argc, const char* const* argv) {
  Options options = declare_partition();
  options.parse(argc, argv);

  PartitionToolOptions result;
  result.input = options.names()[0];
  result.output = options.names()[1];
  if (!options.given("parts")) {
    throw UsageError("--parts says for how many ranks, for example --parts 2,4,8");
  }
  result.parts = read_parts(options);
  read_method(options, &result);
  // A matrix may be replaced by itself in another order, with --force.
  require_outputs(options, {result.output}, {result.partition_from});
  require_ending(result.output, {".csr"});
  refuse_options_of_other_methods(options, result.method);
  read_split_hubs(options, &result);
  read_method_options(options, &result);
  result.read = read_options(options);
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

}  // namespace csrkit
