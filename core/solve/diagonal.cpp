#include "core/solve/diagonal.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/base/lower_to.h"
#include "core/base/team.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

constexpr char kNeeded[] = ": A is not positive definite, and conjugate gradients need that";

/// Calls f(col, value) for the entries of a row, columns ascending.
template <class F>
void for_each_entry(const SolveProblem& problem, Index row, F&& f) {
  if (problem.dense) {
    const ConstDenseView a = problem.dense->view();
    for (Index col = 0; col < a.cols; ++col) f(col, a.at(row, col));
    return;
  }
  problem.a.visit([&](const auto& a) {
    for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
      f(a.col_indices[at], a.template value_as<double>(at));
    }
  });
}

double diagonal_at(const SolveProblem& problem, Index row) {
  if (problem.dense) return problem.dense->view().at(row, row);
  const Index* const begin = problem.a.col_indices() + problem.a.row_offsets()[row];
  const Index* const end = problem.a.col_indices() + problem.a.row_offsets()[row + 1];
  const Index* const at = std::lower_bound(begin, end, row);
  if (at == end || *at != row) return 0;
  return problem.a.visit(
      [&](const auto& a) { return a.template value_as<double>(at - a.col_indices); });
}

/// Replaces a symmetric positive definite matrix by its inverse; false if it is not definite.
/// A = L L^T, then A^-1 = L^-T L^-1 (Golub, Van Loan, Matrix Computations, 4th ed., section 4.2).
bool invert(double* a, Index size) {
  const auto at = [&](Index i, Index j) -> double& { return a[Offset{i} * size + j]; };
  for (Index j = 0; j < size; ++j) {
    for (Index k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
    if (!(at(j, j) > 0) || !std::isfinite(at(j, j))) return false;
    at(j, j) = std::sqrt(at(j, j));
    for (Index i = j + 1; i < size; ++i) {
      for (Index k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) /= at(j, j);
    }
  }
  for (Index j = 0; j < size; ++j) {  // L^-1 in place, column by column
    at(j, j) = 1 / at(j, j);
    for (Index i = j + 1; i < size; ++i) {
      double sum = 0;
      for (Index k = j; k < i; ++k) sum -= at(i, k) * at(k, j);
      at(i, j) = sum / at(i, i);
    }
  }
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = i; k < size; ++k) sum += at(k, i) * at(k, j);
      at(j, i) = sum;  // the upper triangle: the lower one is still read
    }
  }
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < i; ++j) at(i, j) = at(j, i);
  }
  return true;
}

}  // namespace

std::vector<double> inverse_diagonal(const SolveProblem& problem) {
  std::vector<double> inverse(static_cast<std::size_t>(problem.rows()));
  for (Index row = 0; row < problem.rows(); ++row) {
    const double value = diagonal_at(problem, row);
    if (!(value > 0) || !std::isfinite(1 / value)) {
      throw VerifyError("the diagonal element of row " + std::to_string(row) + " is " +
                        rounded(value) +
                        (value > 0 ? ": its reciprocal overflows; scale the system up" : kNeeded));
    }
    inverse[static_cast<std::size_t>(row)] = 1 / value;
  }
  return inverse;
}

double scaled_row_sum_bound(const SolveProblem& problem) {
  double bound = 0;
  for (Index row = 0; row < problem.rows(); ++row) {
    double sum = 0;
    for_each_entry(problem, row, [&](Index, double value) { sum += std::abs(value); });
    bound = std::max(bound, sum / diagonal_at(problem, row));
  }
  return bound;
}

std::uint64_t inverse_blocks_bytes(const RowBlocks& blocks) {
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(blocks.blocks));
  for (const Index block : *blocks.block_of_row) ++sizes[static_cast<std::size_t>(block)];
  std::uint64_t elements = 0;
  for (const std::uint64_t size : sizes) elements += size * size;
  return elements * sizeof(double) +
         static_cast<std::uint64_t>(blocks.block_of_row->size()) * 2 * sizeof(Index) +
         static_cast<std::uint64_t>(sizes.size()) * 2 * sizeof(Offset);
}

InverseBlocks inverse_blocks(const SolveProblem& problem, int threads) {
  const RowBlocks& blocks = problem.preconditioner.blocks;
  const Buffer<Index>& block_of_row = *blocks.block_of_row;
  const auto count = static_cast<std::size_t>(blocks.blocks);
  InverseBlocks result;
  result.row_begins.assign(count + 1, 0);
  for (const Index block : block_of_row) ++result.row_begins[static_cast<std::size_t>(block) + 1];
  result.value_begins.assign(count + 1, 0);
  for (std::size_t block = 0; block < count; ++block) {
    const Offset size = result.row_begins[block + 1];
    result.row_begins[block + 1] += result.row_begins[block];
    result.value_begins[block + 1] = result.value_begins[block] + size * size;
  }
  result.rows.resize(static_cast<std::size_t>(problem.rows()));
  std::vector<Index> place_in_block(result.rows.size());
  std::vector<Offset> next(result.row_begins.begin(), result.row_begins.end() - 1);
  for (Index row = 0; row < problem.rows(); ++row) {
    const auto block = static_cast<std::size_t>(block_of_row[row]);
    place_in_block[static_cast<std::size_t>(row)] =
        static_cast<Index>(next[block] - result.row_begins[block]);
    result.rows[static_cast<std::size_t>(next[block]++)] = row;
  }
  result.values.assign(static_cast<std::size_t>(result.value_begins.back()), 0);

  std::atomic<Index> failed{blocks.blocks};  // the first of them
#pragma omp parallel for schedule(dynamic, 1) num_threads(team_size(threads))
  for (Index block = 0; block < blocks.blocks; ++block) {
    const auto at = static_cast<std::size_t>(block);
    const Index size = result.size_of_block(block);
    double* const values = result.values.data() + result.value_begins[at];
    for (Index i = 0; i < size; ++i) {
      const Index row = result.rows[static_cast<std::size_t>(result.row_begins[at] + i)];
      for_each_entry(problem, row, [&](Index col, double value) {
        if (block_of_row[col] != block) return;
        values[Offset{i} * size + place_in_block[static_cast<std::size_t>(col)]] = value;
      });
    }
    if (!invert(values, size)) lower_to(failed, block);
  }
  if (failed < blocks.blocks) {
    const Index row =
        result.rows[static_cast<std::size_t>(result.row_begins[static_cast<std::size_t>(failed)])];
    throw VerifyError("the diagonal block " + std::to_string(failed) + ", which begins with row " +
                      std::to_string(row) + ", is not positive definite" + kNeeded);
  }
  return result;
}

}  // namespace csrkit
