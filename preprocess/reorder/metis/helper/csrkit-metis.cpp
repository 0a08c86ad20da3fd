// csrkit-metis: the program in which METIS runs, so that neither its memory nor its crashes are
// those of the process that asks. libcsrkit starts it (preprocess/reorder/metis/metis_call); the
// graph and the result are in the file that both map (metis_exchange.h).
//
// It may crash, exit, or be ended at any time: what counts is MetisExchange::is_finished.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "preprocess/reorder/metis/child_process.h"
#include "preprocess/reorder/metis/metis_exchange.h"

namespace {

using csrkit::reorder::kSharedFile;
using csrkit::reorder::MetisExchange;
using csrkit::reorder::MetisTask;

/// If memory runs out, the kernel ends this process first. Raising the own score needs no
/// privilege. Without that file the kernel chooses by its own rules.
void offer_for_sacrifice() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  const char worst[] = "1000";
  if (write(file, worst, sizeof(worst) - 1) < 0) std::perror("oom_score_adj");
  close(file);
}

/// What the caller had open stays its own: a pipe that this process kept open would never end.
void close_other_files() {
#ifdef SYS_close_range
  syscall(SYS_close_range, kSharedFile + 1, ~0u, 0);
#endif
}

/// nullptr, with the reason on stderr, if the file is not what was agreed on.
MetisExchange* map_exchange() {
  struct stat status {};
  if (fstat(kSharedFile, &status) != 0 ||
      status.st_size < static_cast<off_t>(sizeof(MetisExchange))) {
    std::fputs("csrkit-metis is started by libcsrkit, for the METIS orderings\n", stderr);
    return nullptr;
  }
  void* const data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE,
                          MAP_SHARED, kSharedFile, 0);
  if (data == MAP_FAILED) {
    std::perror("csrkit-metis: mmap");
    return nullptr;
  }
  auto* const exchange = static_cast<MetisExchange*>(data);
  if (exchange->form != csrkit::reorder::kMetisExchangeForm ||
      exchange->idx_bytes != static_cast<std::int64_t>(sizeof(idx_t)) ||
      static_cast<std::size_t>(status.st_size) <
          MetisExchange::bytes(exchange->vertices, exchange->entries)) {
    std::fputs("csrkit-metis is of another build than libcsrkit\n", stderr);
    return nullptr;
  }
  return exchange;
}

int run(MetisExchange& exchange) {
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = static_cast<idx_t>(exchange.seed);
  auto vertices = static_cast<idx_t>(exchange.vertices);
  idx_t* const result = exchange.result();
  if (exchange.task == MetisTask::nested_dissection) {
    return METIS_NodeND(&vertices, exchange.xadj(), exchange.adjncy(), nullptr, options, result,
                        result + vertices);
  }
  auto parts = static_cast<idx_t>(exchange.parts);
  idx_t* const weights = exchange.weights_of_each > 0 ? exchange.weights() : nullptr;
  auto constraints = static_cast<idx_t>(std::max<std::int64_t>(1, exchange.weights_of_each));
  idx_t edge_cut = 0;
  return METIS_PartGraphKway(&vertices, &constraints, exchange.xadj(), exchange.adjncy(), weights,
                             nullptr, nullptr, &parts, nullptr, nullptr, options, &edge_cut,
                             result);
}

}  // namespace

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_other_files();
  const rlimit no_core_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_dump);
  offer_for_sacrifice();
  setvbuf(stdout, nullptr, _IONBF, 0);  // what METIS said before a crash is not lost
  MetisExchange* const exchange = map_exchange();
  if (exchange == nullptr) return 2;
  if (getppid() != exchange->parent) return 1;  // it died before prctl took effect
  exchange->status = run(*exchange);
  exchange->is_finished = 1;
  return 0;
}
