#include "tools/ranks/spmm_run.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/stopwatch.h"
#include "core/file/csr_rows.h"
#include "core/file/npy_file.h"
#include "core/matrix/dense_matrix.h"
#include "cpu/common/kernels.h"
#include "ranks/peer_spmm.h"
#include "ranks/spmm_check.h"
#include "tools/cli/log.h"
#include "tools/operation/product/request.h"
#include "tools/ranks/rank_tool.h"
#include "tools/ranks/spmm_report.h"

namespace csrkit {

using ranks::Communicator;
using ranks::SpmmRank;
using ranks::SpmmSeconds;

namespace {

/// A file without parts, for ranks that share the columns of B only.
RankPart whole_matrix(const CsrMatrix& matrix) {
  RankPart part;
  part.lists.head.row_end = matrix.rows();
  part.lists.head.col_end = matrix.cols();
  part.lists.head.entries = part.lists.head.own_entries = matrix.nnz();
  part.own = matrix;
  Buffer<Offset> none(Offset{matrix.rows()} + 1);
  std::fill(none.begin(), none.end(), Offset{0});
  part.halo = CsrMatrix(matrix.rows(), 0, std::move(none), Buffer<Index>(),
                        ValueArray(matrix.value_kind(), 0));
  return part;
}

/// `losses`: of the conversion.
RankPart read_part(const SpmmDistOptions& options, const Communicator& communicator,
                   PartColumns columns, Losses* losses) {
  const ranks::Grid& grid = options.grid;
  const int number = grid.part_of(communicator.rank());
  RankPart part = grid.parts == 1 ? whole_matrix(read_csr_file(options.matrix, options.read).matrix)
                                  : read_rank_part(options.matrix, grid.parts, number,
                                                   options.read.io, options.threads, columns);
  if (options.value_kind && *options.value_kind != part.own.value_kind()) {
    for (CsrMatrix* matrix : {&part.own, &part.halo, &part.pieces}) {
      losses->note(*matrix, *options.value_kind, options.threads);
      *matrix = convert_values(*matrix, *options.value_kind, options.threads);
    }
  }
  return part;
}

/// What is multiplied, but for the entries.
SpmmProblem problem_of(const SpmmDistOptions& options, ValueKind stored) {
  Buffer<Offset> offsets(1);
  offsets[0] = 0;
  const CsrMatrix no_rows(0, 0, std::move(offsets), Buffer<Index>(),
                          ValueArray(options.value_kind.value_or(stored), 0));
  SpmmProblem problem = default_spmm_problem(no_rows, options.dense_cols);
  if (const auto kind =
          dense_kind_of(no_rows.value_kind(), options.dense_kind, options.input_kind)) {
    set_dense_kind(&problem, *kind);
  }
  require_legal(problem);
  if (options.power > 1 && problem.b != problem.c) {
    throw UsageError("--power: C becomes B of the next product, so both have one kind; B is " +
                     std::string(name_of(problem.b)) + ", C is " + name_of(problem.c));
  }
  return problem;
}

/// How rows of B come to ranks on processors. All ranks together.
struct Exchange {
  ranks::PeerArrays arrays;  // of HaloWay::peer
  SpmmExchange facts;
};
Exchange choose_exchange(const SpmmDistOptions& options, Communicator& communicator,
                         const CsrFileHeader& header, const SpmmProblem& problem) {
  Exchange exchange;
  if (options.grid.parts == 1) {
    exchange.facts = {"none", "nothing travels"};
    return exchange;
  }
  exchange.facts = {kMessages, "as asked"};
  if (options.exchange == kMessages) return exchange;
  std::string why_not;
  exchange.arrays =
      share_arrays(communicator, options.grid, header.cols, problem, options.power, &why_not);
  const std::string peer = name_of(HaloWay::peer);
  if (exchange.arrays.b != nullptr) {
    exchange.facts = {peer, options.exchange == peer ? "as asked" : "all ranks are on one host"};
  } else {
    exchange.facts.choice = why_not;
    together(communicator, [&] {
      if (options.exchange == peer) throw UsageError("--exchange " + peer + ": " + why_not);
    });
  }
  return exchange;
}

std::unique_ptr<SpmmRank> cpu_rank(const SpmmDistOptions& options, Communicator& communicator,
                                   RankPart part, const SpmmProblem& problem,
                                   const PlanOptions& plan, const ranks::PeerArrays& arrays) {
  const Kernel<Spmm>& kernel = find_kernel(cpu::spmm_kernels(), options.kernel);
  if (arrays.b == nullptr) {
    return std::make_unique<ranks::CpuSpmmRank>(communicator, options.grid, std::move(part),
                                                problem, kernel, plan);
  }
  return std::make_unique<ranks::PeerSpmmRank>(communicator, options.grid, std::move(part), problem,
                                               kernel, plan, arrays);
}

/// Where B comes from: rectangles of it, whoever asks.
class SourceOfB {
 public:
  SourceOfB(const SpmmDistOptions& options, Index rows, ValueKind kind) : seed_(options.seed) {
    if (options.input.empty()) return;
    file_.emplace(options.input);
    if (file_->rows() != rows || file_->cols() != options.dense_cols || file_->kind() != kind) {
      throw InputError(options.input + ": expected an array of " + std::to_string(rows) + " x " +
                       std::to_string(options.dense_cols) + " elements of " + name_of(kind) +
                       " (rows of B x --dense-cols), found " + std::to_string(file_->rows()) +
                       " x " + std::to_string(file_->cols()) + " of " + name_of(file_->kind()));
    }
  }

  void fill(Index first_row, Index first_col, DenseView block) const {
    if (file_) {
      file_->read(first_row, first_col, block);
    } else {
      fill_random(block, seed_, first_row, first_col);
    }
  }

 private:
  std::optional<NpyFile> file_;
  std::uint64_t seed_;
};

/// The product on one rank, whatever has been done to it so far.
struct Product {
  const SpmmDistOptions& options;
  std::unique_ptr<SpmmRank> owned;
  SourceOfB source;
  SpmmRank& rank = *owned;

  void read_b() { source.fill(rank.head().col_begin, rank.columns().begin, rank.b()); }
  void fill_b() {
    read_b();
    rank.bring_b();
  }

  CheckResult check_first() {
    return check_sampled_rows(
        rank, [&](Index row, DenseView to) { source.fill(row, rank.columns().begin, to); },
        [&](Index row) {
          const CsrMatrix a = read_csr_rows(options.matrix, row, row + 1, options.read.io);
          const ValueKind kind = rank.part().own.value_kind();
          return a.value_kind() == kind ? a : convert_values(a, kind, options.threads);
        });
  }
  CheckResult check_last() { return check_sampled_rows(rank, rows_as_received(rank)); }
};

void require_right(const std::optional<CheckResult>& check) {
  if (check && !check->passed) throw VerifyError("the product is wrong: " + check->failure);
}

/// The first product, and all of its powers if there are some: checked, not timed.
std::optional<CheckResult> first_products(Product& product, Communicator& communicator) {
  std::optional<CheckResult> check;
  product.rank.bring_b();
  product.rank.multiply(1);
  if (!product.options.is_checked) return check;
  product.rank.fetch();
  together(communicator, [&] { require_right(check = product.check_first()); });
  if (product.options.power == 1) return check;
  product.fill_b();
  product.rank.multiply(product.options.power);
  product.rank.fetch();
  together(communicator, [&] {
    const CheckResult last = product.check_last();
    require_right(last);
    check->rows_checked += last.rows_checked;
    check->worst_error_ratio = std::max(check->worst_error_ratio, last.worst_error_ratio);
  });
  return check;
}

void write_rows(AtomicFile& file, std::uint64_t header_bytes, const SpmmRank& rank,
                Index dense_cols) {
  const ConstDenseView c = rank.c();
  const auto size = static_cast<std::uint64_t>(size_of(c.kind));
  const std::uint64_t line = static_cast<std::uint64_t>(dense_cols) * size;
  const std::uint64_t mine = static_cast<std::uint64_t>(c.cols) * size;
  const std::uint64_t begin =
      header_bytes + static_cast<std::uint64_t>(rank.head().row_begin) * line;
  if (mine == line) return file.write_at(begin, c.data, line * static_cast<std::uint64_t>(c.rows));
  const std::uint64_t in_line = static_cast<std::uint64_t>(rank.columns().begin) * size;
  for (Index i = 0; i < c.rows; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    file.write_at(begin + row * line + in_line, c.as<char>() + row * mine, mine);
  }
}

void write_c(const SpmmDistOptions& options, Communicator& communicator, const SpmmRank& rank,
             Index rows) {
  const std::string header = make_npy_header(npy_descr(rank.kinds().c), {rows, options.dense_cols});
  SharedFile output(communicator, options.output);
  output.write([&](AtomicFile& file) {
    if (communicator.rank() == 0) file.write_at(0, header.data(), header.size());
    write_rows(file, header.size(), rank, options.dense_cols);
  });
  output.commit();
}

std::vector<SpmmSeconds> timed_products(Product& product, Communicator& communicator) {
  std::vector<SpmmSeconds> samples;
  const SpmmDistOptions& options = product.options;
  for (int run = 0; run < options.warmup + options.repeat; ++run) {
    // Powers grow or fade away: every sample starts from the same B.
    if (options.power > 1) product.fill_b();
    communicator.barrier();
    const SpmmSeconds seconds = product.rank.multiply(options.power);
    if (run >= options.warmup) samples.push_back(seconds);
  }
  return samples;
}

/// What a rank runs on, and warnings about where all of them run.
void choose_places(const SpmmDistOptions& options, Communicator& communicator,
                   SpmmRankFacts* facts) {
  facts->place = ranks::this_place(options.threads);
  const auto places = gather_places(communicator, facts->place);
  if (communicator.rank() == 0) {
    for (const std::string& warning : placement_warnings(places)) log_warning(warning);
  }
  if (options.is_on_gpus) facts->gpu = choose_gpu(options, communicator, places);
}

/// The file's header, which every rank reads, if it suits the options.
CsrFileHeader read_header(const SpmmDistOptions& options) {
  CsrFileHeader header = read_csr_header(options.matrix);
  if (options.power > 1 && header.rows != header.cols) {
    throw UsageError("--power needs a square matrix; this one has " + std::to_string(header.rows) +
                     " x " + std::to_string(header.cols));
  }
  return header;
}

/// A rank on a processor, with what it shares in memory, or on a GPU.
std::unique_ptr<SpmmRank> make_rank(const SpmmDistOptions& options, Communicator& communicator,
                                    RankPart part, const SpmmProblem& problem,
                                    const std::optional<GpuPlace>& gpu,
                                    const ranks::PeerArrays& arrays) {
  PlanOptions plan;
  plan.where.threads = options.threads;
  plan.deterministic = options.is_deterministic;
  return gpu ? gpu_rank(options, communicator, *gpu, std::move(part), problem, plan)
             : cpu_rank(options, communicator, std::move(part), problem, plan, arrays);
}

/// What is known of a rank once its products are made.
void note_rank(const SpmmRank& rank, SpmmRankFacts* facts) {
  facts->head = rank.head();
  facts->columns = rank.columns();
  facts->bytes_sent = rank.bytes_sent();
  facts->bytes_received = rank.bytes_received();
  facts->choice = rank.choice();
}

}  // namespace

void run_spmm_dist(const SpmmDistOptions& options, Communicator& communicator) {
  SpmmRankFacts facts;
  choose_places(options, communicator, &facts);
  CsrFileHeader header;
  SpmmProblem problem;
  together(communicator, [&] {
    header = read_header(options);
    problem = problem_of(options, header.value_kind);
  });
  const Index part_number = options.grid.part_of(communicator.rank());
  Exchange exchange;
  if (!facts.gpu) exchange = choose_exchange(options, communicator, header, problem);
  std::unique_ptr<Product> product;
  Losses losses;
  const auto told = telling_together(communicator, [&] {
    const Stopwatch reading;
    RankPart part =
        read_part(options, communicator,
                  exchange.arrays.b != nullptr ? PartColumns::whole : PartColumns::local, &losses);
    facts.read_seconds = reading.seconds();
    const Stopwatch planning;
    std::unique_ptr<SpmmRank> rank =
        make_rank(options, communicator, std::move(part), problem, facts.gpu, exchange.arrays);
    product.reset(
        new Product{options, std::move(rank), SourceOfB(options, header.cols, problem.b)});
    product->read_b();
    facts.plan_seconds = planning.seconds();
    return told_of_lists(part_number, product->rank.part().lists);
  });
  if (options.value_kind) warn_of_losses_together(communicator, options.matrix, losses);
  SpmmRank& rank = product->rank;
  const Stopwatch connecting;
  require_lists_fit(communicator, part_number, rank.part().lists, options.matrix, told);
  rank.connect();
  facts.plan_seconds += connecting.seconds();
  facts.check = first_products(*product, communicator);
  facts.samples = timed_products(*product, communicator);
  if (!options.output.empty()) rank.fetch();

  note_rank(rank, &facts);
  facts.exchange =
      facts.gpu ? SpmmExchange{name_of(facts.gpu->way), facts.gpu->way_choice} : exchange.facts;
  // Told before C gets its name: a rank without memory for that leaves no file.
  const auto records = spmm_records(options, facts, communicator);
  if (!options.output.empty()) write_c(options, communicator, rank, header.rows);
  report_spmm_dist(options, header, rank.kinds(), records, facts, communicator);
  rank.disconnect();
}

}  // namespace csrkit
