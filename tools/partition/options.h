// The command line of csr-partition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {

enum class PartMethod { blocks, metis, community, stream, carried, outside };

struct PartitionToolOptions {
  std::string input, output, partition_from;
  PartMethod method = PartMethod::blocks;
  std::string method_name;
  std::vector<Index> parts;  // ascending, each dividing the next
  bool splits_hubs = false;
  std::optional<Offset> hub_entries;  // rows with more of them are split; none: chosen by share
  int passes = 0;                     // of stream
  ReorderOptions reorder;             // seed, memory limit, progress, time limit
  CsrReadOptions read;
  bool as_json = false;
  std::vector<std::string> command_line;
};

/// Throws UsageError; prints and throws Finished for --help and --version.
PartitionToolOptions parse_partition_options(int argc, const char* const* argv);

}  // namespace csrkit
