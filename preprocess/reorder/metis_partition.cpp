// metis-partition: METIS's multilevel k-way partition (Karypis, Kumar, J. Parallel Distrib. Comput.
// 48(1), 1998): parts of about equally many rows with few edges between them. Rows of a part become
// neighbours, in the order they had, so the rows of B that a part needs are mostly its own.
#include <algorithm>
#include <utility>

#include "preprocess/reorder/child_process.h"
#include "preprocess/reorder/metis_call.h"

namespace csrkit::reorder {

namespace {

// The default size of a part: its rows of B, 64 columns of f32, fill 1 MiB, which is what a core's
// or a multiprocessor's share of the L2 cache is on the machines of today.
constexpr Index kRowsPerPart = (1 << 20) / (64 * sizeof(float));

// For few parts recursive bisection cuts about as well, which is why METIS's manual advises it, and
// its parts are even to 0.1 % where those of the k-way method are to 3 %.
constexpr Index kBisectUpTo = 8;

/// Contiguous pieces of the order there is: for one part, for a row per part, for rows without
/// edges. METIS takes none of these.
Ordering contiguous_parts(Index n, Index parts) {
  Buffer<Index> part_of_row(n);
  const Offset filled = std::min(n, parts);
  for (Index row = 0; row < n; ++row) part_of_row[row] = static_cast<Index>(row * filled / n);
  return {Permutation::identity(n),
          Partition{parts, std::make_shared<Buffer<Index>>(std::move(part_of_row))}};
}

/// The part of every row, in the old order.
Buffer<Index> parts_by_metis(MetisGraph& input, Index parts, const ReorderOptions& options) {
  const Index n = input.graph.vertices;
  const SharedMemory result((static_cast<std::size_t>(n) + 1) * sizeof(idx_t));
  idx_t* part = result.as<idx_t>();
  idx_t* edge_cut = part + n;
  MetisOptions metis = metis_options(options.seed);
  idx_t vertices = input.vertices(), constraints = 1, part_count = parts;
  const bool bisect = parts <= kBisectUpTo;
  run_metis(
      bisect ? "METIS_PartGraphRecursive" : "METIS_PartGraphKway",
      [&] {
        return (bisect ? METIS_PartGraphRecursive : METIS_PartGraphKway)(
            &vertices, &constraints, input.xadj_pointer(), input.adjncy_pointer(), nullptr, nullptr,
            nullptr, &part_count, nullptr, nullptr, metis.data(), edge_cut, part);
      },
      options.progress);
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

/// Rows sorted by part, stably.
Ordering gather_parts(const Buffer<Index>& part_of_old, Index parts) {
  const Index n = static_cast<Index>(part_of_old.size());
  Buffer<Index> new_of_old(n), part_of_new(n);
  Buffer<Index> next(Offset{parts} + 1);
  std::fill(next.begin(), next.end(), Index{0});
  for (const Index part : part_of_old) ++next[part + 1];
  for (Index part = 0; part < parts; ++part) next[part + 1] += next[part];
  for (Index row = 0; row < n; ++row) {
    const Index to = next[part_of_old[row]]++;
    new_of_old[row] = to;
    part_of_new[to] = part_of_old[row];
  }
  return {Permutation::from_new_of_old(std::move(new_of_old)),
          Partition{parts, std::make_shared<Buffer<Index>>(std::move(part_of_new))}};
}

}  // namespace

Ordering metis_partition(const CsrMatrix& matrix, const ReorderOptions& options) {
  const Index n = matrix.rows();
  const Index parts =
      options.parts > 0 ? options.parts : std::max(Index{1}, (n - 1) / kRowsPerPart + 1);
  if (parts == 1 || n <= parts) return contiguous_parts(n, parts);
  MetisGraph input = make_metis_graph(matrix);
  if (input.graph.entries() == 0) return contiguous_parts(n, parts);
  return gather_parts(parts_by_metis(input, parts, options), parts);
}

}  // namespace csrkit::reorder
