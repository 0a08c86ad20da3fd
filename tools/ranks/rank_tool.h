// The frame of tools that run as several ranks: processes that a launcher started, or threads of
// one process. One voice to the user, that of rank 0; one exit code.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/atomic_file.h"
#include "core/matrix/row_parts.h"
#include "ranks/communicator.h"
#include "tools/cli/options.h"
#include "tools/operation/operands/losses.h"

namespace csrkit {

/// --ranks and --threads.
Options& declare_ranks(Options& options);

/// Parses `options` and runs `body` as each rank. Returns the exit code. --ranks says how many
/// threads are ranks where no launcher started this process, and is refused where one did.
int run_ranks(Options& options, int argc, const char* const* argv,
              const std::function<void(ranks::Communicator&)>& body);

/// What --threads says of one rank; else its share of the processors that this process may use.
int threads_per_rank(const Options& options);

/// All ranks do `step`. If it fails on some of them it fails on all, with the words of the first.
void together(ranks::Communicator& communicator, const std::function<void()>& step);
/// The same, and what every rank's step told the others, in their order.
std::vector<std::string> telling_together(ranks::Communicator& communicator,
                                          const std::function<std::string()>& step);
/// One of them does it.
void only_first(ranks::Communicator& communicator, const std::function<void()>& step);

/// Rank 0 warns of what the first ranks with losses have found in their parts of `operand`, by rows
/// and columns of the part. All ranks together.
void warn_of_losses_together(ranks::Communicator& communicator, const std::string& operand,
                             const Losses& losses);

/// For telling_together(): what others must know of the lists of a part.
std::string told_of_lists(Index part, const PartLists& lists);
/// Fails on all ranks if a part of a file would send other columns than another waits for. `told`
/// is what all ranks told of their lists; nothing more is said between them where these fit.
void require_lists_fit(ranks::Communicator& communicator, Index part, const PartLists& lists,
                       const std::string& path, const std::vector<std::string>& told);

/// A file that all ranks write at once, each its own bytes, and that appears complete or not at
/// all. All ranks make the same calls.
class SharedFile {
 public:
  SharedFile(ranks::Communicator& communicator, const std::string& path);
  /// Every rank's own bytes.
  void write(const std::function<void(AtomicFile&)>& write);
  /// When all of it is on the disk, it gets its name.
  void commit();

 private:
  ranks::Communicator& communicator_;
  std::optional<AtomicFile> file_;
};

}  // namespace csrkit
