#include "tools/ranks/spgemm_run.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "api/rooms.h"
#include "core/base/counted.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/base/usable_cpus.h"
#include "core/file/csr_rows.h"
#include "core/judge/compare.h"
#include "core/matrix/overflow.h"
#include "core/matrix/row_parts.h"
#include "cpu/common/kernels.h"
#include "ranks/mpi_ranks.h"
#include "ranks/placement.h"
#include "ranks/spgemm.h"
#include "tools/cli/log.h"
#include "tools/cli/provenance.h"
#include "tools/cli/report.h"
#include "tools/operation/machine.h"
#include "tools/operation/measure.h"
#include "tools/ranks/csr_output.h"
#include "tools/ranks/gpu_seats.h"
#include "tools/ranks/rank_tool.h"

namespace csrkit {

using ranks::Communicator;
using ranks::LocalOperands;

namespace {

constexpr Index kComparedRows = 64;  // of those that came from other ranks

/// What a rank has of the operands.
struct Share {
  CsrFileHeader a_header, b_header;
  std::vector<Index> row_borders, b_borders;  // of rows of A and C; of rows of B
  std::optional<ranks::RowLists> lists;       // of the file, where its parts are the blocks
  Buffer<Offset> b_offsets;                   // of all of B
  Offset products = 0;
  CsrMatrix a, b;
  std::string overflow;               // what --value-kind makes infinite, or ""
  std::optional<CsrMatrix> all_of_b;  // where ranks with GPUs see it; then `b` is empty
};

CsrMatrix converted(const SpgemmDistOptions& options, const CsrMatrix& rows,
                    std::string* overflow) {
  if (!options.value_kind || *options.value_kind == rows.value_kind()) return rows;
  if (overflow->empty()) *overflow = overflow_in(rows, *options.value_kind, options.threads);
  return convert_values(rows, *options.value_kind, options.threads);
}

CsrMatrix read_rows(const SpgemmDistOptions& options, const std::string& path, Index begin,
                    Index end, std::string* overflow) {
  return converted(options, read_csr_rows(path, begin, end, options.io), overflow);
}

std::vector<Offset> products_of(const CsrMatrix& a, const Buffer<Offset>& b_offsets) {
  std::vector<Offset> products;
  for (Index row = 0; row < a.rows(); ++row) {
    Offset sum = 0;
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      const Index k = a.col_indices()[at];
      sum += b_offsets[Offset{k} + 1] - b_offsets[k];
    }
    products.push_back(sum);
  }
  return products;
}

/// Whether the blocks are the parts of A.csr.
bool are_of_file(const SpgemmDistOptions& options, int ranks) {
  if (options.blocks != BlockSource::automatic) return options.blocks == BlockSource::file;
  for (const PartLevel& level : read_rank_heads(options.a)) {
    // Split rows would have to be put together before they are multiplied.
    if (level.parts.size() == static_cast<std::size_t>(ranks)) return !has_pieces(level);
  }
  return false;
}

/// Every rank reads the heads, its own lists and its own rows: no messages.
PartLists read_part_of_file(const SpgemmDistOptions& options, const Communicator& communicator,
                            Share* share) {
  StoredPart part =
      read_stored_part(options.a, communicator.size(), communicator.rank(), options.io);
  for (const PartLevel& level : read_rank_heads(options.a)) {
    if (level.parts.size() != static_cast<std::size_t>(communicator.size())) continue;
    share->row_borders = share->b_borders = {0};
    for (const PartHead& head : level.parts) {
      share->row_borders.push_back(head.row_end);
      share->b_borders.push_back(head.col_end);
    }
  }
  share->lists = ranks::lists_of(part.lists, communicator.size());
  share->a = converted(options, part.rows, &share->overflow);
  return std::move(part.lists);
}

Share read_share(const SpgemmDistOptions& options, Communicator& communicator) {
  Share share;
  std::vector<Offset> products;
  bool is_of_file = false;
  PartLists of_file;
  const auto told = telling_together(communicator, [&] {
    share.a_header = read_csr_header(options.a);
    share.b_header = read_csr_header(options.b);
    if (share.a_header.cols != share.b_header.rows) {
      throw UsageError("'" + options.a + "' has " + counted(share.a_header.cols, "column") +
                       " and '" + options.b + "' " + counted(share.b_header.rows, "row") +
                       "; a product needs as many");
    }
    share.b_offsets = read_row_offsets(options.b);
    if ((is_of_file = are_of_file(options, communicator.size()))) {
      of_file = read_part_of_file(options, communicator, &share);
      return told_of_lists(communicator.rank(), of_file);
    }
    const auto range = ranks::rows_to_count(communicator, share.a_header.rows);
    products =
        products_of(read_csr_rows(options.a, range.begin, range.end, options.io), share.b_offsets);
    return std::string();
  });
  if (is_of_file) {
    require_lists_fit(communicator, communicator.rank(), of_file, options.a, told);
  } else {
    share.row_borders =
        ranks::borders_by_products(communicator, share.a_header.rows, std::move(products));
    share.b_borders =
        balanced_borders(share.b_offsets.data(), share.b_header.rows, communicator.size());
  }
  const auto rank = static_cast<std::size_t>(communicator.rank());
  together(communicator, [&] {
    if (!is_of_file) {
      share.a = read_rows(options, options.a, share.row_borders[rank], share.row_borders[rank + 1],
                          &share.overflow);
    }
    share.b = read_rows(options, options.b, share.b_borders[rank], share.b_borders[rank + 1],
                        &share.overflow);
    for (const Offset one : products_of(share.a, share.b_offsets)) share.products += one;
  });
  if (options.value_kind) warn_of_overflow_together(communicator, share.overflow);
  return share;
}

/// Rows of B come to a GPU from memory that the ranks of a host share, all of them: what they take
/// to be found and put together is more than what they take to be copied. Where a rank's GPU has no
/// room for them, and between hosts, those that are needed travel.
void share_operands(const SpgemmDistOptions& options, Communicator& communicator, int device,
                    Share* share) {
  const std::uint64_t bytes = csr_bytes(
      share->b_header.rows, share->b_offsets[share->b_header.rows], share->b.value_kind());
  bool fits_everywhere = true;
  for (const std::string& fits : telling_together(communicator, [&] {
         const auto info = require_gpu_room("--device gpu").device_info(device);
         return std::string(bytes <= info.free_memory_bytes / 4 ? "yes" : "");
       })) {
    fits_everywhere = fits_everywhere && !fits.empty();
  }
  if (!fits_everywhere) return;
  std::string why_not;
  share->all_of_b =
      ranks::share_b(communicator, share->b, share->b_borders, share->b_offsets, &why_not);
  if (!share->all_of_b) return;
  share->b = {};
  if (communicator.size() == 1 && options.a == options.b) share->a = *share->all_of_b;
}

/// Of a plan on a GPU.
struct OnGpu {
  double upload = 0, product = 0, download = 0;
};

struct Made {
  CsrMatrix c;
  SpgemmProblem problem;
  std::string choice;
  LocalOperands local;
  double seconds = 0;
  OnGpu on_gpu;
};

const SpgemmKernel& kernel_of(const SpgemmDistOptions& options) {
  return find_kernel(options.is_on_gpus ? require_gpu_room("--device gpu").spgemm_kernels()
                                        : cpu::spgemm_kernels(),
                     options.kernel);
}

Made multiply(const SpgemmDistOptions& options, Communicator& communicator, const Share& share,
              int device) {
  Made made;
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
void compare_received_rows(const SpgemmDistOptions& options, const Share& share,
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
    std::string told_before;
    const CsrMatrix expected = read_rows(options, options.b, row, row + 1, &told_before);
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

CheckResult check(const SpgemmDistOptions& options, const Share& share, const Made& made,
                  int rank) {
  compare_received_rows(options, share, made.local, rank);
  CheckResult result = check_spgemm(made.problem, made.c);
  if (!result.passed) {
    throw VerifyError("the product is wrong, rows counted from row " +
                      std::to_string(share.row_borders[static_cast<std::size_t>(rank)]) + ": " +
                      result.failure);
  }
  return result;
}

struct Facts {
  ranks::Place place;
  double read_seconds = 0;
  std::vector<double> samples;
  std::vector<ranks::SpgemmSeconds> phases;
  std::optional<GpuSeat> gpu;
  std::vector<OnGpu> on_gpu;
  std::optional<CheckResult> check;
};

template <class Phases>
double median_of(const std::vector<Phases>& all, double Phases::*phase) {
  Samples samples;
  for (const auto& one : all) samples.seconds.push_back(one.*phase);
  return samples.median_seconds();
}

Json record_of(const Facts& facts, const Share& share, const Made& made, int rank) {
  const auto& traffic = made.local.traffic;
  Json record = {{"rank", rank},
                 {"host", facts.place.host},
                 {"threads", facts.place.threads},
                 {"cpus", ranges_of(facts.place.cpus)},
                 {"rows", share.a.rows()},
                 {"entries", share.a.nnz()},
                 {"products", share.products},
                 {"output_nnz", made.c.nnz()},
                 {"rows_received", traffic.rows_received},
                 {"entries_received", traffic.entries_received},
                 {"bytes_sent", traffic.bytes_sent},
                 {"bytes_received", traffic.bytes_received},
                 {"list_bytes_received", traffic.list_bytes_received},
                 {"choice", made.choice},
                 {"phases",
                  {{"read_seconds", facts.read_seconds},
                   {"ask_seconds", median_of(facts.phases, &ranks::SpgemmSeconds::ask)},
                   {"fetch_seconds", median_of(facts.phases, &ranks::SpgemmSeconds::fetch)},
                   {"multiply_seconds", median_of(facts.phases, &ranks::SpgemmSeconds::multiply)}}},
                 {"samples_seconds", facts.samples}};
  if (facts.gpu) {
    record["gpu"] = {{"device", facts.gpu->device}, {"address", facts.gpu->address}};
    const CsrMatrix &a = made.local.a, &b = made.local.b;
    record["uploaded_bytes"] = a.size_bytes() + (made.problem.b_is_a() ? 0 : b.size_bytes());
    record["downloaded_bytes"] = made.c.size_bytes();
    record["phases"]["upload_seconds"] = median_of(facts.on_gpu, &OnGpu::upload);
    record["phases"]["product_seconds"] = median_of(facts.on_gpu, &OnGpu::product);
    record["phases"]["download_seconds"] = median_of(facts.on_gpu, &OnGpu::download);
  }
  if (facts.check) {
    record["check"] = {{"rows_checked", facts.check->rows_checked},
                       {"worst_error_ratio", facts.check->worst_error_ratio}};
  }
  return record;
}

std::string product_table(const std::vector<Json>& records) {
  std::vector<std::string> headings{"rank",          "host",     "rows", "products", "nnz(C)",
                                    "rows received", "received", "ask",  "fetch",    "multiply"};
  const bool is_on_gpus = records.front().contains("gpu");
  if (is_on_gpus) headings.insert(headings.end(), {"upload", "product", "download"});
  TextTable table(headings);
  for (const Json& record : records) {
    const auto count = [&](const char* name) {
      return with_commas(record[name].get<std::int64_t>());
    };
    const auto seconds = [&](const char* name) {
      return readable_seconds(record["phases"][name].get<double>());
    };
    std::vector<std::string> row{count("rank"),
                                 record["host"].get<std::string>(),
                                 count("rows"),
                                 count("products"),
                                 count("output_nnz"),
                                 count("rows_received"),
                                 readable_bytes(record["bytes_received"].get<double>()),
                                 seconds("ask_seconds"),
                                 seconds("fetch_seconds"),
                                 seconds("multiply_seconds")};
    for (const char* const phase : {"upload_seconds", "product_seconds", "download_seconds"}) {
      if (is_on_gpus) row.push_back(seconds(phase));
    }
    table.add(row);
  }
  return table.text();
}

void report(const SpgemmDistOptions& options, const Share& share,
            const std::vector<std::string>& texts, const Facts& facts, Communicator& communicator) {
  if (communicator.rank() != 0) return;
  std::vector<Json> records;
  Samples slowest;
  std::int64_t products = 0, nnz = 0, total = 0, worst_bytes = 0, rows_checked = 0;
  double worst_error = 0;
  for (const std::string& text : texts) {
    records.push_back(Json::parse(text));
    const Json& record = records.back();
    products += record["products"].get<std::int64_t>();
    nnz += record["output_nnz"].get<std::int64_t>();
    const auto bytes = record["bytes_received"].get<std::int64_t>();
    total += bytes;
    worst_bytes = std::max(worst_bytes, bytes);
    const auto mine = record["samples_seconds"].get<std::vector<double>>();
    slowest.seconds.resize(mine.size(), 0);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      slowest.seconds[i] = std::max(slowest.seconds[i], mine[i]);
    }
    if (!record.contains("check")) continue;
    rows_checked += record["check"]["rows_checked"].get<std::int64_t>();
    worst_error = std::max(worst_error, record["check"]["worst_error_ratio"].get<double>());
  }
  const std::string launcher = ranks::launcher();
  const double median = slowest.median_seconds();
  const double gflops = 2 * static_cast<double>(products) / median / 1e9;
  Report report;
  report.add_json("matrix", options.a);
  report.add_json("second_matrix", options.b);
  report.add_json("command_line", options.command_line);
  report.add_json("kernel", (options.is_on_gpus ? "gpu.spgemm." : "cpu.spgemm.") + options.kernel);
  report.add_json("launcher", launcher.empty() ? "threads" : launcher);
  report.add_json("rows", share.a_header.rows);
  report.add_json("cols", share.b_header.cols);
  report.add("blocks", "blocks", share.lists ? "file" : "products",
             share.lists ? "the parts of " + options.a : "by products");
  const bool is_in_place = share.all_of_b.has_value();
  report.add("exchange", "rows of B",
             is_in_place                ? "in place"
             : communicator.size() == 1 ? "none"
                                        : "messages",
             is_in_place                ? "in place, in memory that all ranks see"
             : communicator.size() == 1 ? "nothing travels"
                                        : "by messages");
  report.add_text(product_table(records));
  report.add("products", "products", products);
  report.add("output_nnz", "nnz(C)", nnz);
  report.add("bytes", "bytes moved", {{"total", total}, {"worst_rank", worst_bytes}},
             readable_bytes(static_cast<double>(total)) + ", " +
                 readable_bytes(static_cast<double>(worst_bytes)) + " to the rank that gets most");
  if (facts.check) {
    report.add("check", "check",
               {{"rows_checked", rows_checked}, {"worst_error_ratio", worst_error}},
               "ok, worst error " + fixed(worst_error, 2) + " of the bound (" +
                   with_commas(rows_checked, "row") + ", some of every rank)");
  } else {
    report.add("check", "check", "not checked");
  }
  report.add_json("samples_seconds", slowest.seconds);
  report.add("median_seconds", "product", median,
             readable_seconds(median) + ", " + fixed(gflops, 2) + " GFLOP/s");
  report.add_json("gflops", gflops);
  if (!options.output.empty()) report.add("output", "output", options.output);
  report.add_json("machine", machine_facts(options.threads));
  report.add_json("ranks", records);
  print(report, options.as_json);
}

}  // namespace

void run_spgemm_dist(const SpgemmDistOptions& options, Communicator& communicator) {
  Facts facts;
  facts.place = ranks::this_place(options.threads);
  const auto places = gather_places(communicator, facts.place);
  if (communicator.rank() == 0) {
    for (const std::string& warning : placement_warnings(places)) log_warning(warning);
  }
  together(communicator, [&] { kernel_of(options); });
  if (options.is_on_gpus) facts.gpu = take_gpu(communicator, places, options.may_share_gpus);
  const int device = facts.gpu ? facts.gpu->device : 0;
  const Stopwatch reading;
  Share share = read_share(options, communicator);
  if (options.is_on_gpus) share_operands(options, communicator, device, &share);
  facts.read_seconds = reading.seconds();

  Made made = multiply(options, communicator, share, device);
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
  const auto texts = communicator.gather(record_of(facts, share, made, communicator.rank()).dump());
  if (!options.output.empty()) {
    ProvenanceStep step;
    step.command_line = options.command_line;
    write_csr_together(communicator, options.output, made.c, share.row_borders,
                       append_step("", step));
  }
  report(options, share, texts, facts, communicator);
}

}  // namespace csrkit
