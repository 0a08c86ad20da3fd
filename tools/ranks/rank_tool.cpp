#include "tools/ranks/rank_tool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/team.h"
#include "ranks/agreement.h"
#include "ranks/mpi_ranks.h"
#include "ranks/thread_ranks.h"
#include "tools/cli/log.h"
#include "tools/cli/run_tool.h"
#include "tools/operation/product/request.h"

namespace csrkit {

using ranks::Communicator;

namespace {

constexpr int kMaxThreadRanks = 256;

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// What all ranks throw after a step that failed somewhere.
struct FailedTogether {
  Failure failure;
};

/// What one rank has to say about a step.
struct StepOutcome {
  enum class Kind : char { done, finished, failed };
  Kind kind = Kind::done;
  int exit_code = kExitDone;
  std::string message = {};

  std::string packed() const {
    return std::string{static_cast<char>(kind), static_cast<char>(exit_code)} + host_name() + '\n' +
           message;
  }
};

StepOutcome outcome_of(const std::function<void()>& step) {
  try {
    step();
    return {};
  } catch (const ranks::RankLost&) {
    throw;
  } catch (const Finished& finished) {
    return {StepOutcome::Kind::finished, finished.exit_code};
  } catch (...) {
    const Failure failure = current_failure();
    return {StepOutcome::Kind::failed, failure.exit_code, failure.message};
  }
}

/// Of a packed outcome.
std::string message_of(const std::string& outcome) {
  return outcome.substr(outcome.find('\n') + 1);
}

/// The same error on all ranks is told once, without their numbers.
[[noreturn]] void throw_first(const std::vector<std::string>& outcomes) {
  const auto is_bad = [](const std::string& text) {
    return static_cast<StepOutcome::Kind>(text[0]) != StepOutcome::Kind::done;
  };
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), is_bad);
  const int exit_code = static_cast<unsigned char>((*first)[1]);
  if (static_cast<StepOutcome::Kind>((*first)[0]) == StepOutcome::Kind::finished) {
    throw Finished{exit_code};
  }
  std::string message = message_of(*first);
  const bool is_everywhere = std::all_of(
      outcomes.begin(), outcomes.end(),
      [&](const std::string& text) { return is_bad(text) && message_of(text) == message; });
  if (!is_everywhere) {
    const auto failed = std::count_if(outcomes.begin(), outcomes.end(), is_bad);
    message = "rank " + std::to_string(first - outcomes.begin()) + " on " +
              first->substr(2, first->find('\n') - 2) + ": " + message;
    if (failed > 1) message += " (and " + counted(failed - 1, "more rank") + " failed)";
  }
  throw FailedTogether{{exit_code, message}};
}

/// A rank that fails by itself, while others wait for it.
Failure failure_alone(const Communicator& communicator) {
  Failure failure = current_failure();
  if (communicator.size() > 1) {
    failure.message = "rank " + std::to_string(communicator.rank()) + " on " + host_name() + ": " +
                      failure.message;
  }
  return failure;
}

int run_launched(Options& options, int argc, const char* const* argv,
                 const std::function<void(Communicator&)>& body) {
  const auto communicator = ranks::start_mpi(kExitInternal, [](const std::string& why) {
    remove_pending_temporaries();
    log_error(why);
  });
  try {
    // One rank answers --help and tells what is wrong with the command line.
    only_first(*communicator, [&] {
      options.parse(argc, argv);
      if (options.given("ranks")) {
        throw UsageError("--ranks starts ranks as threads, but " + ranks::launcher() +
                         " has started " + counted(communicator->size(), "rank") +
                         " already; leave it out");
      }
    });
    if (communicator->rank() != 0) {
      options.parse(argc, argv);
      set_log_level(LogLevel::quiet);
    }
    body(*communicator);
    return kExitDone;
  } catch (const Finished& finished) {
    return finished.exit_code;
  } catch (const FailedTogether& together) {
    // Said before any rank ends: then the launcher may end all others.
    if (communicator->rank() == 0) tell_failure(together.failure);
    communicator->barrier();
    return together.failure.exit_code;
  } catch (...) {
    const Failure failure = failure_alone(*communicator);
    remove_pending_temporaries();
    log_error(failure.message);
    communicator->fail(failure.exit_code);
    throw_failure(failure);
  }
}

int run_alone(Options& options, int argc, const char* const* argv,
              const std::function<void(Communicator&)>& body) {
  options.parse(argc, argv);
  const auto count = static_cast<int>(options.integer("ranks", 1, kMaxThreadRanks));
  try {
    ranks::run_as_threads(count, [&](Communicator& communicator) {
      try {
        body(communicator);
      } catch (const Finished&) {
        throw;
      } catch (const FailedTogether&) {
        throw;
      } catch (const ranks::RankLost&) {
        throw;
      } catch (...) {
        throw_failure(failure_alone(communicator));
      }
    });
  } catch (const FailedTogether& together) {
    throw_failure(together.failure);
  }
  return kExitDone;
}

}  // namespace

Options& declare_ranks(Options& options) {
  return options
      .value("ranks", "N",
             "ranks as threads of this process, where neither mpirun nor srun has started some",
             "1")
      .value("threads", "N",
             "OpenMP threads of each rank (default: what OMP_NUM_THREADS or the system says; with "
             "--ranks an even share of it)");
}

int run_ranks(Options& options, int argc, const char* const* argv,
              const std::function<void(Communicator&)>& body) {
  return ranks::launcher().empty() ? run_alone(options, argc, argv, body)
                                   : run_launched(options, argc, argv, body);
}

int threads_per_rank(const Options& options) {
  if (const int threads = read_threads(options); threads > 0) return threads;
  const auto count = static_cast<int>(options.integer("ranks", 1, kMaxThreadRanks));
  return std::max(1, team_size(0) / count);
}

void together(Communicator& communicator, const std::function<void()>& step) {
  telling_together(communicator, [&] {
    step();
    return std::string();
  });
}

std::vector<std::string> telling_together(Communicator& communicator,
                                          const std::function<std::string()>& step) {
  std::string told;
  StepOutcome mine = outcome_of([&] { told = step(); });
  if (mine.kind == StepOutcome::Kind::done) mine.message = told;
  std::vector<std::string> all = communicator.gather(mine.packed());
  for (const std::string& outcome : all) {
    if (static_cast<StepOutcome::Kind>(outcome[0]) != StepOutcome::Kind::done) throw_first(all);
  }
  for (std::string& outcome : all) outcome = message_of(outcome);
  return all;
}

void only_first(Communicator& communicator, const std::function<void()>& step) {
  const StepOutcome mine = communicator.rank() == 0 ? outcome_of(step) : StepOutcome{};
  const std::string first = communicator.gather(mine.packed()).front();
  if (static_cast<StepOutcome::Kind>(first[0]) != StepOutcome::Kind::done) throw_first({first});
}

void warn_of_losses_together(Communicator& communicator, const std::string& operand,
                             const Losses& losses) {
  const auto first_with = [&](std::string Losses::*found) {
    Losses first;
    const std::vector<std::string> all = communicator.gather(losses.*found);
    const auto rank =
        std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    if (communicator.rank() != 0 || rank == all.end()) return;
    first.*found = *rank;
    warn_of_losses(operand + ", the part of rank " + std::to_string(rank - all.begin()) +
                       ", by rows and columns of the part",
                   first);
  };
  first_with(&Losses::overflow);
  first_with(&Losses::underflow);
}

std::string told_of_lists(Index part, const PartLists& lists) {
  const std::uint64_t unmatched = ranks::unmatched(part, lists);
  return {reinterpret_cast<const char*>(&unmatched), sizeof unmatched};
}

void require_lists_fit(ranks::Communicator& communicator, Index part, const PartLists& lists,
                       const std::string& path, const std::vector<std::string>& told) {
  std::uint64_t sum = 0;
  for (const std::string& text : told) {
    std::uint64_t unmatched = 0;
    std::memcpy(&unmatched, text.data(), std::min(text.size(), sizeof unmatched));
    sum += unmatched;
  }
  if (sum == 0) return;
  const auto all = communicator.gather(ranks::digests_of(part, lists));
  together(communicator, [&] { ranks::require_agreement(part, lists, all, path); });
}

SharedFile::SharedFile(Communicator& communicator, const std::string& path)
    : communicator_(communicator) {
  only_first(communicator, [&] { file_.emplace(path); });
  const std::string temporary =
      communicator.gather(communicator.rank() == 0 ? file_->temporary_path() : "").front();
  together(communicator, [&] {
    if (communicator.rank() != 0) file_.emplace(path, temporary);
  });
}

void SharedFile::write(const std::function<void(AtomicFile&)>& write) {
  together(communicator_, [&] { write(*file_); });
}

void SharedFile::commit() {
  together(communicator_, [&] {
    if (communicator_.rank() != 0) file_->sync();
  });
  only_first(communicator_, [&] { file_->commit(); });
}

}  // namespace csrkit
