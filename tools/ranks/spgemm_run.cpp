#include "tools/ranks/spgemm_run.h"

#include <cstring>
#include <numeric>

#include "api/rooms.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/judge/compare.h"
#include "cpu/common/kernels.h"
#include "ranks/placement.h"
#include "ranks/spgemm.h"
#include "tools/cli/log.h"
#include "tools/cli/provenance.h"
#include "tools/ranks/csr_output.h"
#include "tools/ranks/gpu_seats.h"
#include "tools/ranks/rank_tool.h"
#include "tools/ranks/spgemm_report.h"
#include "tools/ranks/spgemm_share.h"

namespace csrkit {

using ranks::Communicator;
using ranks::LocalOperands;

namespace {

constexpr Index kComparedRows = 64;  // of those that came from other ranks

const SpgemmKernel& kernel_of(const SpgemmDistOptions& options) {
  return find_kernel(options.is_on_gpus ? require_gpu_room("--device gpu").spgemm_kernels()
                                        : cpu::spgemm_kernels(),
                     options.kernel);
}

SpgemmMade multiply(const SpgemmDistOptions& options, Communicator& communicator,
                    const SpgemmShare& share, int device) {
  SpgemmMade made;
  communicator.barrier();
  const Stopwatch all;
  if (share.all_of_b) {
    made.local.a = share.a;
    made.local.b = *share.all_of_b;
  } else {
    made.local =
        fetch_rows_of_b(communicator, share.a, share.b, share.b_borders, share.b_offsets.data(),
                        share.lists ? &*share.lists : nullptr, options.threads);
  }
  const Stopwatch multiplying;
  PlanOptions plan_options;
  plan_options.where.threads = options.threads;
  plan_options.where.device = device;
  made.problem = default_spgemm_problem(made.local.a, made.local.b);
  const auto plan = kernel_of(options).make_plan(made.problem, plan_options);
  MemorySink sink(made.problem.output_rows(), made.problem.output_cols(), made.problem.c);
  plan->multiply(sink);
  made.c = sink.finish();
  made.choice = plan->choice();
  const SpgemmPhases phases = plan->phases();
  made.on_gpu = {phases.upload_seconds,
                 phases.analysis_seconds + phases.symbolic_seconds + phases.numeric_seconds +
                     phases.sort_seconds,
                 phases.output_seconds};
  made.local.seconds.multiply = multiplying.seconds();
  made.seconds = all.seconds();
  return made;
}

/// Some rows that other ranks brought, against the file.
void compare_received_rows(const SpgemmDistOptions& options, const SpgemmShare& share,
                           const LocalOperands& local, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  std::vector<Index> rows_of_b = local.rows_of_b;
  if (share.all_of_b) {
    rows_of_b.resize(static_cast<std::size_t>(local.b.rows()));
    std::iota(rows_of_b.begin(), rows_of_b.end(), 0);
  }
  std::vector<std::size_t> received;
  for (std::size_t i = 0; i < rows_of_b.size(); ++i) {
    const Index row = rows_of_b[i];
    if (row < share.b_borders[own] || row >= share.b_borders[own + 1]) received.push_back(i);
  }
  if (received.empty()) return;
  for (Index i = 0; i < kComparedRows; ++i) {
    const std::uint64_t word = random_word(1, static_cast<std::uint64_t>(i));
    const std::size_t place = received[below(word, received.size())];
    const Index row = rows_of_b[place];
    Losses told;  // by the rank that has the row
    const CsrMatrix expected = read_rows(options, options.b, row, row + 1, &told);
    const auto found = static_cast<Index>(place);
    const Offset begin = local.b.row_offsets()[found], size = local.b.row_length(found);
    const auto* const values = static_cast<const char*>(local.b.values());
    const CsrMatrix one(1, local.b.cols(),
                        Buffer<Offset>::copy_of(std::vector<Offset>{0, size}.data(), 2),
                        Buffer<Index>::copy_of(local.b.col_indices() + begin, size), [&] {
                          ValueArray copy(local.b.value_kind(), size);
                          const auto bytes = static_cast<Offset>(size_of(copy.kind()));
                          if (size * bytes > 0) {
                            std::memcpy(copy.data(), values + begin * bytes,
                                        static_cast<std::size_t>(size * bytes));
                          }
                          return copy;
                        }());
    if (!identical(one, expected)) {
      throw VerifyError("row " + std::to_string(row) + " of B is not what another rank brought");
    }
  }
}

CheckResult check(const SpgemmDistOptions& options, const SpgemmShare& share,
                  const SpgemmMade& made, int rank) {
  compare_received_rows(options, share, made.local, rank);
  CheckResult result = check_spgemm(made.problem, made.c);
  if (!result.passed) {
    throw VerifyError("the product is wrong, rows counted from row " +
                      std::to_string(share.row_borders[static_cast<std::size_t>(rank)]) + ": " +
                      result.failure);
  }
  return result;
}

}  // namespace

void run_spgemm_dist(const SpgemmDistOptions& options, Communicator& communicator) {
  SpgemmRankFacts facts;
  facts.place = ranks::this_place(options.threads);
  const auto places = gather_places(communicator, facts.place);
  if (communicator.rank() == 0) {
    for (const std::string& warning : placement_warnings(places)) log_warning(warning);
  }
  together(communicator, [&] { kernel_of(options); });
  if (options.is_on_gpus) facts.gpu = take_gpu(communicator, places, options.may_share_gpus);
  const int device = facts.gpu ? facts.gpu->device : 0;
  const Stopwatch reading;
  SpgemmShare share = read_share(options, communicator);
  if (options.is_on_gpus) share_operands(options, communicator, device, &share);
  facts.read_seconds = reading.seconds();

  SpgemmMade made = multiply(options, communicator, share, device);
  if (options.is_checked) {
    together(communicator, [&] { facts.check = check(options, share, made, communicator.rank()); });
  }
  for (int run = 0; run < options.warmup + options.repeat; ++run) {
    made = multiply(options, communicator, share, device);
    if (run < options.warmup) continue;
    facts.samples.push_back(made.seconds);
    facts.phases.push_back(made.local.seconds);
    facts.on_gpu.push_back(made.on_gpu);
  }
  // Told before C gets its name: a rank without memory for that leaves no file.
  const auto texts = communicator.gather(spgemm_record(facts, share, made, communicator.rank()));
  if (!options.output.empty()) {
    ProvenanceStep step;  // without digests of the inputs, which no rank reads whole
    step.command_line = options.command_line;
    share.beside.provenance = append_step(share.beside.provenance, step);
    write_csr_together(communicator, options.output, made.c, share.row_borders, share.beside);
  }
  report_spgemm_dist(options, share, texts, communicator);
}

}  // namespace csrkit
