// auto: picks a format. Rules stand in order, the first one that holds decides; nowhere else in
// this room is it said which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    one look at A for the forms of its slices, which conversion needs as well; never the
//          number of threads, which must not change a bit
// Against  choosing by hand: what is measured about the kernels is written down once. The model: a
//          product beyond the caches takes the time of its bytes, x and y being the same for all
//          formats; so the format with the fewest bytes wins, if it saves enough to notice. Where A
//          stays in the caches, a product takes the time of its instructions: there decoding is
//          worth its time for long rows, but for those in f32, and diagonals, which need no
//          gathers, for all. What is left is rows side by side, where they are alike and the
//          machine gathers fast, and CSR in chunks, which has no ends of rows to guess
#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/stopwatch.h"
#include "cpu/common/caches.h"
#include "cpu/spmv/bsr.h"
#include "cpu/spmv/compressed.h"
#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

std::unique_ptr<SpmmMethod> make_csr_balanced(const MethodInput&);
std::unique_ptr<SpmmMethod> make_csr_chunks(const MethodInput&);
std::unique_ptr<SpmmMethod> make_sell(const MethodInput&);

namespace {

/// A matrix that stays in a core's nearest cache is multiplied in a microsecond or two as it is.
constexpr std::uint64_t kSmall = 8 << 10;
/// Fewer bytes must save this part of CSR's to be worth a copy of A.
constexpr double kWorthACopy = 0.1;
/// Rows of fewer entries take longer to decode than to gather, if A stays in the caches; in f32
/// rows of any length do (docs/lab/2026-11-22-spmv-cpu.md).
constexpr Offset kWorthDecoding = 44;
/// Unless so many slices are kept by diagonals.
constexpr double kMostlyDiagonals = 0.5;
/// Blocks must save this part of CSR's bytes if A stays in the caches and its rows are shorter.
constexpr double kWorthBlocks = 0.2;
constexpr Offset kWorthLooseBlocks = 32;
/// Rows side by side, where A stays in the caches: rows that read so many bytes of x, or are as
/// long as the one before; so many of all entries in slices; and rows enough for slices to be
/// shared out.
constexpr Offset kWorthSlices = 64;
constexpr double kMostlySlices = 0.9;
constexpr Index kFewestSlicedRows = 1 << 13;
/// What a thread reads at most, and a machine: assumed, to say when a conversion has paid.
constexpr double kBytesPerSecond = 12e9, kBytesPerSecondOfAll = 200e9;

std::uint64_t bytes_of_csr(const MethodInput& input) {
  const CsrMatrix& a = input.op_a;
  return a.size_bytes();
}

/// "it reads 0.31 of CSR's bytes; made in 12 ms, paid after 40 products at an assumed 24 GB/s"
std::string account(const MethodInput& input, std::uint64_t stored, double seconds) {
  const double bandwidth = std::min(kBytesPerSecond * input.team.threads, kBytesPerSecondOfAll);
  const auto csr = static_cast<double>(bytes_of_csr(input));
  const double saved = (csr - static_cast<double>(stored)) / bandwidth;
  char text[160];
  std::snprintf(text, sizeof text,
                "it reads %.2f of CSR's bytes; made in %.3g ms, paid after %.0f products at an "
                "assumed %.0f GB/s",
                static_cast<double>(stored) / csr, seconds * 1e3, seconds / saved, bandwidth / 1e9);
  return text;
}

bool is_worth_decoding(const CsrMatrix& a) {
  return a.value_kind() != ValueKind::f32 && a.nnz() >= a.rows() * kWorthDecoding;
}

/// Whether rows are long and alike, or all of a length, so that they are worth being summed side by
/// side: seen in a sample of windows of sell. Beside chunks a fifth to a half less time on meshes.
bool are_worth_slices(const MethodInput& input) {
  const CsrMatrix& a = input.op_a;
  if (a.rows() < kFewestSlicedRows) return false;
  constexpr Index kWindow = 128, kMostWindows = 256;
  const Index windows = a.rows() / kWindow;
  const Index step = std::max<Index>(1, windows / kMostWindows);
  Offset sliced = 0, entries = 0, rows = 0, as_before = 0;
  std::array<Offset, kWindow> lengths{};
  for (Index window = 0; window < windows; window += step) {
    for (Index l = 0; l < kWindow; ++l) {
      const Offset length = a.row_length(window * kWindow + l);
      lengths[static_cast<std::size_t>(l)] = length;
      if (l > 0 && length == lengths[static_cast<std::size_t>(l - 1)]) ++as_before;
      entries += length;
      ++rows;
    }
    std::sort(lengths.begin(), lengths.end());
    for (Index l = 0; l < kWindow; l += kSellRows) {
      sliced += kSellRows * lengths[static_cast<std::size_t>(l)];
    }
  }
  const bool has_long_rows = a.nnz() * size_of(input.problem.b) >= kWorthSlices * a.rows();
  return static_cast<double>(sliced) >= kMostlySlices * static_cast<double>(entries) &&
         (has_long_rows ||
          static_cast<double>(as_before) >= kMostlySlices * static_cast<double>(rows));
}

struct Choice {
  std::unique_ptr<SpmmMethod> method;
  const char* kernel;
  std::string because;
};

Choice choose(const MethodInput& input) {
  if (input.problem.semiring != Semiring::plus_times) {
    return {make_csr_balanced(input), "csr_balanced", "of the semiring"};
  }
  const std::uint64_t csr = bytes_of_csr(input);
  if (csr < kSmall) {
    return {make_csr_balanced(input), "csr_balanced", "so small a matrix stays in the caches"};
  }
  if (!input.budget.fits(csr + csr / 8)) {  // at most what a copy in chunks takes
    return {make_csr_balanced(input), "csr_balanced", "the memory limit leaves no room for a copy"};
  }
  const Stopwatch clock;
  const auto worth = static_cast<std::uint64_t>(static_cast<double>(csr) * (1 - kWorthACopy));
  const std::uint64_t blocked = expected_bsr_bytes(input.op_a, find_blocks(input.op_a));
  const bool stays_in_caches = csr < cache_sizes().last_level_bytes / 2;
  const bool is_decoded_fast = !stays_in_caches || is_worth_decoding(input.op_a);
  const double by_diagonals = is_decoded_fast ? 0 : kMostlyDiagonals;
  if (auto compressed = make_compressed_within(input, {std::min(worth, blocked), by_diagonals})) {
    const std::string because = account(input, compressed->stored_bytes(), clock.seconds());
    return {std::move(compressed), "compressed", because};
  }
  const bool are_blocks_fast =
      !stays_in_caches || input.op_a.nnz() >= input.op_a.rows() * kWorthLooseBlocks;
  if (static_cast<double>(blocked) <=
      static_cast<double>(csr) * (1 - (are_blocks_fast ? kWorthACopy : kWorthBlocks))) {
    auto blocks = make_bsr(input);
    const std::string because = account(input, blocks->stored_bytes(), clock.seconds());
    return {std::move(blocks), "bsr", because};
  }
  if (stays_in_caches && chosen_isa() == Isa::avx512 && are_worth_slices(input)) {
    return {make_sell(input), "sell", "the matrix stays in the caches, and its rows are alike"};
  }
  const Stopwatch of_chunks;
  auto chunks = make_csr_chunks(input);
  char because[120];
  std::snprintf(because, sizeof because, "%s; made in %.3g ms",
                stays_in_caches
                    ? "the matrix stays in the caches, and decoding takes longer than its bytes"
                    : "no format saves a tenth of the bytes",
                of_chunks.seconds() * 1e3);
  return {std::move(chunks), "csr_chunks", because};
}

/// A method under the name of the kernel that it is.
class Chosen : public SpmmMethod {
 public:
  explicit Chosen(Choice choice) : choice_(std::move(choice)) {}
  void multiply(const MethodCall& call) override { choice_.method->multiply(call); }
  std::string choice() const override {
    return std::string(choice_.kernel) + " (because " + choice_.because +
           "): " + choice_.method->choice();
  }
  std::string chosen_kernel() const override { return choice_.kernel; }
  std::uint64_t stored_bytes() const override { return choice_.method->stored_bytes(); }

 private:
  Choice choice_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_auto(const MethodInput& input) {
  return std::make_unique<Chosen>(choose(input));
}

}  // namespace csrkit::cpu::spmv
