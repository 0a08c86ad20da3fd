#include "gpu/spmm/few_columns.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "gpu/device/device_info.h"
#include "gpu/spmm/profile.h"

namespace csrkit::gpu {

namespace {

/// What is known of a diagonal from some of its entries.
struct Diagonal {
  Offset col_minus_row = 0;
  const std::byte* first = nullptr;  // value seen
  bool is_constant = true;

  void see(const CsrMatrix& a, Offset at) {
    if (a.values() == nullptr) return;
    const auto bytes = static_cast<std::size_t>(size_of(a.value_kind()));
    const auto* value = static_cast<const std::byte*>(a.values()) + at * static_cast<Offset>(bytes);
    if (first == nullptr) first = value;
    is_constant = is_constant && std::memcmp(first, value, bytes) == 0;
  }
};

constexpr int kMostDiagonals = 64, kMostOfLarge = 100;

/// The diagonals of sampled rows, in ascending order. A row's columns ascend too, so the diagonal
/// of the next entry is at the next place or soon after it.
struct DiagonalSample {
  std::array<Diagonal, kMostOfLarge> diagonals;
  int count = 0;
  Offset entries = 0;

  /// Returns false if there are more than `most` diagonals.
  bool add_row(const CsrMatrix& a, Offset row, int most) {
    int place = 0;
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      const Offset own = a.col_indices()[at] - row;
      while (place < count && diagonals[place].col_minus_row < own) ++place;
      if (place == count || diagonals[place].col_minus_row != own) {
        if (count == most) return false;
        std::move_backward(diagonals.begin() + place, diagonals.begin() + count,
                           diagonals.begin() + count + 1);
        diagonals[place] = {own};
        ++count;
      }
      diagonals[place].see(a, at);
      ++entries;
    }
    return true;
  }
};

}  // namespace

bool segments_pay(const SpmmProblem& problem) {
  constexpr Index kMostColumns = 4;
  constexpr Offset kFewEntries = 100'000, kShortMean = 8, kLongMean = 20;
  const Index dense_cols = problem.dense_cols;
  const Offset nnz = problem.a.nnz(), rows = problem.output_rows();
  const bool is_wide = problem.b == ValueKind::f64;
  if (dense_cols > kMostColumns || nnz == 0 || problem.semiring != Semiring::plus_times ||
      problem.c != problem.b || (problem.b != ValueKind::f32 && !is_wide) ||
      has_narrow_operands(problem)) {
    return false;
  }
  if (dense_cols <= 2) return true;
  // A lane's four sums and factors in f64 take so many registers that few warps are left.
  if (is_wide && dense_cols == kMostColumns) return nnz >= kLongMean * rows;
  return nnz >= kFewEntries || nnz >= kShortMean * rows;
}

bool stencil_pays(const SpmmProblem& problem) {
  constexpr Index kMostColumns = 8, kFewColumns = 4;
  constexpr Index kWork = 640, kWorkInF64 = 160;  // columns^2, in f64 columns, times diagonals
  constexpr Index kWorkOfLargeInF64 = 224;
  constexpr Offset kSample = 512, kTogether = 4;
  const Index dense_cols = problem.dense_cols;
  if (dense_cols < 1 || dense_cols > kMostColumns || problem.a.nnz() == 0) return false;
  if (!rows_are_on_host(problem) || has_narrow_operands(problem)) return false;
  // If A as CSR fills more than half of L2, not reading it saves more.
  const int b_bytes = size_of(problem.b);
  const double csr_bytes = static_cast<double>(problem.a.nnz()) * (4 + b_bytes);
  const bool is_large = csr_bytes > static_cast<double>(current_l2_bytes()) / 2;
  const Index in_any_kind = std::min(kMostDiagonals, kWork / (dense_cols * dense_cols));
  Index most = in_any_kind;
  if (b_bytes == 8) {
    most = std::max(most, std::min(kMostDiagonals, kWorkInF64 / dense_cols));
    if (is_large) most = std::max(most, std::min(kMostDiagonals, kWorkOfLargeInF64 / dense_cols));
  }
  if (is_large && b_bytes > 2 && dense_cols <= kFewColumns) most = kMostOfLarge;
  const CsrMatrix& a = problem.a;
  const Offset sample = std::min<Offset>(kSample, a.rows());
  DiagonalSample seen;
  // kTogether neighbouring rows at a time: they lie in one page of memory.
  const Offset together = a.rows() < kSample ? 1 : kTogether, stretches = sample / together;
  for (Offset i = 0; i < sample; ++i) {
    const Offset row = i / together * a.rows() / stretches + i % together;
    if (!seen.add_row(a, row, most)) return false;
  }
  // The other kernel is jagged, which reads stored entries only, and once for all columns.
  if (segments_pay(problem)) {
    constexpr Index kFewDiagonals = 5;
    if (8 * seen.entries < 7 * sample * seen.count) return false;
    if (dense_cols == kFewColumns && b_bytes == 4 && !is_large && seen.count > kFewDiagonals) {
      return false;
    }
  }
  // A stencil waits for memory once for every four diagonals, or eight constant ones. With few
  // entries that takes longer than all of row_bins (microseconds on an H100,
  // docs/lab/2026-11-26-spmm-last-cliffs.md).
  constexpr double kDiagonal = 0.08, kStart = 0.6, kEntry = 11e-6;
  const auto constant = std::count_if(seen.diagonals.begin(), seen.diagonals.begin() + seen.count,
                                      [](const Diagonal& each) { return each.is_constant; });
  const double waits = kDiagonal * (seen.count - static_cast<double>(constant) / 2);
  if (waits > kStart + kEntry * static_cast<double>(a.nnz())) return false;
  // A gap in a diagonal costs a product and, if values are stored, 4 or 8 bytes; more so with more
  // columns and diagonals.
  Offset least_eighths = dense_cols <= 2 ? 3 : 4;
  if (seen.count > in_any_kind) {
    least_eighths = dense_cols <= kFewColumns ? 5 : 6;
  }
  return 8 * seen.entries >= least_eighths * sample * seen.count;
}

}  // namespace csrkit::gpu
