// auto: picks a format. Rules stand in order, the first one that holds decides; nowhere else in
// this room is it said which kernel is for what.
// Owns     the decision; the work is the chosen kernel's
// Needs    one look at A for the forms of its slices, which conversion needs as well; never the
//          number of threads, which must not change a bit
// Against  choosing by hand: what is measured about the kernels is written down once. The model: a
//          product of a large matrix takes the time of its bytes, x and y being the same for all
//          formats; so the format with the fewest bytes wins, if it saves enough to notice. That of
//          a smaller one takes the time of its instructions. With AVX-512 lanes take fewest of
//          them, but for blocks, and far out for diagonals with few values. Elsewhere, and where
//          AVX-512 gathers are slow, diagonals and blocks win, which need no gathers; short columns
//          do not, as they gather like long ones, unless rows are long, values few and A comes from
//          memory. In f32 lanes by AVX2 win beside slow AVX-512 where rows are short, and without
//          AVX-512 where they have 8 to 31 entries. The rest is CSR in chunks, which has no ends of
//          rows to guess
#include <algorithm>
#include <cstdio>

#include "core/base/stopwatch.h"
#include "cpu/common/caches.h"
#include "cpu/spmv/bsr.h"
#include "cpu/spmv/compressed.h"
#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

std::unique_ptr<SpmmMethod> make_csr_balanced(const MethodInput&);
std::unique_ptr<SpmmMethod> make_csr_lanes(const MethodInput&);
std::unique_ptr<SpmmMethod> make_csr_chunks(const MethodInput&);

namespace {

/// A matrix that stays in a core's nearest cache is multiplied in a microsecond or two as it is.
constexpr std::uint64_t kSmall = 8 << 10;
/// From this size of CSR on a product takes the time of its bytes; below, that of its instructions.
/// It is no size of a cache: as good on 16 cores of a Xeon, whose last level has 300 MB, as on two
/// of an EPYC with 32 MB (docs/lab/2026-11-29-cpu-caches.md).
constexpr std::uint64_t kLarge = 150 << 20;
/// A format with fewer bytes is worth a copy of A if it saves this share of CSR's bytes.
constexpr double kWorthACopy = 0.1;
/// Where A is not large, `compressed` wins with AVX2 if at least this share of its slices
/// are diagonals: more (kOnlyDiagonals) where rows have fewer than kWorthDiagonals entries on
/// average, because many places of their diagonals are empty. Measured on two cores of an EPYC
/// (docs/lab/2026-11-28-seventh-set.md).
constexpr double kMostlyDiagonals = 0.6, kOnlyDiagonals = 0.9;
constexpr Offset kWorthDiagonals = 4;
/// The same with AVX-512.
constexpr double kHalfDiagonals = 0.5;
/// Where A is not large and rows have fewer than kWorthLooseBlocks entries on average,
/// blocks must save this share of CSR's bytes.
constexpr double kWorthBlocks = 0.2;
constexpr Offset kWorthLooseBlocks = 32;
/// Below twice kLarge at least kMostlyInBlocks of the entries must lie in blocks, and rows have at
/// least kWorthBlocksAtAll entries on average. Otherwise rows are gone through twice, and end too
/// often.
constexpr double kMostlyInBlocks = 0.9;
constexpr Offset kWorthBlocksAtAll = 16;
/// Where AVX-512 gathers slowly, lanes by AVX2 win in f32 if CSR has fewer bytes than
/// kSmallForLanes and rows have fewer than kShortForLanes entries on average.
constexpr std::uint64_t kSmallForLanes = 4 << 20;
constexpr Offset kShortForLanes = 40;
/// Where there is AVX2 alone, lanes win in f32 if rows have so many entries on average, or more,
/// but fewer than kLongForLanesOfAvx2. Measured on two cores of an EPYC with 260 matrices
/// (docs/lab/2026-11-30-fourteenth-set.md).
constexpr Offset kShortForLanesOfAvx2 = 8, kLongForLanesOfAvx2 = 32;
/// With AVX-512, where A is not large, two formats beat lanes. Diagonals whose values repeat: they
/// must read less than kFewBytes of CSR's bytes, and CSR have at least kFar. From nearer, CSR's
/// bytes come faster than they are decoded (16 cores of a Xeon: 21 MB take 76 us, decoded 136; 124
/// MB 1043, decoded 770).
constexpr double kFewBytes = 0.3;
constexpr std::uint64_t kFar = 100 << 20;
/// And blocks of at least kLargeBlocks rows that hold kMostlyBlocks of the entries, in rows so long
/// that their ends do not count.
constexpr int kLargeBlocks = 3;
constexpr double kMostlyBlocks = 0.97;
constexpr Offset kWorthBlocksBesideLanes = 32;
/// Without such lanes, `compressed` also wins by so few bytes where CSR has more than kMostOfCache
/// of the last level and rows have at least kLongRow entries on average. Decoding takes two cores
/// of an EPYC 0.3 to 0.4 ns an entry there, twice that with ten entries a row, and CSR's 12 bytes
/// take 0.4 to 0.6 from memory.
constexpr double kMostOfCache = 0.75;
constexpr Offset kLongRow = 64;
/// What a thread, and the machine, are assumed to read at most: to say when a conversion has paid.
constexpr double kBytesPerSecond = 12e9, kBytesPerSecondOfAll = 200e9;

std::uint64_t bytes_of_csr(const MethodInput& input) { return input.op_a.size_bytes(); }

/// On average.
bool has_fewer_a_row(const CsrMatrix& a, Offset entries) { return a.nnz() < a.rows() * entries; }

std::uint64_t part_of(double part, std::uint64_t bytes) {
  return static_cast<std::uint64_t>(part * static_cast<double>(bytes));
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

struct Choice {
  std::unique_ptr<SpmmMethod> method;
  const char* kernel;
  std::string because;
};

Choice in_lanes(const MethodInput& input, const Stopwatch& clock) {
  auto lanes = make_csr_lanes(input);
  char because[120];
  std::snprintf(because, sizeof because,
                "a product takes the time of its instructions; made in %.3g ms",
                clock.seconds() * 1e3);
  return {std::move(lanes), "csr_lanes", because};
}

/// On AVX-512: lanes, but for what has much less to read.
Choice choose_beside_lanes(const MethodInput& input, const BlocksFound& found) {
  const Stopwatch clock;
  const std::uint64_t csr = bytes_of_csr(input);
  if (csr >= kFar) {
    if (auto compressed =
            make_compressed_within(input, {part_of(kFewBytes, csr), kHalfDiagonals})) {
      const std::string because = account(input, compressed->stored_bytes(), clock.seconds());
      return {std::move(compressed), "compressed", because};
    }
  }
  if (found.size >= kLargeBlocks && found.part >= kMostlyBlocks &&
      !has_fewer_a_row(input.op_a, kWorthBlocksBesideLanes)) {
    return {make_bsr(input), "bsr", "nearly all of the matrix is blocks"};
  }
  return in_lanes(input, clock);
}

/// Whether blocks, which would take `blocked` bytes, save enough of CSR's.
bool blocks_pay(const MethodInput& input, const BlocksFound& found, std::uint64_t blocked,
                bool is_large) {
  const std::uint64_t csr = bytes_of_csr(input);
  const bool may_have_blocks =
      csr >= 2 * kLarge ||
      (found.part >= kMostlyInBlocks && !has_fewer_a_row(input.op_a, kWorthBlocksAtAll));
  const bool are_fast = is_large || !has_fewer_a_row(input.op_a, kWorthLooseBlocks);
  return may_have_blocks &&
         static_cast<double>(blocked) <=
             static_cast<double>(csr) * (1 - (are_fast ? kWorthACopy : kWorthBlocks));
}

/// What `compressed` may read, at most `bytes`, to be worth a copy of A.
CompressedLimits limits_of_compressed(const MethodInput& input, std::uint64_t bytes,
                                      bool is_large) {
  CompressedLimits limits = {bytes};
  if (!is_large) {
    limits.least_by_diagonals =
        has_fewer_a_row(input.op_a, kWorthDiagonals) ? kOnlyDiagonals : kMostlyDiagonals;
    limits.most_bytes_of_diagonals = part_of(1 - kWorthACopy, bytes_of_csr(input));
  }
  return limits;
}

/// Whether rows of f32 win in lanes by AVX2, because AVX-512 is not there or gathers slowly.
bool lanes_of_avx2_pay(const MethodInput& input) {
  const std::uint64_t csr = bytes_of_csr(input);
  if (input.problem.b != ValueKind::f32 || !input.budget.fits(3 * csr)) return false;
  if (chosen_isa() == Isa::avx2) {
    return !has_fewer_a_row(input.op_a, kShortForLanesOfAvx2) &&
           has_fewer_a_row(input.op_a, kLongForLanesOfAvx2);
  }
  return chosen_isa() == Isa::avx512 && chosen_isa_for_short_loads() != Isa::avx512 &&
         csr < kSmallForLanes && has_fewer_a_row(input.op_a, kShortForLanes);
}

/// Whether few bytes pay, of whatever form, though A is not large. By one last level, however many
/// the threads have among them: their number must not change a bit.
bool few_bytes_pay(const MethodInput& input) {
  const auto last_level = static_cast<double>(cache_sizes().last_level_bytes);
  return static_cast<double>(bytes_of_csr(input)) > kMostOfCache * last_level &&
         !has_fewer_a_row(input.op_a, kLongRow);
}

Choice in_chunks(const MethodInput& input, bool is_large) {
  const Stopwatch clock;
  auto chunks = make_csr_chunks(input);
  char because[120];
  std::snprintf(because, sizeof because, "%s; made in %.3g ms",
                is_large ? "no format saves a tenth of the bytes"
                         : "decoding takes longer than the bytes that it saves",
                clock.seconds() * 1e3);
  return {std::move(chunks), "csr_chunks", because};
}

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
  const BlocksFound found = find_blocks(input.op_a);
  const bool is_large = csr >= kLarge;
  if (!is_large && chosen_isa_for_short_loads() == Isa::avx512 && input.budget.fits(3 * csr)) {
    return choose_beside_lanes(input, found);
  }
  const std::uint64_t blocked = expected_bsr_bytes(input.op_a, found);
  const bool takes_blocks = blocks_pay(input, found, blocked, is_large);
  const std::uint64_t worth = part_of(1 - kWorthACopy, csr);
  const std::uint64_t most = takes_blocks ? std::min(worth, blocked) : worth;
  std::unique_ptr<SpmmMethod> compressed;
  if (!is_large && few_bytes_pay(input)) {
    compressed = make_compressed_within(input, {std::min(most, part_of(kFewBytes, csr))});
  }
  if (!compressed) {
    compressed = make_compressed_within(input, limits_of_compressed(input, most, is_large));
  }
  if (compressed) {
    const std::string because = account(input, compressed->stored_bytes(), clock.seconds());
    return {std::move(compressed), "compressed", because};
  }
  if (takes_blocks) {
    auto blocks = make_bsr(input);
    const std::string because = account(input, blocks->stored_bytes(), clock.seconds());
    return {std::move(blocks), "bsr", because};
  }
  if (lanes_of_avx2_pay(input)) return in_lanes(input, clock);
  return in_chunks(input, is_large);
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
