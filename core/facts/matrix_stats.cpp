#include "core/facts/matrix_stats.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/team.h"
#include "core/matrix/filled_columns.h"

namespace csrkit {

namespace {

/// 0 for 0, else 1 + floor(log2(length)).
std::size_t log2_bin(Offset length) {
  return length == 0 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(length));
}

/// How often each row length occurs: short lengths are counted, long ones listed.
struct LengthCounts {
  static constexpr Offset kCounted = 1 << 14;
  std::vector<Index> rows_of_length = std::vector<Index>(kCounted);
  std::vector<Offset> longer;  // sorted before use

  void add(Offset length) {
    if (length < kCounted) {
      ++rows_of_length[static_cast<std::size_t>(length)];
    } else {
      longer.push_back(length);
    }
  }
  void add(const LengthCounts& more) {
    for (std::size_t i = 0; i < rows_of_length.size(); ++i) {
      rows_of_length[i] += more.rows_of_length[i];
    }
    longer.insert(longer.end(), more.longer.begin(), more.longer.end());
  }

  /// Nearest rank: the smallest length that at least `share` of the rows do not exceed; the
  /// shortest for 0, the longest for 1.
  Offset quantile(double share, Index rows) const {
    const auto rank = std::clamp<Offset>(static_cast<Offset>(std::ceil(share * rows)), 1, rows);
    Offset below = 0;
    for (Offset length = 0; length < kCounted; ++length) {
      below += rows_of_length[static_cast<std::size_t>(length)];
      if (below >= rank) return length;
    }
    return longer[static_cast<std::size_t>(rank - below - 1)];
  }

  /// Rows by log2_bin of their lengths, as far as there are any.
  std::vector<Index> by_log2() const {
    std::vector<Index> bins;
    const auto add_to_bin = [&](Offset length, Index rows) {
      bins.resize(std::max(bins.size(), log2_bin(length) + 1));
      bins[log2_bin(length)] += rows;
    };
    for (Offset length = 0; length < kCounted; ++length) {
      const Index rows = rows_of_length[static_cast<std::size_t>(length)];
      if (rows > 0) add_to_bin(length, rows);
    }
    for (const Offset length : longer) add_to_bin(length, 1);
    return bins;
  }
};

Index first_row_of_length(const CsrMatrix& matrix, Offset length) {
  Index first = matrix.rows();
#pragma omp parallel for schedule(static) reduction(min : first)
  for (Index row = 0; row < matrix.rows(); ++row) {
    if (matrix.row_length(row) == length) first = std::min(first, row);
  }
  return first;
}

/// Empty columns, by marking the ones that are met.
Index count_empty_cols(const CsrMatrix& matrix) {
  if (is_hypersparse(matrix)) {
    return matrix.cols() - static_cast<Index>(filled_columns(matrix).cols.size());
  }
  Buffer<std::uint8_t> is_met(matrix.cols());
  if (matrix.cols() > 0) std::memset(is_met.data(), 0, is_met.size_bytes());
  const Offset nnz = matrix.nnz();
#pragma omp parallel for schedule(static)
  for (Offset at = 0; at < nnz; ++at) {
#pragma omp atomic write
    is_met[matrix.col_indices()[at]] = 1;
  }
  Index empty = 0;
#pragma omp parallel for schedule(static) reduction(+ : empty)
  for (Index col = 0; col < matrix.cols(); ++col) empty += is_met[col] == 0;
  return empty;
}

}  // namespace

RowLengthProfile row_length_profile(const CsrMatrix& matrix) {
  RowLengthProfile profile;
  const Index rows = matrix.rows();
  if (rows == 0) return profile;
  profile.mean = static_cast<double>(matrix.nnz()) / rows;
  LengthCounts counts;
  // Squares are summed per block of rows and then in order, so that the last digits do not depend
  // on the number of threads.
  constexpr Index kBlockRows = 4096;
  const Index blocks = (rows - 1) / kBlockRows + 1;
  std::vector<double> squares(static_cast<std::size_t>(blocks));
#pragma omp parallel
  {
    LengthCounts mine;
#pragma omp for schedule(static)
    for (Index block = 0; block < blocks; ++block) {
      const Index first = block * kBlockRows, last = first + std::min(kBlockRows, rows - first);
      double sum = 0;
      for (Index row = first; row < last; ++row) {
        const Offset length = matrix.row_length(row);
        mine.add(length);
        const double deviation = static_cast<double>(length) - profile.mean;
        sum += deviation * deviation;
      }
      squares[static_cast<std::size_t>(block)] = sum;
    }
#pragma omp critical(csrkit_row_lengths)
    counts.add(mine);
  }
  std::sort(counts.longer.begin(), counts.longer.end());
  profile.standard_deviation =
      std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0) / rows);
  profile.empty_rows = counts.rows_of_length[0];
  profile.shortest = counts.quantile(0, rows);
  profile.p25 = counts.quantile(0.25, rows);
  profile.median = counts.quantile(0.50, rows);
  profile.p75 = counts.quantile(0.75, rows);
  profile.p90 = counts.quantile(0.90, rows);
  profile.p99 = counts.quantile(0.99, rows);
  profile.longest = counts.quantile(1, rows);
  profile.longest_row = first_row_of_length(matrix, profile.longest);
  profile.rows_by_log2 = counts.by_log2();
  return profile;
}

SymmetryProfile symmetry_profile(const CsrMatrix& matrix) {
  SymmetryProfile profile;
  profile.is_square = matrix.rows() == matrix.cols();
  Offset diagonal = 0, mirrored = 0, equal = 0;
  const Index* const cols = matrix.col_indices();
  const Offset* const offsets = matrix.row_offsets();
  const auto value_bytes = static_cast<std::size_t>(size_of(matrix.value_kind()));
  matrix.visit([&](auto a) {
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : diagonal, mirrored, equal)
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
        const Index col = cols[at];
        if (col == row) ++diagonal;
        if (col == row || !profile.is_square) continue;
        const Index* const end = cols + offsets[col + 1];
        const Index* const mirror = std::lower_bound(cols + offsets[col], end, row);
        if (mirror == end || *mirror != row) continue;
        ++mirrored;
        // NaN is its own mirror image: the question is what is stored, so bits are compared, except
        // that the two zeros are one number.
        const Offset there = mirror - cols;
        bool same = value_bytes == 0;
        if constexpr (!std::is_same_v<decltype(a), CsrView<ImplicitOne>>) {
          same = std::memcmp(&a.values[at], &a.values[there], value_bytes) == 0 ||
                 a.template value_as<double>(at) == a.template value_as<double>(there);
        }
        equal += same;
      }
    }
  });
  const Offset off_diagonal = matrix.nnz() - diagonal;
  profile.diagonal_entries = diagonal;
  profile.is_pattern_symmetric = profile.is_square && mirrored == off_diagonal;
  profile.is_value_symmetric = profile.is_pattern_symmetric && equal == off_diagonal;
  if (!profile.is_square) {
    profile.pattern_share = 0;
  } else {
    profile.pattern_share =
        off_diagonal == 0 ? 1 : static_cast<double>(mirrored) / static_cast<double>(off_diagonal);
  }
  return profile;
}

MatrixStats matrix_stats(const CsrMatrix& matrix) {
  return {row_length_profile(matrix), count_empty_cols(matrix), locality_profile(matrix),
          symmetry_profile(matrix)};
}

SpmmCost spmm_cost(const SpmmProblem& problem) {
  const auto nnz = static_cast<double>(problem.a.nnz());
  const double dense_cols = problem.dense_cols;
  const auto a_bytes = static_cast<double>(problem.a.size_bytes());
  const double b_row_bytes = dense_cols * size_of(problem.b);
  const double c_bytes = problem.output_rows() * dense_cols * size_of(problem.c);
  SpmmCost cost;
  cost.flops = 2 * nnz * dense_cols;
  cost.gather_bytes = a_bytes + nnz * b_row_bytes + c_bytes;
  cost.minimum_bytes = a_bytes + problem.input_rows() * b_row_bytes + c_bytes;
  return cost;
}

SpmmCost sddmm_cost(const SddmmProblem& problem) {
  const auto nnz = static_cast<double>(problem.a.nnz());
  const double dense_cols = problem.dense_cols, row_bytes = dense_cols * size_of(problem.x);
  auto a_bytes = static_cast<double>(problem.a.size_bytes());
  if (!problem.multiplies_by_a) a_bytes -= nnz * size_of(problem.a.value_kind());
  const double once = a_bytes + problem.a.rows() * row_bytes + nnz * size_of(problem.c);
  SpmmCost cost;
  cost.flops = 2 * nnz * dense_cols;
  cost.gather_bytes = once + nnz * row_bytes;
  cost.minimum_bytes = once + problem.a.cols() * row_bytes;
  return cost;
}

Offset spgemm_products(const CsrMatrix& a, const Offset* op_b_offsets, Offset* per_row,
                       int threads) {
  const Offset* const offsets = a.row_offsets();
  Offset total = 0;
  const int team = team_for(a.rows() + a.nnz(), threads);
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : total) num_threads(team)
  for (Index row = 0; row < a.rows(); ++row) {
    Offset products = 0;
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      const Index k = a.col_indices()[at];
      products += op_b_offsets[Offset{k} + 1] - op_b_offsets[k];
    }
    if (per_row != nullptr) per_row[row] = products;
    total += products;
  }
  return total;
}

Offset spgemm_output_nnz(const CsrMatrix& a, const CsrMatrix& op_b) {
  const Offset* const offsets = a.row_offsets();
  const Offset* const op_b_offsets = op_b.row_offsets();
  Offset total = 0;
  // For each column the last row that had it, which each thread clears before it begins: more
  // threads than products in a column take longer for that than they save, and any amount of
  // memory. Allocated before the region: an exception inside of it would end the process.
  const Offset products = spgemm_products(a, op_b_offsets, nullptr, 0);
  const auto most = std::min<Offset>(a.rows(), products / std::max<Index>(op_b.cols(), 1));
  const int threads = static_cast<int>(std::clamp<Offset>(most, 1, omp_get_max_threads()));
  std::vector<Buffer<Index>> last_row_of;
  last_row_of.reserve(static_cast<std::size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) last_row_of.emplace_back(op_b.cols());
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    Buffer<Index>& last_row = last_row_of[static_cast<std::size_t>(omp_get_thread_num())];
    std::fill(last_row.begin(), last_row.end(), Index{-1});
#pragma omp for schedule(dynamic, 64)
    for (Index row = 0; row < a.rows(); ++row) {
      for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
        const Index k = a.col_indices()[at];
        for (Offset entry = op_b_offsets[k]; entry < op_b_offsets[k + 1]; ++entry) {
          Index& last = last_row[op_b.col_indices()[entry]];
          total += last != row;
          last = row;
        }
      }
    }
  }
  return total;
}

SpgemmCost spgemm_cost(const SpgemmProblem& problem, Offset products, Offset output_nnz) {
  SpgemmCost cost;
  cost.products = static_cast<double>(products);
  cost.flops = 2 * cost.products;
  cost.minimum_bytes = static_cast<double>(operand_bytes(problem) +
                                           csr_bytes(problem.output_rows(), output_nnz, problem.c));
  cost.compression = output_nnz > 0 ? cost.products / static_cast<double>(output_nnz) : 0;
  return cost;
}

}  // namespace csrkit
