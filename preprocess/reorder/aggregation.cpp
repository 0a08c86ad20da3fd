// Groups by modularity, in rounds. A round goes through the vertices in kBatches batches: all of a
// batch decide on the state before it, in parallel, then all of them move. So the result does not
// depend on the number of threads, and hardly differs from that of one vertex after another, which
// is what the method was published as (Blondel, Guillaume, Lambiotte, Lefebvre, J. Stat. Mech.
// P10008, 2008). Vertices whose neighbourhood did not change since they decided are left out.
#include "preprocess/reorder/aggregation.h"

#include <algorithm>
#include <vector>

namespace csrkit::reorder {

namespace {

// Neighbours that decide in one batch do not see each other: few enough batches to keep threads
// busy, enough to keep such neighbours rare.
constexpr Index kBatches = 16;
constexpr Index kBatchRun =
    16;  // vertices in a row that share a batch, for the sake of cache lines

constexpr int kMaxRounds = 8;
// A round that moves at most one in this many of the vertices is the last.
constexpr Index kSettledShare = 8;

// Below this many vertices, threads wait for each other longer than a batch takes.
constexpr Index kWorthThreads = 1 << 15;

/// Sums by group in the order in which groups are first met; open addressing.
class GroupSums {
 public:
  void start(Offset most) {
    int bits = 4;
    while ((Offset{1} << bits) < 2 * most) ++bits;
    const std::size_t size = std::size_t{1} << bits;
    if (size > slots_.size()) slots_.assign(size, Slot{-1, 0});
    shift_ = 32 - bits;
    mask_ = static_cast<std::uint32_t>(size - 1);
  }
  void add(Index group, Offset weight) {
    std::uint32_t at = static_cast<std::uint32_t>(group) * 2654435769u >> shift_;
    while (slots_[at].group != group) {
      if (slots_[at].group < 0) {
        slots_[at] = {group, 0};
        used_.push_back(at);
        break;
      }
      at = (at + 1) & mask_;
    }
    slots_[at].weight += weight;
  }
  Offset weight_of(Index group) const {
    std::uint32_t at = static_cast<std::uint32_t>(group) * 2654435769u >> shift_;
    while (slots_[at].group != group) {
      if (slots_[at].group < 0) return 0;
      at = (at + 1) & mask_;
    }
    return slots_[at].weight;
  }
  template <class Take>
  void drain(Take&& take) {
    for (const std::uint32_t at : used_) {
      take(slots_[at].group, slots_[at].weight);
      slots_[at].group = -1;
    }
    used_.clear();
  }

 private:
  struct Slot {
    Index group;
    Offset weight;
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> used_;
  int shift_ = 0;
  std::uint32_t mask_ = 0;
};

/// The groups of a vertex's neighbours lie anywhere in memory: asked for early, they arrive
/// together, and not one after the other.
void fetch_around(const WeightedGraph& graph, const Buffer<Index>& group, Index v) {
  for (Offset at = graph.offsets[v]; at < graph.offsets[v + 1]; ++at) {
    __builtin_prefetch(&group[graph.neighbours[at]]);
  }
}

class Mover {
 public:
  explicit Mover(const WeightedGraph& graph)
      : graph_(graph),
        group_(graph.vertices),
        volume_(Buffer<Offset>::copy_of(graph.volume.data(), graph.vertices)),
        is_due_(graph.vertices) {
#pragma omp parallel for if (graph.vertices > kWorthThreads)
    for (Index v = 0; v < graph.vertices; ++v) {
      group_[v] = v;
      is_due_[v] = graph.offsets[v] < graph.offsets[v + 1];
    }
  }

  Buffer<Index> groups() {
    for (int round = 0; round < kMaxRounds; ++round) {
      if (move_all(round == 0) <= graph_.vertices / kSettledShare) break;
    }
    return std::move(group_);
  }

 private:
  /// In the first round nearly everything moves, so everybody stays due: nobody need be woken.
  Index move_all(bool is_first) {
    // Runs of kBatchRun vertices are dealt out to the batches in turn.
    constexpr Offset kStride = Offset{kBatches} * kBatchRun;
    const Offset runs = (Offset{graph_.vertices} + kStride - 1) / kStride;
    Index moved = 0;
#pragma omp parallel reduction(+ : moved) if (graph_.vertices > kWorthThreads)
    {
      GroupSums sums;
      std::vector<std::pair<Index, Index>> moves;  // vertex, new group
      for (Offset batch = 0; batch < kBatches; ++batch) {
        moves.clear();
#pragma omp for schedule(dynamic, 16)
        for (Offset run = 0; run < runs; ++run) {
          const Offset begin = run * kStride + batch * kBatchRun;
          const Offset end = std::min<Offset>(graph_.vertices, begin + kBatchRun);
          for (Offset at = begin; at < end; ++at) {
            const auto v = static_cast<Index>(at);
            if (is_due_[v] == 0) continue;
            is_due_[v] = is_first;
            if (at + 1 < end) {
              fetch_around(graph_, group_, v + 1);
              __builtin_prefetch(&volume_[group_[v + 1]]);
            }
            const Index best = best_group(v, sums);
            if (best != group_[v]) moves.emplace_back(v, best);
          }
        }
        for (const auto& [v, to] : moves) {
#pragma omp atomic
          volume_[group_[v]] -= graph_.volume[v];
#pragma omp atomic
          volume_[to] += graph_.volume[v];
          group_[v] = to;
        }
#pragma omp barrier
        moved += static_cast<Index>(moves.size());
        if (is_first) moves.clear();
        for (const auto& [v, to] : moves) {
          for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
            const Index neighbour = graph_.neighbours[e];
            if (group_[neighbour] == to) continue;
#pragma omp atomic write
            is_due_[neighbour] = 1;
          }
        }
#pragma omp barrier
      }
    }
    return moved;
  }

  Index best_group(Index v, GroupSums& sums) const {
    const Offset begin = graph_.offsets[v], end = graph_.offsets[v + 1];
    sums.start(end - begin);
    for (Offset at = begin; at < end; ++at) {
      const Index group = group_[graph_.neighbours[at]];
      __builtin_prefetch(&volume_[group]);
      sums.add(group, graph_.weight(at));
    }
    const Index own = group_[v];
    const auto own_volume = static_cast<double>(graph_.volume[v]);
    const double scale = own_volume / static_cast<double>(graph_.total);
    double best_gain = static_cast<double>(sums.weight_of(own)) -
                       scale * (static_cast<double>(volume_[own]) - own_volume);
    Index best = own;
    sums.drain([&](Index group, Offset weight) {
      // Volumes lie anywhere, too, and most groups need not be asked for theirs.
      if (static_cast<double>(weight) <= best_gain || group == own) return;
      const double gain = static_cast<double>(weight) - scale * static_cast<double>(volume_[group]);
      if (gain > best_gain) {
        best_gain = gain;
        best = group;
      }
    });
    return best;
  }

  const WeightedGraph& graph_;
  Buffer<Index> group_;
  Buffer<Offset> volume_;
  Buffer<std::uint8_t> is_due_;
};

/// Numbers the groups by their first members.
Groups numbered(Buffer<Index> of_vertex) {
  const Offset n = of_vertex.size();
  Buffer<Index> number(n);
  std::fill(number.begin(), number.end(), Index{-1});
  Index count = 0;
  for (Index& group : of_vertex) {
    if (number[group] < 0) number[group] = count++;
    group = number[group];
  }
  return {count, std::move(of_vertex)};
}

}  // namespace

WeightedGraph weighted(Adjacency graph) {
  WeightedGraph result;
  result.vertices = graph.vertices;
  result.volume = Buffer<Offset>(graph.vertices);
#pragma omp parallel for if (graph.vertices > kWorthThreads)
  for (Index v = 0; v < graph.vertices; ++v) {
    result.volume[v] = static_cast<Offset>(graph.offsets[v + 1] - graph.offsets[v]);
  }
  result.total = static_cast<Offset>(graph.entries());
  result.offsets = std::move(graph.offsets);
  result.neighbours = std::move(graph.neighbours);
  return result;
}

Groups find_groups(const WeightedGraph& graph) { return numbered(Mover(graph).groups()); }

Members members_of(const Groups& groups) {
  const Offset n = groups.of_vertex.size();
  Members members{Buffer<Index>(Offset{groups.count} + 1), Buffer<Index>(n)};
  std::fill(members.begin.begin(), members.begin.end(), Index{0});
  for (const Index group : groups.of_vertex) ++members.begin[group + 1];
  for (Index g = 0; g < groups.count; ++g) members.begin[g + 1] += members.begin[g];
  Buffer<Index> next = Buffer<Index>::copy_of(members.begin.data(), groups.count);
  for (Offset v = 0; v < n; ++v) {
    members.vertex[next[groups.of_vertex[v]]++] = static_cast<Index>(v);
  }
  return members;
}

WeightedGraph merge_groups(const WeightedGraph& graph, const Groups& groups,
                           const Members& members) {
  constexpr Index kBlock = 256;  // merged vertices whose edges are collected together
  struct Edge {
    Index to;
    std::uint32_t weight;
  };
  const Index blocks = (groups.count + kBlock - 1) / kBlock;
  std::vector<std::vector<Edge>> edges(static_cast<std::size_t>(blocks));
  WeightedGraph merged;
  merged.vertices = groups.count;
  merged.total = graph.total;
  merged.offsets = Buffer<Offset>(Offset{groups.count} + 1);
  merged.volume = Buffer<Offset>(groups.count);
  merged.offsets[0] = 0;
#pragma omp parallel if (graph.vertices > kWorthThreads)
  {
    GroupSums sums;
#pragma omp for schedule(dynamic, 1)
    for (Index block = 0; block < blocks; ++block) {
      std::vector<Edge>& out = edges[static_cast<std::size_t>(block)];
      const Index end = std::min(groups.count, (block + 1) * kBlock);
      for (Index g = block * kBlock; g < end; ++g) {
        Offset most = 0;
        Offset volume = 0;
        for (Index m = members.begin[g]; m < members.begin[g + 1]; ++m) {
          const Index v = members.vertex[m];
          most += graph.offsets[v + 1] - graph.offsets[v];
          volume += graph.volume[v];
        }
        sums.start(std::min<Offset>(most, groups.count));
        for (Index m = members.begin[g]; m < members.begin[g + 1]; ++m) {
          const Index v = members.vertex[m];
          // Members lie anywhere in memory, and so do their neighbours' groups.
          if (m + 2 < members.begin[g + 1]) {
            __builtin_prefetch(&graph.neighbours[graph.offsets[members.vertex[m + 2]]]);
          }
          if (m + 1 < members.begin[g + 1])
            fetch_around(graph, groups.of_vertex, members.vertex[m + 1]);
          for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
            sums.add(groups.of_vertex[graph.neighbours[e]], graph.weight(e));
          }
        }
        const std::size_t before = out.size();
        sums.drain([&](Index to, Offset weight) {
          constexpr Offset kHeaviest = ~std::uint32_t{0};
          if (to != g) out.push_back({to, static_cast<std::uint32_t>(std::min(weight, kHeaviest))});
        });
        merged.offsets[g + 1] = static_cast<Offset>(out.size() - before);
        merged.volume[g] = volume;
      }
    }
  }
  for (Index g = 0; g < groups.count; ++g) merged.offsets[g + 1] += merged.offsets[g];
  merged.neighbours = Buffer<Index>(merged.offsets[groups.count]);
  merged.weights = Buffer<std::uint32_t>(merged.offsets[groups.count]);
#pragma omp parallel for schedule(dynamic, 1) if (graph.vertices > kWorthThreads)
  for (Index block = 0; block < blocks; ++block) {
    std::vector<Edge>& from = edges[static_cast<std::size_t>(block)];
    Offset to = merged.offsets[block * kBlock];
    for (const Edge& edge : from) {
      merged.neighbours[to] = edge.to;
      merged.weights[to++] = edge.weight;
    }
    std::vector<Edge>().swap(from);
  }
  return merged;
}

}  // namespace csrkit::reorder
