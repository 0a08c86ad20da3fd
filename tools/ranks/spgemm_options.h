// The command line of csr-spgemm-dist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "tools/cli/options.h"

namespace csrkit {

/// Where the blocks of rows come from.
enum class BlockSource { automatic, file, products };

struct SpgemmDistOptions {
  std::string a, b;  // the same file, where one was named
  FileIo io = FileIo::automatic;
  int warmup = 0, repeat = 1;
  int threads = 1;
  bool is_checked = false;
  bool is_on_gpus = false, may_share_gpus = false;
  BlockSource blocks = BlockSource::automatic;
  std::string kernel, output;
  std::optional<ValueKind> value_kind;
  bool as_json = false;
  std::vector<std::string> command_line;
};

Options declare_spgemm_dist();
SpgemmDistOptions read_spgemm_dist(const Options& options);

}  // namespace csrkit
