// metis-partition: METIS's multilevel k-way partition (Karypis, Kumar, J. Parallel Distrib. Comput.
// 48(1), 1998): parts of about equally many rows with few edges between them. Rows of a part become
// neighbours, in the order they had, by length, or by RCM of the part's own edges, so the rows of B
// that a part needs are mostly its own. It is the call of METIS's own tool, gpmetis, with its
// options: the default seed gives its parts.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/counted.h"
#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/method.h"
#include "preprocess/reorder/metis/metis_call.h"

namespace csrkit::reorder {

namespace {

/// The words of the parameter `inside`: how the rows of a part lie.
enum class InsideParts { keep, degree, rcm };

/// `parts`, or else so many that the rows of B of one part fill the cache. The defaults are 64
/// columns of f32 and 1 MiB, today's share of the L2 cache of a core or a multiprocessor.
Index number_of_parts(Index n, const Parameters& given) {
  if (given.is_set("parts")) {
    if (given.is_given("cache-size")) {
      given.refuse_all("cache-size chooses the number of parts, and parts gives it: leave one out");
    }
    const Index parts = given.index("parts");
    if (parts > std::max(n, Index{1})) {
      given.refuse_all("parts is " + std::to_string(parts) + ", and the matrix has " +
                       counted(n, "row") + "; there can be no more parts than rows");
    }
    return parts;
  }
  const auto row_bytes = static_cast<std::uint64_t>(given.integer("dense-cols")) * sizeof(float);
  const std::uint64_t rows_per_part =
      std::clamp<std::uint64_t>(given.bytes("cache-size") / row_bytes, 1, kMaxIndex);
  return std::max(Index{1}, static_cast<Index>((n - 1) / static_cast<Index>(rows_per_part) + 1));
}

/// Contiguous pieces of the present order: for one part, for a row per part, for rows without
/// edges. METIS takes none of these.
Buffer<Index> contiguous_parts(Index n, Index parts) {
  Buffer<Index> part_of_row(n);
  for (Index row = 0; row < n; ++row) {
    part_of_row[row] = static_cast<Index>(Offset{row} * parts / n);
  }
  return part_of_row;
}

/// The words of the parameter `balance`: what parts have equally many of.
enum class Balance { rows, entries, both };

/// Entries of every row, in numbers whose sum METIS's integers hold, and if `of_each` is 2 the row
/// itself beside them: METIS then balances both sums.
void put_row_weights(const CsrMatrix& matrix, std::int64_t of_each, idx_t* weights) {
  const auto most = static_cast<Offset>(std::numeric_limits<idx_t>::max() / 2);
  const Offset unit = (matrix.nnz() + matrix.rows()) / most + 1;
  for (Index row = 0; row < matrix.rows(); ++row) {
    *weights++ = static_cast<idx_t>(std::max<Offset>(1, matrix.row_length(row) / unit));
    if (of_each == 2) *weights++ = 1;
  }
}

/// The part of every row, in the old order.
Buffer<Index> parts_by_metis(const CsrMatrix& matrix, const MetisJob& job, Index parts,
                             const MethodRequest& request) {
  MetisExchange& exchange = job.exchange();
  exchange.task = MetisTask::partition;
  exchange.parts = parts;
  const auto balance = static_cast<Balance>(request.parameters.choice("balance"));
  if (balance != Balance::rows) {
    exchange.weights_of_each = balance == Balance::both ? 2 : 1;
    put_row_weights(matrix, exchange.weights_of_each, exchange.weights());
  }
  run_metis("METIS_PartGraphKway", job, request);
  const auto n = static_cast<Index>(exchange.vertices);
  const idx_t* const part = exchange.result();
  Buffer<Index> part_of_row(n);
  for (Index row = 0; row < n; ++row) {
    if (part[row] < 0 || part[row] >= parts) {
      throw Error("METIS put row " + std::to_string(row) + " into part " +
                  std::to_string(part[row]) + " of " + std::to_string(parts) +
                  "; try another number of parts or another seed");
    }
    part_of_row[row] = static_cast<Index>(part[row]);
  }
  return part_of_row;
}

/// `rows` sorted by part, stably.
Buffer<Index> gathered(const Buffer<Index>& rows, const Buffer<Index>& part_of_row) {
  Index most = 0;
  for (const Index part : part_of_row) most = std::max(most, part);
  Buffer<Index> next(Offset{most} + 2), old_of_new(rows.size());
  std::fill(next.begin(), next.end(), Index{0});
  for (const Index part : part_of_row) ++next[Offset{part} + 1];
  for (Index part = 0; part < most; ++part) next[part + 1] += next[part];
  for (const Index row : rows) old_of_new[next[part_of_row[row]]++] = row;
  return old_of_new;
}

/// The graph without the edges that leave a part.
Adjacency without_cut(const Adjacency& graph, const Buffer<Index>& part_of_row) {
  Adjacency inner;
  inner.vertices = graph.vertices;
  inner.offsets = Buffer<Offset>(Offset{graph.vertices} + 1);
  inner.neighbours = Buffer<Index>(graph.entries());
  Offset to = inner.offsets[0] = 0;
  for (Index v = 0; v < graph.vertices; ++v) {
    for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const Index u = graph.neighbours[e];
      if (part_of_row[u] == part_of_row[v]) inner.neighbours[to++] = u;
    }
    inner.offsets[v + 1] = to;
  }
  inner.neighbours.truncate(to);
  return inner;
}

/// All rows in the order that they will have inside their parts.
Buffer<Index> order_inside(const CsrMatrix& matrix, const Buffer<Index>& part_of_row,
                           const MethodRequest& request) {
  const auto inside = static_cast<InsideParts>(request.parameters.choice("inside"));
  if (inside == InsideParts::rcm) {
    return rcm_old_of_new(without_cut(build_adjacency(matrix), part_of_row), request.progress);
  }
  if (inside == InsideParts::degree) {
    const Permutation order = make_ordering("degree", matrix).order;
    return Buffer<Index>::copy_of(order.old_of_new(), matrix.rows());
  }
  Buffer<Index> rows(matrix.rows());
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

Buffer<Index> parts_of(const CsrMatrix& matrix, Index parts, const MethodRequest& request) {
  const Index n = matrix.rows();
  if (parts == 1 || parts == n) return contiguous_parts(n, parts);
  const MetisJob job(matrix);
  if (job.exchange().entries == 0) return contiguous_parts(n, parts);
  return parts_by_metis(matrix, job, parts, request);
}

}  // namespace

Ordering metis_partition(const CsrMatrix& matrix, const MethodRequest& request) {
  const Index parts = number_of_parts(matrix.rows(), request.parameters);
  const Buffer<Index> part_of_old = parts_of(matrix, parts, request);
  Buffer<Index> old_of_new = gathered(order_inside(matrix, part_of_old, request), part_of_old);
  Buffer<Index> part_of_new(matrix.rows());
  for (Index row = 0; row < matrix.rows(); ++row) part_of_new[row] = part_of_old[old_of_new[row]];
  return {Permutation::from_old_of_new(std::move(old_of_new)),
          Partition{parts, std::make_shared<Buffer<Index>>(std::move(part_of_new))}};
}

}  // namespace csrkit::reorder
