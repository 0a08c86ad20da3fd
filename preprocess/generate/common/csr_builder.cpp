#include "preprocess/generate/common/csr_builder.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/available_memory.h"
#include "core/base/hash.h"
#include "core/base/team_errors.h"
#include "core/matrix/merged_rows.h"

namespace csrkit {

namespace {

/// A different word for every pair, because mix64 is a bijection: no two edges tie.
std::uint64_t rank_of_edge(std::uint64_t salt, Index i, Index j) {
  const auto low = static_cast<std::uint64_t>(std::min(i, j));
  const auto high = static_cast<std::uint64_t>(std::max(i, j));
  return mix64(salt ^ (low << 32 | high));
}

/// The rank below which exactly `wanted` of the edges lie: a histogram of the leading bits finds
/// the bucket, then only that bucket is sorted.
std::uint64_t rank_limit(const CsrMatrix& a, const CsrMatrix& b, std::uint64_t salt,
                         Offset wanted) {
  constexpr int kBits = 16;
  const Index n = a.rows();
  std::vector<Offset> bucket(std::size_t{1} << kBits, 0);
  TeamErrors errors;
#pragma omp parallel
  {
    std::vector<Offset> mine;
    errors.guard([&] { mine.assign(bucket.size(), 0); });
#pragma omp for schedule(dynamic, 512)
    for (Index row = 0; row < n; ++row) {
      if (mine.empty()) continue;
      for_each_neighbour(a, b, row, [&](Index col) {
        if (row < col) ++mine[rank_of_edge(salt, row, col) >> (64 - kBits)];
      });
    }
#pragma omp critical
    for (std::size_t i = 0; i < mine.size(); ++i) bucket[i] += mine[i];
  }
  errors.rethrow();
  std::size_t at = 0;
  Offset before = 0;
  while (before + bucket[at] <= wanted) before += bucket[at++];
  std::vector<std::uint64_t> ranks;
#pragma omp parallel for schedule(dynamic, 512)
  for (Index row = 0; row < n; ++row) {
    for_each_neighbour(a, b, row, [&](Index col) {
      const std::uint64_t rank = row < col ? rank_of_edge(salt, row, col) : 0;
      if (row < col && rank >> (64 - kBits) == at) {
#pragma omp critical
        errors.guard([&] { ranks.push_back(rank); });
      }
    });
  }
  errors.rethrow();
  std::nth_element(ranks.begin(), ranks.begin() + (wanted - before), ranks.end());
  return ranks[static_cast<std::size_t>(wanted - before)];
}

}  // namespace

void require_room(Offset rows, Offset entries, int entry_bytes) {
  const double bytes = static_cast<double>(rows) * sizeof(Offset) +
                       static_cast<double>(entries) * static_cast<double>(entry_bytes);
  require_available_memory(static_cast<std::uint64_t>(std::min(bytes, 0x1p63)), "the matrix",
                           "ask for a smaller one");
}

Buffer<Offset> offsets_of(const Buffer<Index>& lengths) {
  require_room(lengths.size(), 0, 0);
  Buffer<Offset> offsets(lengths.size() + 1);
  offsets[0] = 0;
  for (Offset i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i];
  require_room(0, offsets[lengths.size()], sizeof(Index));
  return offsets;
}

Buffer<Index> random_order(Index size, std::uint64_t seed) {
  Buffer<Index> order(size);
  RandomStream random(seed);
  for (Index i = 0; i < size; ++i) {  // Fisher-Yates, filling as it goes
    const auto j = static_cast<Index>(random.below(static_cast<std::uint64_t>(i) + 1));
    if (j != i) order[i] = order[j];
    order[j] = i;
  }
  return order;
}

CsrMatrix finish_matrix(Index rows, Index cols, Buffer<Offset> row_offsets,
                        Buffer<Index> col_indices, const PatternRequest& request, ValueRule rule) {
  require_room(0, col_indices.size(), size_of(request.value_kind));
  ValueArray values(request.value_kind, col_indices.size());
  with_value_type(request.value_kind, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<Value, ImplicitOne>) {
      Value* out = values.as<Value>();
#pragma omp parallel for schedule(dynamic, 512)
      for (Index row = 0; row < rows; ++row) {
        double magnitudes = 0;
        Offset diagonal = -1;
        for (Offset at = row_offsets[row]; at < row_offsets[row + 1]; ++at) {
          const Index col = col_indices[at];
          const bool mirrored = rule != ValueRule::independent && col < row;
          const double value = mirrored ? random_value(request.seed, col, row)
                                        : random_value(request.seed, row, col);
          out[at] = store_as<Value>(value);
          if (col == row) {
            diagonal = at;
          } else {
            magnitudes += std::fabs(value);
          }
        }
        if (rule == ValueRule::symmetric_dominant && diagonal >= 0) {
          out[diagonal] = store_as<Value>(1 + magnitudes);
        }
      }
    }
  });
  return CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices), std::move(values));
}

CsrPattern symmetric_pattern(const CsrMatrix& drawn, Offset edges, bool add_diagonal,
                             std::uint64_t seed, Offset* found) {
  const Index n = drawn.rows();
  require_room(n, drawn.nnz(), sizeof(Index));
  const CsrMatrix mirror = transpose(drawn);
  Offset present = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : present)
  for (Index row = 0; row < n; ++row) {
    for_each_neighbour(drawn, mirror, row, [&](Index col) { present += row < col; });
  }
  *found = present;
  if (present < edges) return {};

  const std::uint64_t salt = mix64(seed);
  const bool thin = edges >= 0 && edges < present;
  const std::uint64_t limit = thin ? rank_limit(drawn, mirror, salt, edges) : 0;
  const auto is_kept = [&](Index row, Index col) {
    return !thin || rank_of_edge(salt, row, col) < limit;
  };

  Buffer<Index> lengths(n);
#pragma omp parallel for schedule(dynamic, 512)
  for (Index row = 0; row < n; ++row) {
    Index length = add_diagonal ? 1 : 0;
    for_each_neighbour(drawn, mirror, row, [&](Index col) { length += is_kept(row, col); });
    lengths[row] = length;
  }
  CsrPattern pattern{offsets_of(lengths), {}};
  pattern.col_indices = Buffer<Index>(pattern.row_offsets[n]);
#pragma omp parallel for schedule(dynamic, 512)
  for (Index row = 0; row < n; ++row) {
    Index* out = pattern.col_indices.data() + pattern.row_offsets[row];
    bool diagonal_due = add_diagonal;
    for_each_neighbour(drawn, mirror, row, [&](Index col) {
      if (diagonal_due && col > row) {
        *out++ = row;
        diagonal_due = false;
      }
      if (is_kept(row, col)) *out++ = col;
    });
    if (diagonal_due) *out++ = row;
  }
  return pattern;
}

}  // namespace csrkit
