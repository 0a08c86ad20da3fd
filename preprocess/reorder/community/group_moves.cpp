// Groups by modularity, in rounds (Blondel, Guillaume, Lambiotte, Lefebvre, J. Stat. Mech. P10008,
// 2008). A round goes through the vertices in kBatches batches of runs. The runs of a batch decide
// in parallel, on the state before the batch; then all move. Inside a run, which one thread has,
// vertices decide one after the other, and each sees where those before it go: neighbours in a mesh
// or a small graph are often neighbours in their numbers, and would change places for ever. So the
// result does not depend on the number of threads, and it hardly differs from the published method,
// which moves one vertex after another. Vertices whose neighbourhood did not change since they
// decided are skipped.
//
// Most of the time goes into random reads: the groups of neighbours, and the volumes of those
// groups. A run of vertices is prefetched while the run before it decides, and inside a run what
// few neighbours need is read for all vertices before the first decides.
#include <algorithm>
#include <bitset>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/fetch.h"
#include "core/base/huge_pages.h"
#include "core/base/team_errors.h"
#include "preprocess/reorder/community/aggregation.h"
#include "preprocess/reorder/community/group_sums.h"

namespace csrkit::reorder {

namespace {

// Neighbours in two runs of one batch do not see each other's move. More batches make such pairs
// rarer; fewer keep threads busier.
constexpr Index kBatches = 16;
// Vertices in a row that share a batch, for the sake of cache lines.
constexpr Index kBatchRun = 16;
// A stretch has one run of each batch.
constexpr Offset kStretch = Offset{kBatches} * kBatchRun;

constexpr int kMaxRounds = 8;
// The last round is the first that moves at most one in this many vertices. What is left moves on
// the next level, which is smaller.
constexpr Index kSettledShare = 3;

// Below this many vertices, threads wait for each other longer than a batch takes.
constexpr Index kWorthThreads = 1 << 15;

// Up to this many neighbours are compared all with all: no branch is mispredicted.
constexpr Index kFew = 32;
// At most this many neighbours of a longer row are prefetched: more would evict each other.
constexpr Offset kAhead = 64;

class Mover {
 public:
  explicit Mover(const WeightedGraph& graph)
      : graph_(graph),
        group_(graph.vertices),
        volume_(graph.vertices),
        is_due_(graph.vertices),
        has_small_weights_(graph.total <= kMaxIndex) {
    advise_huge_pages(group_.data(), group_.size_bytes());
    advise_huge_pages(volume_.data(), volume_.size_bytes());
#pragma omp parallel for if (graph.vertices > kWorthThreads)
    for (Index v = 0; v < graph.vertices; ++v) {
      group_[v] = v;
      volume_[v] = graph.volume[v];
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
  using Moves = std::vector<std::pair<Index, Index>>;  // vertex, new group

  /// In the first round nearly every vertex moves, so all stay due and none has to be woken.
  Index move_all(bool is_first) {
    const Offset stretches = (Offset{graph_.vertices} + kStretch - 1) / kStretch;
    Index moved = 0;
    TeamErrors errors;
#pragma omp parallel reduction(+ : moved) if (graph_.vertices > kWorthThreads)
    {
      std::optional<GroupSums> sums;
      errors.guard([&] { sums.emplace(graph_.vertices); });
      Moves moves;
      for (Offset batch = 0; batch < kBatches; ++batch) {
        moves.clear();
#pragma omp for schedule(dynamic, 16)
        for (Offset stretch = 0; stretch < stretches; ++stretch) {
          fetch_offsets(run_of(stretch + 3, batch));
          fetch_lists(run_of(stretch + 2, batch));
          fetch_groups(run_of(stretch + 1, batch));
          errors.guard([&] { decide(run_of(stretch, batch), is_first, *sums, moves); });
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
        if (!is_first) wake_neighbours(moves);
#pragma omp barrier
      }
    }
    errors.rethrow();
    return moved;
  }

  /// The first vertex of a stretch's run of a batch. Its place in the stretch is any one, so that
  /// rows of a grid that are as long as stretches are not decided side by side.
  static Offset run_of(Offset stretch, Offset batch) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    const auto turn = static_cast<Offset>((static_cast<std::uint64_t>(stretch) * kGolden) >> 32);
    return stretch * kStretch + (batch + turn) % kBatches * kBatchRun;
  }

  Index end_of_run(Offset begin) const {
    return static_cast<Index>(std::min<Offset>(graph_.vertices, begin + kBatchRun));
  }

  /// Three runs ahead: offsets, volumes and flags of the vertices.
  void fetch_offsets(Offset begin) const {
    if (begin + kBatchRun > graph_.vertices) return;
    const auto v = static_cast<Index>(begin);
    fetch(&graph_.offsets[v]);
    fetch(&graph_.offsets[v + 8]);
    fetch(&graph_.volume[v]);
    fetch(&graph_.volume[v + 8]);
    fetch(&is_due_[v]);
    fetch(&group_[v]);
  }

  /// Two runs ahead: the lists of neighbours.
  void fetch_lists(Offset begin) const {
    if (begin >= graph_.vertices) return;
    const Index end = end_of_run(begin);
    const Index* const first = &graph_.neighbours[graph_.offsets[begin]];
    const Index* const last = &graph_.neighbours[graph_.offsets[end]];
    constexpr Offset kLine = 16;
    for (const Index* at = first; at < std::min(last, first + kBatchRun * kLine); at += kLine) {
      fetch(at);
    }
    fetch(&is_due_[static_cast<Index>(begin)]);
    fetch(&group_[static_cast<Index>(begin)]);
  }

  /// One run ahead: the groups of the neighbours.
  void fetch_groups(Offset begin) const {
    if (begin >= graph_.vertices) return;
    const Index end = end_of_run(begin);
    for (auto v = static_cast<Index>(begin); v < end; ++v) {
      if (is_due_[v] == 0) continue;
      const Offset last = std::min(graph_.offsets[v + 1], graph_.offsets[v] + kAhead);
      for (Offset at = graph_.offsets[v]; at < last; ++at) {
        fetch(&group_[graph_.neighbours[at]]);
      }
      fetch(&volume_[group_[v]]);
    }
  }

  /// A vertex with few neighbours, before it decides.
  struct Few {
    Index v;
    Index count;  // of neighbours
    Index with_own;
    bool knows_run;  // has neighbours in its own run
    Index groups[kFew];
    Index weights[kFew];  // sum over all neighbours in the same group
  };

  /// The run that a thread decides, and where its vertices go: the rest of the batch does not see
  /// that before all of it has decided.
  struct Run {
    Index begin, end;
    Index group[kBatchRun];
    // Each move so far.
    Index moved = 0;
    Index left[kBatchRun], joined[kBatchRun];
    Offset volume[kBatchRun];
    std::bitset<256> touched;  // groups left or joined, by their last digits

    bool has(Index v) const { return v >= begin && v < end; }
  };

  void decide(Offset begin, bool is_first, GroupSums& sums, Moves& moves) {
    if (begin >= graph_.vertices) return;
    Run run{static_cast<Index>(begin), end_of_run(begin), {}, 0, {}, {}, {}, {}};
    for (Index v = run.begin; v < run.end; ++v) run.group[v - run.begin] = group_[v];
    Few few[kBatchRun];
    int fews = 0;
    for (Index v = run.begin; v < run.end; ++v) {
      if (is_due_[v] == 0) continue;
      is_due_[v] = is_first;
      if (has_few(v)) {
        count_groups(v, run, few[fews++]);
      } else {
        move_to(best_of_many(v, run, sums), v, run, moves);
      }
    }
    const Index moved_before = run.moved;
    for (int i = 0; i < fews; ++i) {
      if (few[i].knows_run && run.moved > moved_before) count_groups(few[i].v, run, few[i]);
      move_to(best_of_few(few[i], run), few[i].v, run, moves);
    }
  }

  void move_to(Index best, Index v, Run& run, Moves& moves) const {
    if (best == group_[v]) return;
    moves.emplace_back(v, best);
    run.group[v - run.begin] = best;
    run.left[run.moved] = group_[v];
    run.joined[run.moved] = best;
    run.volume[run.moved++] = graph_.volume[v];
    for (const Index group : {group_[v], best}) run.touched.set(digits_of(group));
  }

  Index group_of(Index v, const Run& run) const {
    return run.has(v) ? run.group[v - run.begin] : group_[v];
  }

  static std::size_t digits_of(Index group) { return static_cast<std::size_t>(group) % 256; }

  double volume_of(Index group, const Run& run) const {
    Offset volume = volume_[group];
    if (!run.touched.test(digits_of(group))) return static_cast<double>(volume);
    for (Index i = 0; i < run.moved; ++i) {
      volume += run.joined[i] == group ? run.volume[i] : 0;
      volume -= run.left[i] == group ? run.volume[i] : 0;
    }
    return static_cast<double>(volume);
  }

  bool has_few(Index v) const {
    return has_small_weights_ && graph_.offsets[v + 1] - graph_.offsets[v] <= kFew;
  }

  /// The best of the groups seen so far, and what moving there gains.
  struct Best {
    Index group;
    double gain;
  };

  void consider(Index group, double weight, double scale, const Run& run, Best& best) const {
    // Volumes lie anywhere in memory; for most groups this test makes reading them unnecessary.
    if (weight <= best.gain) return;
    const double gain = weight - scale * volume_of(group, run);
    if (gain > best.gain) best = {group, gain};
  }

  Best staying(Index v, double weight, double scale, const Run& run) const {
    const Index own = group_[v];
    return {own, weight - scale * (volume_of(own, run) - static_cast<double>(graph_.volume[v]))};
  }

  double scale_of(Index v) const {
    return static_cast<double>(graph_.volume[v]) / static_cast<double>(graph_.total);
  }

  void count_groups(Index v, const Run& run, Few& few) const {
    const Offset begin = graph_.offsets[v];
    few.v = v;
    few.count = static_cast<Index>(graph_.offsets[v + 1] - begin);
    few.knows_run = false;
    for (Index i = 0; i < few.count; ++i) {
      const Index neighbour = graph_.neighbours[begin + i];
      few.knows_run = few.knows_run || run.has(neighbour);
      few.groups[i] = group_of(neighbour, run);
      fetch(&volume_[few.groups[i]]);
    }
    Index room[kFew];
    Index* weight = nullptr;
    if (graph_.weights.size() > 0) {
      weight = room;
      for (Index i = 0; i < few.count; ++i) {
        weight[i] = static_cast<Index>(graph_.weights[begin + i]);
      }
    }
    if (few.count <= 8) {
      sum_equals<8>(few.groups, weight, few.count, few.weights);
    } else if (few.count <= 16) {
      sum_equals<16>(few.groups, weight, few.count, few.weights);
    } else {
      sum_equals<kFew>(few.groups, weight, few.count, few.weights);
    }
    const Index own = group_[v];
    few.with_own = 0;
    for (Index i = 0; i < few.count; ++i) {
      if (few.groups[i] == own) few.with_own = few.weights[i];
    }
  }

  Index best_of_few(const Few& few, const Run& run) const {
    const Index own = group_[few.v];
    const double scale = scale_of(few.v);
    Best best = staying(few.v, few.with_own, scale, run);
    for (Index i = 0; i < few.count; ++i) {
      if (few.groups[i] != own) consider(few.groups[i], few.weights[i], scale, run, best);
    }
    return best.group;
  }

  Index best_of_many(Index v, const Run& run, GroupSums& sums) const {
    const Offset begin = graph_.offsets[v], end = graph_.offsets[v + 1];
    sums.start(end - begin);
    for (Offset at = begin; at < end; ++at) {
      const Index group = group_of(graph_.neighbours[at], run);
      fetch(&volume_[group]);
      sums.add(group, graph_.weight(at));
    }
    const Index own = group_[v];
    const double scale = scale_of(v);
    Best best = staying(v, static_cast<double>(sums.weight_of(own)), scale, run);
    sums.drain([&](Index group, Offset weight) {
      if (group != own) consider(group, static_cast<double>(weight), scale, run, best);
    });
    return best.group;
  }

  /// Neighbours of a vertex that moved decide again.
  void wake_neighbours(const Moves& moves) {
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (i + 2 < moves.size()) {
        fetch(&graph_.neighbours[graph_.offsets[moves[i + 2].first]]);
      }
      if (i + 1 < moves.size()) fetch_around(graph_, group_, moves[i + 1].first);
      const auto [v, to] = moves[i];
      for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
        const Index neighbour = graph_.neighbours[e];
        if (group_[neighbour] == to) continue;
#pragma omp atomic write
        is_due_[neighbour] = 1;
      }
    }
  }

  const WeightedGraph& graph_;
  Buffer<Index> group_;
  Buffer<Offset> volume_;
  Buffer<std::uint8_t> is_due_;
  bool has_small_weights_;  // any sum of weights fits an Index
};

}  // namespace

Buffer<Index> move_to_groups(const WeightedGraph& graph) { return Mover(graph).groups(); }

}  // namespace csrkit::reorder
