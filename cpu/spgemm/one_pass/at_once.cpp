#include "cpu/spgemm/one_pass/at_once.h"

#include <omp.h>

#include <algorithm>

#include "core/base/team_errors.h"

namespace csrkit::cpu {

namespace {

/// Size of a thread's first room, in products. Threads of a small product seldom need another.
constexpr Offset kRoom = 1 << 13;
constexpr Offset kTasksPerThread = 8;
/// Size of a task, in rows plus entries of A: large enough that taking it costs little.
constexpr Offset kSmallestTask = 64;

}  // namespace

bool AtOnce::is_for(Index rows, Offset entries, Offset products, int threads) {
  // Of a thread: more have work enough to be shared out evenly.
  constexpr Offset kMostSteps = 1 << 17, kMostProducts = 1 << 18;
  constexpr Offset kFewestSteps = 1 << 12;
  const Offset steps = rows + entries;
  return threads > 1 && steps >= kFewestSteps && steps <= kMostSteps * threads &&
         products <= kMostProducts * threads;
}

std::uint64_t AtOnce::bytes(Offset products, int threads, int value_bytes) {
  // The unused end of a room is smaller than the run that did not fit.
  const Offset entries = 2 * products + threads * kRoom;
  return static_cast<std::uint64_t>(entries) *
         (sizeof(Index) + static_cast<std::uint64_t>(value_bytes));
}

Offset AtOnce::make(OnePassRows& rows, Index count, const Offset* a_offsets, int threads,
                    const OutputRoom& kept,
                    const std::function<OutputRoom(Offset nnz)>& make_room) {
  const Offset steps = a_offsets[count] - a_offsets[0] + count;
  const Offset tasks = std::clamp<Offset>(steps / kSmallestTask, 1, kTasksPerThread * threads);
  if (!shares_) shares_ = std::make_unique<WorkShares>(threads, 1);
  shares_->deal(tasks);
  sizes_.resize(static_cast<std::size_t>(tasks));
  of_threads_.resize(static_cast<std::size_t>(threads));
  const auto begin_of = [&](Offset task) {
    return task < tasks ? row_at(count, a_offsets, steps * task / tasks) : count;
  };
  Offset nnz = 0;
  int team = 1;  // may be smaller than asked for
  TeamErrors errors;
  const bool looks = rows.begin_at_once();
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    OfThread& mine = of_threads_[static_cast<std::size_t>(thread)];
    if (looks) {
      const int parts = omp_get_num_threads();
      rows.look_at_rows(
          row_at(count, a_offsets, steps * thread / parts),
          thread + 1 < parts ? row_at(count, a_offsets, steps * (thread + 1) / parts) : count);
#pragma omp barrier
    }
    errors.guard([&] {
      mine.begin();
      for (auto run = shares_->next_run(0, thread); run.first < run.last && !errors.has_error();
           run = shares_->next_run(0, thread)) {
        const Index first = begin_of(run.first), last = begin_of(run.last);
        if (looks) rows.look_again(first, last);
        std::fill(sizes_.begin() + run.first, sizes_.begin() + run.last, 0);
        sizes_[static_cast<std::size_t>(run.first)] =
            mine.make(rows, thread, static_cast<std::size_t>(run.first), first, last, kept);
      }
    });
#pragma omp barrier
    if (!errors.has_error()) {
      Offset all = 0;
      for (const Offset size : sizes_) all += size;
      if (thread == 0) {
        nnz = all;
        team = omp_get_num_threads();
      }
      if (all <= kept.entries) place(mine, kept);
    }
  }
  errors.rethrow();
  if (nnz > kept.entries) {
    const OutputRoom room = make_room(nnz);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int thread = 0; thread < team; ++thread) {
      place(of_threads_[static_cast<std::size_t>(thread)], room);
    }
  }
  kept.row_offsets[0] = 0;
  return nnz;
}

void AtOnce::OfThread::begin() {
  // Rooms that the last product did not use were for rows of a thread that was late once.
  rooms.resize(std::min(rooms.size(), room + 1));
  made.clear();
  room = 0;
  used = 0;
}

Offset AtOnce::OfThread::make(OnePassRows& rows, int thread, std::size_t task, Index first,
                              Index last, const OutputRoom& kept) {
  WaitingRoom::Entries& room_of_run = room_for(rows.products(first, last), kept.value_bytes);
  Index* const cols = room_of_run.col_indices.data() + used;
  std::byte* const values = room_of_run.values.data() + used * kept.value_bytes;
  const Offset size = rows.make_rows(thread, first, last, kept.row_nnz + first, cols, values);
  made.push_back({task, first, last, cols, values, size});
  used += size;
  return size;
}

/// A room with so many entries free, from `used` on.
WaitingRoom::Entries& AtOnce::OfThread::room_for(Offset products, int value_bytes) {
  for (; room < rooms.size(); ++room, used = 0) {
    if (used + products <= rooms[room].col_indices.size()) return rooms[room];
  }
  rooms.emplace_back();
  rooms.back().make_room(std::max(products, kRoom), value_bytes);
  return rooms.back();
}

void AtOnce::place(OfThread& mine, const OutputRoom& room) const {
  // Tasks that a thread took from others come after its own, in any order.
  std::sort(mine.made.begin(), mine.made.end(),
            [](const Run& x, const Run& y) { return x.task < y.task; });
  Offset start = 0;
  std::size_t task = 0;
  for (const Run& run : mine.made) {
    for (; task < run.task; ++task) start += sizes_[task];
    put_in_place(room, start, run.first, run.last, run.size, run.col_indices, run.values);
  }
}

}  // namespace csrkit::cpu
