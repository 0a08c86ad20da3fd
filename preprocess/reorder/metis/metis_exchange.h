// What libcsrkit and its helper program csrkit-metis hand each other: a file in memory that both
// map. It holds a MetisExchange, then the graph, then room for the result.
#pragma once

#include <metis.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace csrkit::reorder {

/// Changes with MetisExchange: a helper of another build is refused.
inline constexpr std::uint64_t kMetisExchangeForm = 0x6373726b6d657403;

enum class MetisTask : std::int64_t { nested_dissection, partition };

/// Followed by xadj (vertices + 1), adjncy (entries) and the result, all of idx_t: of a nested
/// dissection perm and iperm, of a partition the part of every vertex. Behind the parts of a
/// partition are the weights of the vertices, `weights_of_each` side by side for each of them.
struct MetisExchange {
  std::uint64_t form = kMetisExchangeForm;
  std::int64_t idx_bytes = sizeof(idx_t);
  std::int64_t parent = 0;  // the process that waits; the helper ends with it
  MetisTask task = MetisTask::nested_dissection;
  std::int64_t vertices = 0, entries = 0, parts = 0, seed = 0, weights_of_each = 0;  // 0, 1 or 2
  // By the helper: METIS's status, once it has returned.
  std::atomic<std::int64_t> is_finished{0};
  std::int64_t status = 0;

  idx_t* xadj() { return reinterpret_cast<idx_t*>(this + 1); }
  idx_t* adjncy() { return xadj() + vertices + 1; }
  idx_t* result() { return adjncy() + entries; }
  idx_t* weights() { return result() + vertices; }
  static std::size_t bytes(std::int64_t vertices, std::int64_t entries) {
    return sizeof(MetisExchange) +
           static_cast<std::size_t>(4 * vertices + 1 + entries) * sizeof(idx_t);
  }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(sizeof(MetisExchange) % alignof(idx_t) == 0);

}  // namespace csrkit::reorder
