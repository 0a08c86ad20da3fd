// The command line of csr-spmm-dist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "ranks/spmm.h"
#include "tools/cli/options.h"

namespace csrkit {

/// The way of processors that is not HaloWay::peer.
inline constexpr char kMessages[] = "messages";

struct SpmmDistOptions {
  std::string matrix;
  CsrReadOptions read;
  ranks::Grid grid;
  std::string grid_choice = "as asked";
  std::string profile;
  bool is_on_gpus = false;
  bool may_share_gpus = false;
  bool gathers_all = false;
  std::string exchange;  // auto, peer, and nccl of GPUs or messages of processors
  Index dense_cols = 32;
  int power = 1;
  int warmup = 0, repeat = 1;
  int threads = 1;
  bool is_checked = false;
  bool is_deterministic = true;
  std::string kernel, input, output;
  std::uint64_t seed = 1;
  std::optional<ValueKind> value_kind, dense_kind, input_kind;
  bool as_json = false;
  std::vector<std::string> command_line;
};

Options declare_spmm_dist();
/// Refuses a B that nothing could count. Then the first rank, which tells the others, forecasts
/// which grid is the fastest, perhaps by the file's entries; "" on others, and where --grid names
/// one.
std::string forecast_grid_text(const Options& options, const ranks::Communicator& communicator);
SpmmDistOptions read_spmm_dist(const Options& options, const ranks::Communicator& communicator,
                               const std::string& forecast_grid);

}  // namespace csrkit
